import {exitCodes} from '../errors.ts';
import type {Stop, Stopper} from '../run/stop.ts';
import {AbortError} from './on-abort.ts';

/** The reason with which a run stops if its caller takes no more rows. */
export const NOT_WANTED: Stop = {
  status: 'interrupted',
  reason: 'signal',
  exitCode: exitCodes.interrupted,
  message: 'The caller did not want the other rows.',
};

/** True if the caller left the loop or aborted. Such a caller takes nothing more, not even finished rows. */
export function isLeft({reason}: Stopper): boolean {
  return reason === NOT_WANTED || reason?.error instanceof AbortError;
}

/**
 * Makes `return()` and `throw()` of the generator call `leave` at once. By themselves, they wait until the
 * requested row is done, and the run would pay for that row and for all calls made meanwhile.
 */
export function leavable<Rows extends AsyncGenerator<unknown, unknown, unknown>>(
  rows: Rows,
  leave: () => void,
): Rows {
  const end = {return: rows.return.bind(rows), throw: rows.throw.bind(rows)};
  return Object.assign(rows, {
    return(value: unknown) {
      leave();
      return end.return(value);
    },
    throw(error: unknown) {
      leave();
      return end.throw(error);
    },
  });
}
