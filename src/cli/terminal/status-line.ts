import type {Pause} from '../../lookup/pace/pause.ts';
import type {Reached} from '../../run/io.ts';
import {count, duration} from './lines.ts';

/** Possible lengths of the bar in characters. The longest that fits is used. */
const CELLS = [20, 10, 5];
const SPEED_OVER_MS = 10_000;

/** Measures the speed of a growing number, over the last 10 seconds. */
export class Speedometer {
  readonly #readings: {readonly at: number; readonly value: number}[] = [];

  /** Records the value, and returns its growth per second over the measured time; 0 at first. */
  read(value: number, now: number): number {
    this.#readings.push({at: now, value});
    while (this.#readings.length > 2 && (this.#readings[1]?.at ?? now) <= now - SPEED_OVER_MS)
      this.#readings.shift();
    const [oldest] = this.#readings;
    if (oldest === undefined || oldest.at === now) return 0;
    return ((value - oldest.value) / (now - oldest.at)) * 1_000;
  }
}

export interface Status {
  readonly now: number;
  /** Rows written or rejected, over all sessions. */
  readonly rows: number;
  /** Total number of rows; estimated during reading, undefined if the input's size is unknown. */
  readonly total: number | undefined;
  /** Values looked up so far (`made`) and at the end (`total`), over all sessions; undefined if not counted. */
  readonly calls: {readonly made: number; readonly total: number} | undefined;
  readonly callsPerSecond: number;
  /** Milliseconds left at the current speed. */
  readonly leftMs: number | undefined;
  readonly credits: number;
  readonly maxCredits: number | undefined;
  readonly pause: Pause | undefined;
  /** Calls per second to which throttling lowered the rate. */
  readonly slowedTo: number | undefined;
  /** True if no call has been in flight for a while: all remaining values have failed, and wait for their next try. */
  readonly idle: boolean;
  /** True if no more rows can be read, since all rows read so far wait for a slow one. */
  readonly windowFull: boolean;
}

/**
 * Estimated milliseconds to the end. Uses the remaining calls and their speed. Uses the remaining rows instead if no
 * calls remain (the store knows all values) or none are being made.
 */
export function timeLeft({
  callsLeft,
  callsPerSecond,
  rowsLeft,
  rowsPerSecond,
}: {
  readonly callsLeft: number | undefined;
  readonly callsPerSecond: number;
  readonly rowsLeft: number | undefined;
  readonly rowsPerSecond: number;
}): number | undefined {
  if (callsLeft !== undefined && callsLeft > 0 && callsPerSecond > 0)
    return (callsLeft / callsPerSecond) * 1_000;
  return rowsLeft === undefined || rowsPerSecond === 0 ? undefined : (rowsLeft / rowsPerSecond) * 1_000;
}

/** Finished share of all calls if they were counted, else of the rows. Below 1 while a row of a known total remains. */
function progressOf({calls, rows, total}: Status): {of: string; share: number} | undefined {
  const isEnd = total === undefined || rows >= total;
  if (calls !== undefined && calls.total > 0)
    return {of: 'calls', share: Math.min(isEnd ? 1 : 0.99, calls.made / calls.total)};
  return total === undefined || total === 0 ? undefined : {of: 'rows', share: Math.min(1, rows / total)};
}

/** One line: progress, speed, time left, cost, and the reason of a standstill. */
export function statusLine(status: Status, width?: number): string {
  const {rows, credits, maxCredits, pause} = status;
  const far = progressOf(status);
  const parts = [
    ...(far === undefined ? [] : [`${Math.floor(far.share * 100)}% of ${far.of}`]),
    `${count(rows)} rows`,
    `${count(credits)}${maxCredits === undefined ? '' : ` of ${count(maxCredits)}`} credits`,
    ...(pause === undefined ? moving(status) : [waiting(pause, status.now)]),
  ];
  return barLine(far?.share, parts, width);
}

/** The line of a long step before the first call or after the last. Shows its rows if its share is unknown. */
export function phaseLine(what: string, {share, rows}: Reached, width?: number): string {
  const far = share === undefined ? [] : [`${Math.floor(Math.min(1, share) * 100)}%`];
  return barLine(share, [...far, what, ...(rows === undefined ? [] : [`${count(rows)} rows`])], width);
}

/**
 * Joins the bar and the parts in a line. In a narrow terminal the bar gets shorter. If no bar fits, the first part
 * loses its words after the share. If still no bar fits, it is left out, and then parts, except the first and the last.
 */
function barLine(share: number | undefined, parts: string[], width = Number.POSITIVE_INFINITY): string {
  const room = () => width - parts.join(' · ').length;
  const bar = () => CELLS.find(count => count < room());
  if (bar() === undefined && share !== undefined) parts[0] = parts[0]?.split(' ')[0] ?? '';
  const cells = bar();
  if (share !== undefined && cells !== undefined) return `${barOf(share, cells)} ${parts.join(' · ')}`;
  while (room() < 0 && parts.length > 2) parts.splice(1, 1);
  return parts.join(' · ').slice(0, width);
}

function barOf(share: number, cells: number): string {
  return '█'.repeat(Math.floor(Math.min(1, share) * cells)).padEnd(cells, '░');
}

function moving({callsPerSecond, leftMs, slowedTo, idle, windowFull}: Status): string[] {
  if (idle) return ['waiting to retry values that got no answer'];
  return [
    `${count(Math.round(callsPerSecond))} calls/s`,
    ...(leftMs === undefined || leftMs <= 0 ? [] : [`about ${duration(Math.max(1_000, leftMs))} left`]),
    ...(slowedTo === undefined ? [] : [`slowed down to ${count(Math.round(slowedTo * 10) / 10)}/s`]),
    ...(windowFull ? ['all rows read wait for one value'] : []),
  ];
}

function waiting({reason, detail, untilMs}: Pause, now: number): string {
  if (reason === 'fleet') return `waiting: ${detail}`;
  const what = {throttled: 'throttled', quota: 'quota used up', outage: 'service down'}[reason];
  return `waiting: ${what} (${detail}), next try in ${duration(Math.max(0, untilMs - now))}`;
}
