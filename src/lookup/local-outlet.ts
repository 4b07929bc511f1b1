import type {Sender} from '../client/client.ts';
import type {Outlet} from './outlet.ts';
import {Pacer} from './pace/pacer.ts';

/**
 * Sends values from this process. `now` is the time of answers; `clock` paces calls, and never jumps. Both are in
 * milliseconds since the epoch.
 */
export function localOutlet(client: Sender, now: () => number, clock: () => number): Outlet {
  return {
    async send(operation, params) {
      const attempt = await client.send(operation, params);
      return {boughtAt: now(), ...attempt};
    },
    pacer: (lane, controller, lease) => new Pacer(lane.rate, controller, lease, clock),
  };
}
