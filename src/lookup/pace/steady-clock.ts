/**
 * A clock in milliseconds since the epoch that starts at `startMs` and never jumps. Setting the computer's clock during
 * a run must neither send too much nor hold the run up.
 */
export function steadyClock(startMs: number, elapsed: () => number = () => performance.now()): () => number {
  const origin = startMs - elapsed();
  return () => origin + elapsed();
}
