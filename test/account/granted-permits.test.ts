import {describe, expect, test} from 'vitest';
import {
  emptySchedule,
  grant,
  type PermitRequest,
  type Schedule,
  shifted,
} from '../../src/account/schedule.ts';
import {seeded} from '../../src/job/seeded.ts';
import {busiestWindow} from '../lookup/dispatches.ts';

const perSecond = (count: number) => ({count, perMs: 1_000});

const ask = (more: Partial<PermitRequest>): PermitRequest => ({
  holder: 'a',
  used: [],
  undecided: 0,
  most: 1,
  rate: perSecond(2),
  now: 10_000,
  isAlive: () => true,
  ...more,
});

/** A window of 10 s, and a permit every 10 s / `count`. */
const inTenSeconds = (count: number) => ({count, perMs: 9_900});

describe('a grant', () => {
  const NOW = 100_000;
  const granted = (before: Partial<Schedule>, more: Partial<PermitRequest> = {}) =>
    grant({...emptySchedule, ...before}, ask({now: NOW, rate: inTenSeconds(10), most: 20, ...more}));

  test.each<[string, Partial<Schedule>, Partial<PermitRequest>, number, number]>([
    ['one, where nothing was sent', {}, {}, 1, 0],
    ['none without a request', {}, {most: 0}, 0, 1],
    ['those of the last 0.1 s, not of longer ago', {}, {rate: inTenSeconds(1_000)}, 11, 0],
    ['as many as are wanted', {}, {rate: inTenSeconds(1_000), most: 3}, 3, 0],
    ['one that is due now', {due: NOW}, {}, 1, 0],
    ['none before one is due', {due: NOW + 900}, {}, 0, 900],
    ['none long before one is due', {due: NOW + 1_500}, {}, 0, 1_500],
    ['after a millisecond at least', {due: NOW + 0.4}, {}, 0, 1],
    ['the window’s last', {sent: [[95_000, 9]]}, {}, 1, 0],
    [
      'none in a full window, until its oldest is past',
      {
        sent: [
          [95_000, 4],
          [96_000, 6],
        ],
      },
      {},
      0,
      5_000,
    ],
    ['none while the other process holds all', {out: {b: {count: 10, since: NOW}}}, {}, 0, 5],
    ['what was sent a window ago is past', {sent: [[90_000, 10]]}, {}, 1, 0],
    [
      'the rest, beside what is sent and held',
      {sent: [[95_000, 500]], out: {b: {count: 493, since: NOW}}},
      {rate: inTenSeconds(1_000)},
      7,
      0,
    ],
    [
      'a rate of a part of a second has a window of one',
      {sent: [[NOW - 1_000, 10]]},
      {rate: {count: 10, perMs: 99}},
      0,
      10.1,
    ],
  ])('%s', (_, before, more, permits, waitMs) => {
    const result = granted(before, more);
    expect(result.permits).toBe(permits);
    expect(result.waitMs).toBeCloseTo(waitMs, 1);
  });

  test('is due from where the last one was', () => {
    expect(granted({}).schedule.due).toBe(NOW - 100 + 1_000);
    expect(granted({due: NOW - 50}).schedule.due).toBe(NOW - 50 + 1_000);
    expect(granted({due: NOW + 50}).schedule.due).toBe(NOW + 50);
    expect(granted({}, {rate: inTenSeconds(1_000), most: 3}).schedule.due).toBe(NOW - 100 + 30);
  });

  test('counts permits that are out together with new ones; a used one is a sent call', () => {
    const before = {sent: [[99_000, 2]] as const, out: {a: {count: 3, since: 1}, b: {count: 1, since: NOW}}};
    const {schedule} = granted(before, {used: [99_500, 99_700], undecided: 1});
    expect(schedule.out).toEqual({a: {count: 2, since: NOW}, b: {count: 1, since: NOW}});
    expect(schedule.sent).toEqual([
      [99_000, 2],
      [99_500, 1],
      [99_700, 1],
    ]);
    expect(granted(before, {most: 0}).schedule.out).toEqual({b: {count: 1, since: NOW}});
  });

  test('sends of one part in 500 of a window are one, at the last one’s time', () => {
    const {schedule} = granted({sent: [[99_990, 2]]}, {used: [100_001, 99_981, 99_979, 99_995]});
    expect(schedule.sent).toEqual([
      [99_979, 1],
      [99_995, 4],
      [100_001, 1],
    ]);
  });

  test.each([
    ['just now, and is gone', 1_000, false, 'held'],
    ['a second ago, and is gone', 1_001, false, 'sent'],
    ['a second ago', 1_001, true, 'held'],
    ['a minute ago', 60_000, true, 'held'],
    ['longer ago', 60_001, true, 'sent'],
  ])('what another holds that was heard of %s', (_, silentMs, isAlive, state) => {
    const b = {count: 2, since: NOW - silentMs};
    const asked: string[] = [];
    const {schedule} = granted({out: {b}}, {most: 0, isAlive: holder => asked.push(holder) > 0 && isAlive});
    expect(schedule).toMatchObject(state === 'held' ? {out: {b}, sent: []} : {out: {}, sent: [[NOW, 2]]});
    expect(asked).toEqual(silentMs > 1_000 && silentMs <= 60_000 ? ['b'] : []);
  });
});

/** Some processes that always want permits, each held up at random between permit, call and saying so. */
function simulated(processes: number, rate: {count: number; perMs: number}, untilMs: number): number[] {
  const random = seeded(7);
  const sent: number[] = [];
  const all = Array.from({length: processes}, (_, n) => ({holder: `p${n}`, out: [] as number[], next: 0}));
  let schedule: Schedule = emptySchedule;
  for (let turn = 0; turn < 100_000; turn++) {
    const asking = all.reduce((first, one) => (one.next < first.next ? one : first));
    const now = asking.next;
    if (now > untilMs) return sent.sort((a, b) => a - b);
    const used = asking.out.filter(at => at <= now);
    asking.out = asking.out.filter(at => at > now);
    const {holder, out} = asking;
    const result = grant(schedule, {...ask({holder, used, now, rate}), undecided: out.length, most: 3});
    schedule = result.schedule;
    for (let n = 0; n < result.permits; n++) asking.out.push(now + random() ** 8 * 400);
    sent.push(...asking.out.slice(-result.permits || out.length));
    asking.next = now + (result.permits > 0 ? random() * 8 : result.waitMs + random() ** 4 * 20);
  }
  throw new Error('time stands still');
}

describe('granted permits', () => {
  test.each([1, 2, 5])(
    'to %i processes: never more than the rate in any window, and nearly all of it',
    processes => {
      for (const rate of [perSecond(20), perSecond(300), {count: 100, perMs: 60_000}]) {
        const untilMs = 6 * Math.max(rate.perMs, 1_000);
        const sent = simulated(processes, rate, untilMs);
        expect(busiestWindow(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
        expect(sent.length / ((rate.count * untilMs) / rate.perMs)).toBeGreaterThan(0.93);
      }
    },
  );

  test('a permit that is out fills the window, until its holder says when it was used, or is gone', () => {
    let {schedule} = grant(emptySchedule, ask({most: 1, rate: perSecond(1)}));
    const other = (now: number, isAlive: boolean) =>
      grant(schedule, ask({holder: 'b', rate: perSecond(1), now, isAlive: () => isAlive}));
    expect(other(14_000, true).permits).toBe(0);
    ({schedule} = other(14_000, false));
    expect(other(14_500, true).permits).toBe(0);
    expect(other(15_020, true).permits).toBe(1);
  });

  test('a permit that was not used goes to another', () => {
    const {schedule} = grant(emptySchedule, ask({most: 2, rate: perSecond(1), now: 10_000}));
    const back = grant(schedule, ask({most: 0, rate: perSecond(1), now: 10_001}));
    expect(back.schedule.out).toEqual({});
    expect(grant(back.schedule, ask({holder: 'b', rate: perSecond(1), now: 11_020})).permits).toBe(1);
  });

  test('the log stays small, whatever the rate', () => {
    const rate = {count: 1_000_000, perMs: 60_000};
    let schedule = emptySchedule;
    for (let now = 1_000; now < 121_000; now += 60) {
      const used = Array.from({length: 30}, (_, n) => now - n / 2);
      ({schedule} = grant(schedule, ask({used, now, rate, most: 30})));
    }
    expect(schedule.sent.length).toBeLessThan(520);
  });

  const before = {due: 90_000, sent: [[89_900, 3]], out: {a: {count: 2, since: 89_950}}} as const;
  const day = 86_400_000;

  test.each([
    ['the time of day tells how long it was off', 2_000, -1_500],
    ['it was off before it ran', 100, 0],
    ['a time of day that is behind says nothing', -day, 0],
    ['nor does one that leaps ahead', 70 * day, 0],
  ])('a restarted machine continues by its new clock: %s', (_, awayMs, last) => {
    const now = 500;
    expect(shifted(before, now, awayMs + 89_950 - now)).toEqual({
      due: last + 50,
      sent: [
        [last - 50, 3],
        [last, 2],
      ],
      out: {},
    });
  });

  test('a permit that was due later than now is due now', () => {
    expect(shifted({...before, due: 99_000}, 500, 89_950).due).toBe(500);
  });
});
