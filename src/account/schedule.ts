import {LONGEST_AWAY_MS} from '../disk/shared-date.ts';
import {type Rate, windowOf} from '../job/values.ts';

/**
 * When the calls of one account were sent, by all processes of a machine, and when the next may be sent. Times are
 * in milliseconds of the machine's monotonic clock, which a change of the time of day does not move.
 */
export interface Schedule {
  /** Earliest time of the next permit: one interval after the last permit was due (GCRA, ITU-T I.371). */
  readonly due: number;
  /** Sent calls, oldest first. */
  readonly sent: readonly SentCalls[];
  /** By holder (a process): granted permits that the holder has not reported as used or expired. */
  readonly out: Readonly<Record<string, PermitsOut>>;
}

export type SentCalls = readonly [at: number, count: number];

export interface PermitsOut {
  readonly count: number;
  readonly since: number;
}

export interface PermitRequest {
  /** Name of the process that asks for permits. */
  readonly holder: string;
  /** Times at which the holder used earlier permits. */
  readonly used: readonly number[];
  /** Number of earlier permits that the holder has neither used nor let expire. */
  readonly undecided: number;
  /** Maximum number of new permits. */
  readonly most: number;
  readonly rate: Rate;
  readonly now: number;
  readonly isAlive: (holder: string) => boolean;
}

/**
 * Share of the rate that is used. Calls may reach the service some milliseconds closer together than they
 * were sent. The unused rest lengthens the window, so the service never sees more than the rate.
 */
const USE = 0.99;
/** A holder that asks late gets only the permits that fell due at most this many milliseconds ago. */
const CATCH_UP_MS = 100;
/**
 * Calls are remembered in steps of this share of the window. All calls of one step are one entry, at the time of
 * the last of them. So there are at most 500 entries.
 */
const GRAIN = 0.002;
/** After this many milliseconds without a request of a holder, {@link PermitRequest.isAlive} checks its process. */
const SILENT_MS = 1_000;
/** Milliseconds without a request after which a holder counts as gone. */
export const GONE_MS = 60_000;
/**
 * Milliseconds to wait if the window is full of granted permits that are not used yet. Their holders may use
 * them at any time, so no exact wait can be computed.
 */
const AGAIN_MS = 5;

export const emptySchedule: Schedule = {due: 0, sent: [], out: {}};

/**
 * Grants the permits that are due and fit into the sliding window that ends now. If it grants none, returns how
 * long to wait, in milliseconds. A granted permit counts as used now until its holder reports when it was used.
 * So a process that is suspended between permit and call can't exceed the rate.
 */
export function grant(
  before: Schedule,
  ask: PermitRequest,
): {schedule: Schedule; permits: number; waitMs: number} {
  const {now, rate, most, holder} = ask;
  const windowMs = windowOf(rate) / USE;
  const spacing = rate.perMs / (rate.count * USE);
  const {sent, out} = settled(before, ask, windowMs);
  const filled = total(sent.map(([, count]) => count)) + total(Object.values(out).map(({count}) => count));
  const room = Math.max(0, rate.count - filled);
  const from = Math.max(before.due, now - CATCH_UP_MS);
  const due = from > now ? 0 : Math.floor((now - from) / spacing) + 1;
  const permits = Math.min(most, room, due);
  const count = permits + (out[holder]?.count ?? 0);
  const schedule = {
    due: permits === 0 ? before.due : from + permits * spacing,
    sent,
    out: count === 0 ? out : {...out, [holder]: {count, since: now}},
  };
  if (permits > 0) return {schedule, permits, waitMs: 0};
  const [oldest] = sent[0] ?? [now + AGAIN_MS - windowMs];
  const fullMs = room > 0 ? 0 : oldest + windowMs - now;
  return {schedule, permits, waitMs: Math.max(1, from - now, fullMs)};
}

/**
 * Applies the requester's report of used permits. Returns the sent calls, and the permits that may still be used.
 * Permits of ended processes count as used now.
 */
function settled(before: Schedule, ask: PermitRequest, windowMs: number) {
  const {holder, used, undecided, now, isAlive} = ask;
  const out: Record<string, PermitsOut> = {};
  const more: SentCalls[] = used.map(at => [at, 1]);
  for (const [name, permits] of Object.entries(before.out)) {
    const silentMs = now - permits.since;
    if (name === holder) continue;
    if (silentMs > GONE_MS || (silentMs > SILENT_MS && !isAlive(name))) more.push([now, permits.count]);
    else out[name] = permits;
  }
  if (undecided > 0) out[holder] = {count: undecided, since: now};
  const sent = more.length === 0 ? before.sent : inOrder([...before.sent, ...more], windowMs * GRAIN);
  return {sent: sent.filter(([at]) => at > now - windowMs), out};
}

/** Sorts calls by time. Calls within one step of a fixed grid become one entry, at the time of the last call. */
function inOrder(all: SentCalls[], grainMs: number): SentCalls[] {
  const merged: SentCalls[] = [];
  for (const [at, count] of all.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && Math.floor(last[0] / grainMs) === Math.floor(at / grainMs))
      merged[merged.length - 1] = [at, last[1] + count];
    else merged.push([at, count]);
  }
  return merged;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Converts a schedule to a clock that began anew when the machine restarted. By the time of day, the old
 * clock would now show `now + shiftMs`, which gives the last call an age. Above {@link LONGEST_AWAY_MS}, the
 * time of day is probably wrong. The call then counts as made at the restart.
 */
export function shifted({due, sent, out}: Schedule, now: number, shiftMs: number): Schedule {
  const permits = Object.values(out);
  const last = Math.max(...sent.map(([time]) => time), ...permits.map(({since}) => since), 0);
  const awayMs = now - last + shiftMs;
  const agoMs = awayMs > LONGEST_AWAY_MS ? now : Math.max(now, awayMs);
  const at = (time: number) => Math.min(now, now - agoMs + time - last);
  return {
    due: at(due),
    sent: [
      ...sent.map(([time, count]): SentCalls => [at(time), count]),
      ...permits.map(({count, since}): SentCalls => [at(since), count]),
    ],
    out: {},
  };
}
