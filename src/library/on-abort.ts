import {BulkEnrichError, exitCodes} from '../errors.ts';
import type {Stopper} from '../run/stop.ts';

/**
 * Thrown if the caller's signal ended the run. `cause`: the signal's reason. Paid answers are kept. Exit code 130.
 */
export class AbortError extends BulkEnrichError {
  constructor(signal: AbortSignal) {
    super('aborted', exitCodes.interrupted, 'The run was aborted by its signal.', {cause: signal.reason});
  }
}

/** All functions that one signal calls. They share one listener: Node.js 20 warns of a leak above ten listeners. */
class AbortListeners {
  readonly all = new Set<() => void>();

  handleEvent(): void {
    for (const then of [...this.all]) then();
  }
}

/** The listeners of each signal, for the whole process: a program may use one signal for many calls and runs. */
const waitingFor = new WeakMap<AbortSignal, AbortListeners>();

/** Calls `then` when the signal is aborted, or now if it already is. Returns a function that removes `then`. */
export function onAbort(signal: AbortSignal | undefined, then: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    then();
    return () => {};
  }
  const waiting = waitingFor.get(signal) ?? new AbortListeners();
  waitingFor.set(signal, waiting);
  // Does nothing if the listener is already added.
  signal.addEventListener('abort', waiting);
  waiting.all.add(then);
  return () => {
    waiting.all.delete(then);
    if (waiting.all.size === 0) signal.removeEventListener('abort', waiting);
  };
}

/** Stops `stopper` when the signal is aborted. Returns a function that ends the watch. */
export function stopOnAbort(stopper: Stopper, signal: AbortSignal | undefined): () => void {
  return onAbort(signal, () => {
    if (signal === undefined) return;
    stopper.stop({
      status: 'interrupted',
      reason: 'signal',
      exitCode: exitCodes.interrupted,
      message: 'Interrupted.',
      error: new AbortError(signal),
    });
  });
}
