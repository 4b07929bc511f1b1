import {expect, test} from 'vitest';
import {resolveUntil} from '../../src/job/settings/time-limit.ts';

test.each([
  ['later today', '06:00', 'UTC', '2031-05-06T02:00:00Z', '2031-05-06T06:00:00Z'],
  ['tomorrow', '06:00', 'UTC', '2031-05-06T06:00:00Z', '2031-05-07T06:00:00Z'],
  ['over the end of a year', '00:00', 'UTC', '2031-12-31T12:00:00Z', '2032-01-01T00:00:00Z'],
  ['in a zone ahead', '06:00', 'Europe/Berlin', '2031-01-15T02:00:00Z', '2031-01-15T05:00:00Z'],
  ['where it is another day already', '06:00', 'Asia/Tokyo', '2031-01-15T20:00:00Z', '2031-01-15T21:00:00Z'],
  ['in a zone behind', '23:30', 'America/New_York', '2031-01-15T02:00:00Z', '2031-01-15T04:30:00Z'],
  ['of a quarter of an hour', '06:00', 'Asia/Kathmandu', '2031-01-15T00:00:00Z', '2031-01-15T00:15:00Z'],
  ['as summer begins', '06:00', 'Europe/Berlin', '2031-03-29T23:00:00Z', '2031-03-30T04:00:00Z'],
  ['as summer ends', '06:00', 'Europe/Berlin', '2031-10-25T22:00:00Z', '2031-10-26T05:00:00Z'],
  ['in the hour that spring skips', '02:30', 'Europe/Berlin', '2031-03-30T00:30:00Z', '2031-03-30T01:00:00Z'],
  ['at its first minute', '02:00', 'Europe/Berlin', '2031-03-30T00:30:00Z', '2031-03-30T01:00:00Z'],
  ['right after it', '03:00', 'Europe/Berlin', '2031-03-30T00:30:00Z', '2031-03-30T01:00:00Z'],
  ['once that hour is skipped', '02:30', 'Europe/Berlin', '2031-03-30T01:05:00Z', '2031-03-31T00:30:00Z'],
  ['at a skipped midnight', '00:30', 'Asia/Beirut', '2031-03-29T20:00:00Z', '2031-03-29T22:00:00Z'],
  ['by half an hour', '02:15', 'Australia/Lord_Howe', '2031-10-04T10:00:00Z', '2031-10-04T15:30:00Z'],
  ['twice in autumn', '02:30', 'Europe/Berlin', '2031-10-25T23:00:00Z', '2031-10-26T00:30:00Z'],
  ['between both', '02:30', 'Europe/Berlin', '2031-10-26T00:45:00Z', '2031-10-27T01:30:00Z'],
  ['twice, behind', '01:30', 'America/New_York', '2031-11-02T04:00:00Z', '2031-11-02T05:30:00Z'],
])('the next time that clocks show it: %s', (_, time, zone, now, expected) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const found = resolveUntil({minutes: hours * 60 + minutes, zone}, Date.parse(now));
  expect(new Date(found).toISOString()).toBe(new Date(expected).toISOString());
});

test('a length of time counts from the start of the command', () => {
  expect(resolveUntil({afterMs: 7_200_000}, 1_000)).toBe(7_201_000);
});

test("without a zone, this process' own clocks are meant", () => {
  const found = new Date(resolveUntil({minutes: 390}, Date.parse('2031-05-06T02:00:00Z')));
  expect([found.getHours(), found.getMinutes()]).toEqual([6, 30]);
});
