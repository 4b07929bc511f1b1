import {z} from 'zod';
import {parseDuration, withConversion} from '../setting-types.ts';

/** When a run stops making calls: some time after the command's start (`afterMs`), or at a time of day. */
export type Until = {readonly afterMs: number} | TimeOfDay;

/** A time of day, in minutes from midnight, with its time zone; undefined for the process's own zone. */
export interface TimeOfDay {
  readonly minutes: number;
  readonly zone?: string | undefined;
}

const UNTIL = 'expected a length of time such as 2h, or a time of day such as 06:00 or 06:00 Europe/Berlin';
const BOUNDS = ['100ms', '365d'] as const;

/** `2h`, `06:00` or `06:00 Europe/Berlin`. */
export const untilSetting = withConversion(z.string(UNTIL), UNTIL, (text): Until | Error | undefined => {
  const given = text.trim();
  const [least = 0, afterMs, most = 0] = [BOUNDS[0], given, BOUNDS[1]].map(parseDuration);
  if (afterMs !== undefined && afterMs >= least && afterMs <= most) return {afterMs};
  const [, hours, minutes, zone] = /^([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?$/.exec(given) ?? [];
  const isTime = hours !== undefined;
  if (isTime && (zone === undefined || isZone(zone)))
    return {minutes: Number(hours) * 60 + Number(minutes), zone};
  if (isTime) return new Error(`there is no time zone "${zone}"; ${UNTIL}`);
  return afterMs === undefined
    ? undefined
    : new Error(`expected a length of time from ${BOUNDS.join(' to ')}`);
});

/** The moment at which calls end, for a command that begins `now`; both in milliseconds since the epoch. */
export function resolveUntil(until: Until, now: number): number {
  return 'afterMs' in until ? now + until.afterMs : nextTime(until, now);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', {timeZone: name}) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** The next moment after `now` at which clocks show this: of two in autumn the first; if spring skips it, the jump. */
function nextTime({minutes, zone}: TimeOfDay, now: number): number {
  const wall = now + offsetAt(now, zone);
  const today = wall - (wall % DAY_MS) + minutes * 60_000;
  const at = shownAt(today, zone);
  return at > now ? at : shownAt(today + DAY_MS, zone);
}

/** The first moment at which clocks show the local time `wall` or later. They change at most once in two days. */
function shownAt(wall: number, zone: string | undefined): number {
  let at = wall - Math.max(offsetAt(wall - DAY_MS, zone), offsetAt(wall + DAY_MS, zone));
  while (at + offsetAt(at, zone) < wall) at += 60_000;
  return at;
}

const DAY_MS = 86_400_000;

/** A zone's offset from UTC at a moment, in milliseconds. */
function offsetAt(at: number, zone: string | undefined): number {
  const clock = new Intl.DateTimeFormat('en', {timeZone: zone, timeZoneName: 'longOffset'});
  const name = clock.formatToParts(at).find(({type}) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
