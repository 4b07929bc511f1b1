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
  if (signal?.aborted) then();
  if (signal === undefined || signal.aborted) return () => {};
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
