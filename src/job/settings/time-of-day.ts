import {z} from 'zod';

/** A time of day, and the zone that its clocks are in: that of this process where none is said. */
export interface TimeOfDay {
  readonly minutes: number;
  readonly zone?: string | undefined;
}

const TIME_OF_DAY = 'expected a time such as 06:00, or 06:00 Europe/Berlin';

export const timeOfDay = z.string(TIME_OF_DAY).transform((text, context): TimeOfDay => {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?$/.exec(text.trim());
  const zone = match?.[3];
  if (match !== null && (zone === undefined || isZone(zone)))
    return {minutes: Number(match[1]) * 60 + Number(match[2]), ...(zone === undefined ? {} : {zone})};
  context.addIssue(match === null ? TIME_OF_DAY : `there is no time zone "${zone}"; ${TIME_OF_DAY}`);
  return z.NEVER;
});

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', {timeZone: name}) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/**
 * The next moment after `now` at which clocks show this time of day; both in milliseconds since the epoch. A time that clocks
 * skip in spring is the moment at which they jump; one that they show twice in autumn is the first of both.
 */
export function nextTime({minutes, zone}: TimeOfDay, now: number): number {
  const wall = now + offsetAt(now, zone);
  const today = wall - (wall % DAY_MS) + minutes * 60_000;
  const at = momentOf(today, zone);
  return at > now ? at : momentOf(today + DAY_MS, zone);
}

/** The first moment at which clocks show `wall`, or more: by the offsets of the days around, between which one change may be. */
function momentOf(wall: number, zone: string | undefined): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map(at => offsetAt(at, zone));
  const moments = offsets.map(offset => wall - offset);
  const shown = moments.filter(at => at + offsetAt(at, zone) === wall);
  if (shown.length > 0) return Math.min(...shown);
  let before = Math.min(...moments);
  let after = Math.max(...moments);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (middle + offsetAt(middle, zone) < wall) before = middle;
    else after = middle;
  }
  return after;
}

const DAY_MS = 86_400_000;

/** What clocks in a zone show beyond UTC at a moment, in milliseconds. */
function offsetAt(at: number, zone: string | undefined): number {
  const clock = new Intl.DateTimeFormat('en', {timeZone: zone, timeZoneName: 'longOffset'});
  const name = clock.formatToParts(at).find(({type}) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
