import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {Call} from '../../../src/lookup/call.ts';
import {Lane} from '../../../src/lookup/lane.ts';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 15);
const WAITING = 64;

/** Times of calls that left within {@link SECONDS}: a lane with this rate, in which calls always wait. */
async function departuresAt(rate: number): Promise<number[]> {
  const times: number[] = [];
  const wait = () => void lane.mayLeave({} as Call, () => lane.wake()).then(() => wait());
  const lane: Lane = new Lane(
    {name: 'all', operations: ['ip'], rate: {count: rate, perMs: 1_000}, concurrency: WAITING},
    true,
    () => performance.now(),
    () =>
      // As the gate does it.
      setImmediate(() => {
        for (const call of [...lane.waiting.keys()].slice(0, lane.takePermits())) {
          times.push(performance.now());
          lane.sent();
          lane.end(call);
        }
        lane.wake();
      }),
  );
  for (let n = 0; n < WAITING; n++) wait();
  await sleep(SECONDS * 1_000);
  lane.stop();
  return times;
}

test.each([1, 20, 100, 500])(
  'of %d calls a second, 98.5% leave, and no sliding second has more',
  async rate => {
    const times = await departuresAt(rate);
    const over = times.filter((time, nth) => time - (times[nth - rate] ?? Number.NEGATIVE_INFINITY) < 1_000);
    expect(over).toEqual([]);
    const [first = 0, last = 0] = [times[0], times.at(-1)];
    expect(((times.length - 1) * 1_000) / (last - first) / rate).toBeGreaterThan(0.985);
  },
  60_000,
);
