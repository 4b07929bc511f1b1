import {expect, test} from 'vitest';
import type {FleetGate, OpenLimiter} from '../../src/fleet/limits.ts';
import {WorkerPacer} from '../../src/fleet/worker/worker-pacer.ts';

/** Keeps the event loop busy, as other work of a worker does. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test.each([
  {minTimeMs: 14_000, isGivenUp: false},
  {minTimeMs: 20, isGivenUp: true},
])(
  'is a lease that is 60 ms late given up, at $minTimeMs ms apart: $isGivenUp',
  async ({minTimeMs, isGivenUp}) => {
    let requests = 0;
    const limiter = {
      once: (_event: string, scheduled: () => void) => scheduled(),
      schedule: async (work: () => Promise<void>) => {
        requests += 1;
        if (requests === 1) block(60);
        await work();
      },
    };
    const open = (async () => limiter) as unknown as OpenLimiter;
    const gate = {closedMs: async () => 0} as FleetGate;
    await new Promise<number>((lease, closed) => {
      const pace = {permits: 1, minTimeMs};
      const pacer = new WorkerPacer(open, gate, lease, closed);
      pacer.pace(pace);
      pacer.request();
    });
    expect(requests > 1).toBe(isGivenUp);
  },
);
