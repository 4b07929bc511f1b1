/**
 * A limit that the service does not tell: calls a second, or calls in flight. It falls when a share of the last
 * calls was refused, never by a single refusal, and climbs again once nothing is refused.
 *
 * Its clock is the time in which calls could leave. Pauses and idle times say nothing about the service: a limit that
 * counted them would fall with each pause.
 */
export interface LearnedLimit {
  /** The user's own limit, or infinity. */
  ceiling: number;
  limit: number;
  /** Milliseconds in which calls could leave, in all. */
  clockMs: number;
  /** The last calls by their time of sending: since the last fall, and those of a second or {@link LEAST_SAMPLE}. */
  sample: {readonly atMs: number; readonly isRefused: boolean}[];
  /** Time of the next try of a higher limit, by `clockMs`. */
  climbAtMs: number;
  /** Milliseconds after a fall until the first try. */
  climbAfterMs: number;
  /** Factor of the next try. */
  growth: number;
  /** The limit after its last fall; 0 before the first. */
  fell: number;
}

/** Number of calls without which a share says nothing. A limit is found within about so many calls. */
const LEAST_SAMPLE = 25;
/** Share of refused calls from which the limit falls. Fewer are single faults: a busy backend, a lost packet. */
const TOLERATED = 0.15;
/** Milliseconds of the sample, if it has {@link LEAST_SAMPLE} calls then. */
const SAMPLE_MS = 1_000;
/** A limit that was found anew is tried again after 2 s, the same limit ever later: at most after a minute. */
const FIRST_CLIMB_MS = 2_000;
const LAST_CLIMB_MS = 60_000;
const CLIMB_EVERY_MS = 500;
const FIRST_GROWTH = 1.1;
const MOST_GROWTH = 2;
/** A limit without a ceiling counts as gone from here on: one core can't send more calls a second. */
const UNLIMITED_FROM = 20_000;

export function newLearnedLimit(ceiling: number): LearnedLimit {
  const climb = {climbAtMs: 0, climbAfterMs: FIRST_CLIMB_MS, growth: FIRST_GROWTH, fell: 0};
  return {ceiling, limit: ceiling, clockMs: 0, sample: [], ...climb};
}

/** Of the sample, only calls whose answers would have come by now: refusals come faster. */
export interface SampleVerdict {
  readonly shareRefused: number;
  /** True if so many were refused that the limit itself is the reason. */
  readonly isOver: boolean;
  readonly answeredPerSecond: number;
}

export function judgeSample({sample, clockMs}: LearnedLimit, latencyMs: number): SampleVerdict {
  let count = 0;
  let refused = 0;
  let [first, last] = [clockMs, 0];
  for (const {atMs, isRefused} of sample) {
    if (atMs > clockMs - latencyMs) continue;
    count += 1;
    refused += Number(isRefused);
    first = Math.min(first, atMs);
    last = Math.max(last, atMs);
  }
  const share = count === 0 ? 0 : refused / count;
  const answered = ((count - refused) * 1_000) / Math.max(50, last - first);
  return {
    shareRefused: share,
    isOver: count >= LEAST_SAMPLE && share > TOLERATED,
    answeredPerSecond: answered,
  };
}

/** Notes a call that was sent `agoMs` ago, and was answered or refused. */
export function noteCall(learned: LearnedLimit, isRefused: boolean, agoMs: number): void {
  const {sample, clockMs} = learned;
  sample.push({atMs: clockMs - agoMs, isRefused});
  let old = 0;
  while (sample.length - old > LEAST_SAMPLE && (sample[old]?.atMs ?? clockMs) < clockMs - SAMPLE_MS - agoMs)
    old += 1;
  if (old > 0) sample.splice(0, old);
}

/** Lowers the limit, to at least `least`. The new limit is judged by its own calls. */
export function lowerLimit(learned: LearnedLimit, to: number, least: number): void {
  const limit = Math.max(Math.min(least, learned.ceiling), Math.min(learned.limit, to));
  const isSame = limit > learned.fell / 1.5 && limit < learned.fell * 1.5;
  learned.climbAfterMs = isSame ? Math.min(LAST_CLIMB_MS, learned.climbAfterMs * 2) : FIRST_CLIMB_MS;
  learned.fell = limit;
  learned.limit = limit;
  learned.sample = [];
  learned.climbAtMs = learned.clockMs + learned.climbAfterMs;
  learned.growth = FIRST_GROWTH;
}

/** Tries a higher limit if it is time: a little higher at first, then faster and faster while nothing is refused. */
export function climbIfDue(learned: LearnedLimit): void {
  const {limit, ceiling, clockMs} = learned;
  if (limit >= ceiling || clockMs < learned.climbAtMs) return;
  if (judgeSample(learned, 0).shareRefused > TOLERATED / 2) {
    learned.climbAtMs = clockMs + learned.climbAfterMs;
    learned.growth = FIRST_GROWTH;
    return;
  }
  const next = limit * learned.growth;
  learned.limit = next > UNLIMITED_FROM ? ceiling : Math.min(ceiling, next);
  learned.growth = Math.min(MOST_GROWTH, learned.growth * 1.25);
  learned.climbAtMs = clockMs + CLIMB_EVERY_MS;
}
