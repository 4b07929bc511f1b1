import {expect, test} from 'vitest';
import {nextTime} from '../../src/job/settings/time-of-day.ts';

test.each([
  ['later today', '06:00', 'UTC', '2031-05-06T02:00:00Z', '2031-05-06T06:00:00Z'],
  ['tomorrow', '06:00', 'UTC', '2031-05-06T06:00:00Z', '2031-05-07T06:00:00Z'],
  ['over the end of a year', '00:00', 'UTC', '2031-12-31T12:00:00Z', '2032-01-01T00:00:00Z'],
  ['in a zone ahead', '06:00', 'Europe/Berlin', '2031-01-15T02:00:00Z', '2031-01-15T05:00:00Z'],
  ['where it is another day already', '06:00', 'Asia/Tokyo', '2031-01-15T20:00:00Z', '2031-01-15T21:00:00Z'],
  ['in a zone behind', '23:30', 'America/New_York', '2031-01-15T02:00:00Z', '2031-01-15T04:30:00Z'],
  ['of a quarter of an hour', '06:00', 'Asia/Kathmandu', '2031-01-15T00:00:00Z', '2031-01-15T00:15:00Z'],
  [
    'over the night in which summer begins',
    '06:00',
    'Europe/Berlin',
    '2031-03-29T23:00:00Z',
    '2031-03-30T04:00:00Z',
  ],
  [
    'over the night in which it ends',
    '06:00',
    'Europe/Berlin',
    '2031-10-25T22:00:00Z',
    '2031-10-26T05:00:00Z',
  ],
])('the next time that clocks show it: %s', (_, time, zone, now, expected) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const found = nextTime({minutes: hours * 60 + minutes, zone}, Date.parse(now));
  expect(new Date(found).toISOString()).toBe(new Date(expected).toISOString());
});

test("without a zone, this process' own clocks are meant", () => {
  const found = new Date(nextTime({minutes: 390}, Date.parse('2031-05-06T02:00:00Z')));
  expect([found.getHours(), found.getMinutes()]).toEqual([6, 30]);
});
