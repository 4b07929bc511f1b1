import type {Attempt, PaceHeaders} from '../client/attempt.ts';

// Reads the limits that a service reports. Headers may contain anything: unreadable, negative or absurd
// values are ignored.

const SECOND = 1_000;
const DAY = 24 * 3_600 * SECOND;
/** Maximum wait that is believed. No quota counts over a longer time, and the run must be able to show its end. */
const LONGEST_MS = 3_660 * DAY;
/**
 * Numbers from which a "reset" is not a duration but a Unix time: in seconds, or from EPOCH_MILLISECONDS
 * on in milliseconds.
 */
const EPOCH_SECONDS = 1_000_000_000;
const EPOCH_MILLISECONDS = 1_000_000_000_000;

/** Milliseconds that the service asks to wait: `Retry-After`, else until a used-up quota is reset. */
export function requestedWaitMs(
  {pace}: Extract<Attempt, {kind: 'throttled'}>,
  nowMs: number,
): number | undefined {
  const asked = parseRetryAfter(pace, nowMs);
  if (asked !== undefined) return asked;
  const quota = parseQuota(pace, nowMs);
  return quota?.remaining === 0 ? quota.resetMs : undefined;
}

/** `Retry-After` (RFC 9110, 10.2.3) in milliseconds: in any form of {@link waitMs}. */
export function parseRetryAfter(pace: PaceHeaders, nowMs: number): number | undefined {
  const text = pace.retryAfter?.trim();
  return text === undefined ? undefined : waitMs(text, pace, nowMs);
}

/**
 * Milliseconds until an HTTP date (RFC 9110, 5.6.7). NaN for any other text: `Date.parse` alone would take "-5" or
 * "0.5" for a year.
 */
function untilDate(text: string, pace: PaceHeaders, nowMs: number): number {
  if (!/^[A-Za-z]{3,9},? .*:\d\d:\d\d/.test(text)) return Number.NaN;
  // C's asctime form ends in the year and names no zone: it means GMT.
  const wait = Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text) - clockOf(pace, nowMs);
  // A date up to a day ago means no wait. An older date stays negative, so that `sane` ignores it.
  return wait > -DAY ? Math.max(0, wait) : wait;
}

/** The response's own clock if it sent a date, else this machine's (`nowMs`). */
function clockOf({date}: PaceHeaders, nowMs: number): number {
  const clock = Date.parse(date ?? '');
  return Number.isNaN(clock) ? nowMs : clock;
}

function sane(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 && ms <= LONGEST_MS ? ms : undefined;
}

/** A quota as the service reports it. */
export interface Quota {
  readonly remaining: number;
  /** Milliseconds until the service counts from zero again. */
  readonly resetMs: number;
}

/**
 * The tightest quota among `RateLimit` (structured fields: `"default";r=50;t=30`), the older `RateLimit: limit=100,
 * remaining=50, reset=30`, `RateLimit-Remaining` / `-Reset` and `X-RateLimit-*`.
 */
export function parseQuota(pace: PaceHeaders, nowMs: number): Quota | undefined {
  const {limits} = pace;
  // Most services report none: every answer would pay for the search.
  if (Object.keys(limits).length === 0) return undefined;
  const combined = limits.ratelimit ?? '';
  const pairs = [
    ...combined.split(',').map(item => [param(item, 'r'), param(item, 't')]),
    [param(combined, 'remaining'), param(combined, 'reset')],
    ...PREFIXES.map(prefix => [limits[`${prefix}-remaining`], limits[`${prefix}-reset`]]),
  ];
  const found = pairs.flatMap(([remaining = '', reset]) => {
    const resetMs = reset === undefined ? undefined : waitMs(reset, pace, nowMs);
    return resetMs !== undefined && /^\d{1,9}$/.test(remaining)
      ? [{remaining: Number(remaining), resetMs}]
      : [];
  });
  return found.sort((a, b) => a.remaining - b.remaining)[0];
}

const PREFIXES = ['ratelimit', 'x-ratelimit', 'x-rate-limit'];

function param(text: string, name: string): string | undefined {
  return new RegExp(`(?:^|[;,\\s])${name}\\s*=\\s*"?([^;,"\\s]+)`, 'i').exec(text)?.[1];
}

/**
 * Milliseconds to wait. `text`: a number of seconds, a Unix time in seconds or milliseconds, or an HTTP date, compared
 * with the response's own clock. Undefined if {@link sane} refuses the result.
 */
function waitMs(text: string, pace: PaceHeaders, nowMs: number): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(text)) return sane(untilDate(text, pace, nowMs));
  const number = Number(text);
  if (number < EPOCH_SECONDS) return sane(number * SECOND);
  return sane((number < EPOCH_MILLISECONDS ? number * SECOND : number) - clockOf(pace, nowMs));
}
