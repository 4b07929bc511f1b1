import type {Pause} from '../../lookup/call.ts';
import {formatCount, formatDuration} from '../../report/format.ts';
import type {PhaseProgress} from '../../run/io.ts';

/** Possible lengths of the bar in characters. The longest that fits is used. */
const CELLS = [20, 10, 5];
const SPEED_OVER_MS = 10_000;

/** Measures how fast a growing number has grown in the last 10 seconds. */
export class Speedometer {
  readonly #readings: {readonly at: number; readonly value: number}[] = [];

  /** Records the value at `now` (ms), and returns its growth per second; 0 for the first value. */
  read(value: number, now: number): number {
    this.#readings.push({at: now, value});
    while (this.#readings.length > 2 && (this.#readings[1]?.at ?? now) <= now - SPEED_OVER_MS)
      this.#readings.shift();
    const {at = now, value: before = value} = this.#readings[0] ?? {};
    return at === now ? 0 : ((value - before) / (now - at)) * 1_000;
  }
}

export interface ProgressFigures {
  readonly now: number;
  /** Rows written or rejected in this session, which begins at the first row. */
  readonly rows: number;
  /** Total number of rows; estimated during reading, undefined if the input's size is unknown. */
  readonly total: number | undefined;
  /** Values that this session has looked up, and has to look up (`total`); undefined if `total` was not counted. */
  readonly calls: {readonly made: number; readonly total: number} | undefined;
  readonly callsPerSecond: number;
  /** Milliseconds left at the current speed. */
  readonly leftMs: number | undefined;
  readonly credits: number;
  readonly maxCredits: number | undefined;
  readonly pause: Pause | undefined;
  /** Calls per second to which throttling lowered the rate. */
  readonly slowedTo: number | undefined;
  /** True if no call has been made for a while: all values left have failed, and wait for their next try. */
  readonly idle: boolean;
  /** True if the run reads no more rows for now: it holds its maximum of rows, which wait for a slow value. */
  readonly windowFull: boolean;
}

/** A number that is left to do, and how much of it is done in a second. */
interface Left {
  readonly left: number | undefined;
  readonly perSecond: number;
}

/**
 * Estimated milliseconds to the end, from the calls left and their speed. If no calls are left (the store knows
 * all values) or no calls are being made, the rows left and their speed count instead.
 */
export function estimateTimeLeft(calls: Left, rows: Left): number | undefined {
  const {left, perSecond} = (calls.left ?? 0) > 0 && calls.perSecond > 0 ? calls : rows;
  return left === undefined || perSecond === 0 ? undefined : (left / perSecond) * 1_000;
}

/** One line: progress, cost, speed and time left, or the reason why no calls are made. */
export function formatStatus(status: ProgressFigures, width?: number): string {
  const {calls, rows, total, credits, maxCredits, pause} = status;
  // Below 1 as long as rows are known to remain.
  const most = total === undefined || rows >= total ? 1 : 0.99;
  const [share, of] =
    calls !== undefined && calls.total > 0
      ? [Math.min(most, calls.made / calls.total), 'calls']
      : [total ? Math.min(1, rows / total) : undefined, 'rows'];
  const parts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}% of ${of}`]),
    `${formatCount(rows)} rows`,
    `${formatCount(credits)}${maxCredits === undefined ? '' : ` of ${formatCount(maxCredits)}`} credits`,
    ...(pause === undefined ? moving(status) : [waiting(pause, status.now)]),
  ];
  return barLine(share, parts, width);
}

/**
 * The line of a long step before the first call or after the last: its finished share and rows, as far as known.
 */
export function formatPhase(what: string, {share, rows}: PhaseProgress, width?: number): string {
  const far = share === undefined ? [] : [`${Math.floor(Math.min(1, share) * 100)}%`];
  return barLine(share, [...far, what, ...(rows === undefined ? [] : [`${formatCount(rows)} rows`])], width);
}

/**
 * Joins the bar and the parts in a line of at most `width` characters. In a narrow terminal the bar gets shorter.
 * If no bar fits, the first part is cut to its share: `45% of calls` becomes `45%`. If still no bar fits, the line
 * has no bar, and parts between the first and the last are left out until it fits.
 */
function barLine(share: number | undefined, parts: string[], width = Number.POSITIVE_INFINITY): string {
  const room = () => width - parts.join(' · ').length;
  const bar = () => CELLS.find(count => count < room());
  if (bar() === undefined && share !== undefined) parts[0] = parts[0]?.split(' ')[0] ?? '';
  const cells = bar();
  if (share !== undefined && cells !== undefined) {
    const full = '█'.repeat(Math.floor(Math.min(1, share) * cells));
    return `${full.padEnd(cells, '░')} ${parts.join(' · ')}`;
  }
  while (room() < 0 && parts.length > 2) parts.splice(1, 1);
  return parts.join(' · ').slice(0, width);
}

function moving({callsPerSecond, leftMs = 0, slowedTo, idle, windowFull}: ProgressFigures): string[] {
  if (idle) return ['waiting to retry values that got no answer'];
  return [
    `${formatCount(Math.round(callsPerSecond))} calls/s`,
    ...(leftMs > 0 ? [`about ${formatDuration(Math.max(1_000, leftMs))} left`] : []),
    ...(slowedTo === undefined ? [] : [`slowed down to ${formatCount(Math.round(slowedTo * 10) / 10)}/s`]),
    ...(windowFull ? ['all rows read wait for one value'] : []),
  ];
}

const PAUSES = {throttled: 'throttled', quota: 'quota used up', outage: 'service down'};

function waiting({reason, detail, untilMs}: Pause, now: number): string {
  if (reason === 'fleet') return `waiting: ${detail}`;
  return `waiting: ${PAUSES[reason]} (${detail}), next try in ${formatDuration(Math.max(0, untilMs - now))}`;
}
