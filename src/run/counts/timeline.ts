import {latencyPercentile, type Tally, totalOf} from '../../ledger/run/tally.ts';

/** Counts of one stretch of the run. */
export interface TimelinePoint {
  /** Length of the stretch, in milliseconds. */
  readonly ms: number;
  readonly calls: number;
  readonly rows: number;
  /** Latency in milliseconds (median, 95th percentile); null if no call ended. */
  readonly p50: number | null;
  readonly p95: number | null;
  /** Average calls in flight. */
  readonly inFlight: number;
}

/** Counts at one moment of a run. */
interface BooksReading {
  readonly tally: Tally;
  readonly rows: number;
  /** Milliseconds that calls were in flight, summed over all calls of the session. */
  readonly inFlightMs: number;
}

/** Milliseconds that each point covers at first, before any are merged. */
const FIRST_MS = 1_000;
/** Maximum number of points. When it is exceeded, neighbours are merged in pairs. */
const MOST_POINTS = 240;
/** Minimum milliseconds that a session's last point covers: the rate of a shorter time says nothing. */
const SHORTEST_MS = 50;

/** Pace and latency over a session, in points. In a longer session, each point covers more time. */
export class Timeline {
  #points: TimelinePoint[] = [];
  #everyMs = FIRST_MS;
  #last: ReturnType<typeof mark>;

  constructor(now: number, reading: BooksReading) {
    this.#last = mark(now, reading);
  }

  get points(): readonly TimelinePoint[] {
    return this.#points;
  }

  /** Adds a point if enough time has passed since the last one. The last point of a session may be shorter. */
  sample(now: number, reading: BooksReading, isLast = false): void {
    const last = this.#last;
    const ms = Math.round(now - last.at);
    if (ms < (isLast ? SHORTEST_MS : this.#everyMs)) return;
    const {tally} = reading;
    const during = {...tally, latency: difference(tally.latency, last.latency)};
    this.#last = mark(now, reading);
    this.#points.push({
      ms,
      calls: this.#last.calls - last.calls,
      // A run that reads its input again begins to count rows anew.
      rows: Math.max(0, reading.rows - last.rows),
      p50: latencyPercentile(during, 0.5),
      p95: latencyPercentile(during, 0.95),
      inFlight: Math.round((reading.inFlightMs - last.inFlightMs) / ms),
    });
    if (this.#points.length > MOST_POINTS) this.#thin();
  }

  #thin(): void {
    const pairs = this.#points;
    this.#points = [];
    for (let index = 0; index < pairs.length; index += 2) {
      const [a, b] = [pairs[index] as TimelinePoint, pairs[index + 1]];
      this.#points.push(b === undefined ? a : merged(a, b));
    }
    this.#everyMs *= 2;
  }
}

function mark(at: number, {tally, rows, inFlightMs}: BooksReading) {
  return {at, calls: totalOf(tally, 'calls'), rows, inFlightMs, latency: {...tally.latency}};
}

function difference(now: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const grown = Object.entries(now).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

function merged(a: TimelinePoint, b: TimelinePoint): TimelinePoint {
  return {
    ms: a.ms + b.ms,
    calls: a.calls + b.calls,
    rows: a.rows + b.rows,
    p50: weighted(a, b),
    p95: a.p95 === null || b.p95 === null ? (a.p95 ?? b.p95) : Math.max(a.p95, b.p95),
    inFlight: Math.round((a.inFlight * a.ms + b.inFlight * b.ms) / (a.ms + b.ms)),
  };
}

/** Merges two points' medians, weighted by their calls: close enough for a chart. */
function weighted(a: TimelinePoint, b: TimelinePoint): number | null {
  if (a.p50 === null || b.p50 === null) return a.p50 ?? b.p50;
  const calls = Math.max(1, a.calls + b.calls);
  return Math.round((a.p50 * a.calls + b.p50 * b.calls) / calls);
}

/** The summary's `timeline`: one list per figure. The n-th entries of all lists belong together. */
export function timelineSummary(points: readonly TimelinePoint[]) {
  return {
    ms: points.map(point => point.ms),
    calls: points.map(point => point.calls),
    rows: points.map(point => point.rows),
    latency_p50_ms: points.map(point => point.p50),
    latency_p95_ms: points.map(point => point.p95),
    in_flight: points.map(point => point.inFlight),
  };
}
