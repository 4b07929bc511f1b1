/**
 * Returns a clock in milliseconds since the epoch that starts at `startMs` and never jumps. If the
 * computer's clock is set during a run, the run must neither send too many calls nor stand still.
 */
export function createSteadyClock(
  startMs: number,
  elapsed: () => number = () => performance.now(),
): () => number {
  const origin = startMs - elapsed();
  return () => origin + elapsed();
}
