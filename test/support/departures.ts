/**
 * When calls left, by the clock of those that made them: on the way to the service a busy machine brings some together.
 * From logs at `trace`, to a millisecond, and with the way to a connection in it.
 */
export function departures(log: string): number[] {
  const calls = log.split('\n').filter(line => line.includes('"msg":"call"'));
  return calls.map(line => JSON.parse(line)).map(({time, ms}) => time - ms);
}

/** Calls that left in the busiest second, by these logs together. */
export function busiestSecond(logs: readonly string[]): number {
  const times = logs.flatMap(departures).sort((a, b) => a - b);
  return times.length === 0 ? Number.NaN : busiestWindow(times, 1_000);
}

function busiestWindow(times: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] ?? time) <= time - windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
