import {latencyPercentile, type Tally, totalOverOperations} from '../../ledger/run/tally.ts';
import type {TimelineSummary} from '../../report/summary.ts';

interface BooksReading {
  readonly tally: Tally;
  readonly rows: number;
  /** Milliseconds that calls were in flight, summed over all calls. */
  readonly inFlightMs: number;
}

/** A reading to keep. `read`: the session's rows since it last began to read its input. */
type Mark = ReturnType<typeof markOf>;

function markOf(at: number, {tally, rows: read, inFlightMs}: BooksReading, rows: number) {
  const copy = {...tally, latency: {...tally.latency}};
  return {at, calls: totalOverOperations(tally, 'calls'), rows, read, inFlightMs, tally: copy};
}

/** Milliseconds between two marks at first, before any are dropped. */
const FIRST_MS = 1_000;
/** Maximum number of stretches between marks. When it is exceeded, every other mark is dropped. */
const MOST_STRETCHES = 240;
/** Minimum milliseconds of a session's last stretch: the rate of a shorter time says nothing. */
const SHORTEST_MS = 50;

/** Pace and latency over a session, in stretches. In a longer session, each covers more time. */
export class Timeline {
  #marks: Mark[];
  #everyMs = FIRST_MS;

  constructor(now: number, reading: BooksReading) {
    this.#marks = [markOf(now, reading, reading.rows)];
  }

  /** Ends a stretch if enough time has passed. The last one of a session may be shorter. */
  sample(now: number, reading: BooksReading, isLast = false): void {
    const last = this.#marks.at(-1) as Mark;
    if (Math.round(now - last.at) < (isLast ? SHORTEST_MS : this.#everyMs)) return;
    // A run that reads its input again begins to count rows anew.
    this.#marks.push(markOf(now, reading, last.rows + Math.max(0, reading.rows - last.read)));
    const end = this.#marks.length - 1;
    if (end <= MOST_STRETCHES) return;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0 || index === end);
    this.#everyMs *= 2;
  }

  /** The summary's `timeline`: one list per figure. The n-th entries of all lists belong together. */
  get summary(): TimelineSummary {
    const stretches = this.#marks.slice(1).map((mark, index) => [this.#marks[index] as Mark, mark] as const);
    const listOf = <Value>(of: (from: Mark, to: Mark) => Value) =>
      stretches.map(([from, to]) => of(from, to));
    const length = (from: Mark, to: Mark) => Math.round(to.at - from.at);
    const percentile =
      (share: number) =>
      (from: Mark, {tally}: Mark) => {
        const before = from.tally.latency;
        const calls = Object.entries(tally.latency).map(([ms, count]) => [ms, count - (before[ms] ?? 0)]);
        return latencyPercentile({...tally, latency: Object.fromEntries(calls)}, share);
      };
    return {
      ms: listOf(length),
      calls: listOf((from, to) => to.calls - from.calls),
      rows: listOf((from, to) => to.rows - from.rows),
      latency_p50_ms: listOf(percentile(0.5)),
      latency_p95_ms: listOf(percentile(0.95)),
      in_flight: listOf((from, to) => Math.round((to.inFlightMs - from.inFlightMs) / length(from, to))),
    };
  }
}
