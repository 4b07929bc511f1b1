import type {Sender} from '../client/client.ts';
import type {Outlet, SharedPermits} from './outlet.ts';
import {Pacer} from './pace/pacer.ts';

/**
 * Sends values from this process. `now` is the time of answers; `clock` paces calls, and never jumps. Both are in
 * milliseconds since the epoch.
 */
export function localOutlet(
  client: Sender,
  now: () => number,
  clock: () => number,
  shared?: SharedPermits,
): Outlet {
  return {
    async send(operation, params) {
      const use = shared?.use();
      const attempt = await client.send(operation, params, use?.left);
      use?.over(attempt.kind !== 'not_sent');
      return {boughtAt: now(), ...attempt};
    },
    rate: shared?.rate,
    pacer: (lane, controller, lease) => new Pacer(lane.rate, controller, lease, clock, shared),
  };
}
