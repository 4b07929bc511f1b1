import type {Client} from '../client/client.ts';
import type {Outlet} from './outlet.ts';
import {Pacer} from './pace/pacer.ts';

/**
 * Values leave as calls of this process, which may begin so many milliseconds later where other threads make them. `now`
 * is in milliseconds since the epoch.
 */
export function localOutlet(
  client: Pick<Client, 'send'>,
  now: () => number,
  lagMs: () => number = () => 0,
): Outlet {
  return {
    send: (operation, params) => client.send(operation, params),
    pacer: (lane, controller, lease) => new Pacer(lane.rate, controller, lease, now, lagMs),
  };
}
