import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {promisify} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {seeded} from '../../src/job/seeded.ts';
import {type Ask, emptySchedule, grant, type Schedule, shifted} from '../../src/ledger/account/schedule.ts';
import {SharedPace} from '../../src/ledger/account/shared-pace.ts';
import {busiestWindow} from '../lookup/dispatches.ts';

const perSecond = (count: number) => ({count, perMs: 1_000});

/** Always wants two permits, and is held up between each of them and its call; writes when calls left. */
const LOOP = `
import {setTimeout as sleep} from 'node:timers/promises';
import {SharedPace} from '${new URL('../../dist/ledger/account/shared-pace.js', import.meta.url)}';
const onTrouble = error => { throw error; };
const pace = new SharedPace({
  directory: process.argv[1], account: 'a', rate: {count: 40, perMs: 1000}, onTrouble, warn: onTrouble,
});
const left = [];
for (; left.length === 0 || left.at(-1) - left[0] < 1800; ) {
  const {permits, waitMs} = pace.take(2);
  for (const use of Array.from({length: permits}, () => pace.use())) {
    await sleep(Math.random() ** 4 * 60);
    left.push(Number(process.hrtime.bigint()) / 1e6);
    use.left();
  }
  await sleep(waitMs);
}
pace.close();
console.log(JSON.stringify(left));
`;

const ask = (more: Partial<Ask>): Ask => ({
  holder: 'a',
  used: [],
  undecided: 0,
  most: 1,
  rate: perSecond(2),
  now: 10_000,
  isAlive: () => true,
  ...more,
});

/** Some processes that always want permits, each held up at random between permit, call and saying so. */
function simulated(processes: number, rate: {count: number; perMs: number}, untilMs: number): number[] {
  const random = seeded(7);
  const sent: number[] = [];
  const all = Array.from({length: processes}, (_, n) => ({holder: `p${n}`, out: [] as number[], next: 0}));
  let schedule: Schedule = emptySchedule;
  for (;;) {
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
}

describe('what is granted', () => {
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
    expect(back.schedule.held).toEqual({});
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

  test('a machine that was started again goes on by its new clock', () => {
    const schedule = {due: 90_000, sent: [[89_900, 3]], held: {a: {count: 2, since: 89_950}}} as const;
    expect(shifted(schedule, 500, 89_500)).toEqual({
      due: 500,
      sent: [
        [400, 3],
        [450, 2],
      ],
      held: {},
    });
  });
});

describe('its file', () => {
  let directory: string;
  const troubles: Error[] = [];
  const open = (count = 1, place = directory) =>
    new SharedPace({
      directory: place,
      account: 'https://api.example.com default',
      rate: perSecond(count),
      onTrouble: error => troubles.push(error),
      warn: () => {},
    });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-pace-'));
  });
  afterEach(() => rmSync(directory, {recursive: true, force: true}));

  test('is shared: what one has, the other has not; what it did not use comes back', async () => {
    using a = Object.assign(open(), {[Symbol.dispose]: () => a.close()});
    const b = open();
    expect([a.take(1).permits, b.take(1).permits]).toEqual([1, 0]);
    // Not used in that moment, so it is nobody's.
    await sleep(60);
    let waited = b.take(1);
    expect(waited.waitMs).toBeLessThanOrEqual(1_000);
    await sleep(waited.waitMs);
    waited = b.take(1);
    expect(waited.permits).toBe(1);
    b.use().left();
    b.close();
    expect(a.take(1).permits).toBe(0);
    expect(troubles).toEqual([]);
  });

  test('a fleet has all of it, once what others sent is past, until it ends', async () => {
    const [local, fleet] = [open(2), open(2)];
    local.take(1);
    local.use().left();
    const sentAt = performance.now();
    await fleet.holdAll();
    expect(performance.now() - sentAt).toBeGreaterThan(1_000);
    expect(local.take(1).permits).toBe(0);
    fleet.close();
    const {permits, waitMs} = local.take(1);
    expect([permits, waitMs > 900]).toEqual([0, true]);
    local.close();
  });

  test('two processes on a busy machine: in no second more calls leave than the rate, and most of it is used', async () => {
    const processes = [1, 2].map(() =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOOP, directory]),
    );
    const left = (await Promise.all(processes)).map(({stdout}) => JSON.parse(stdout) as number[]);
    const all = left.flat().sort((a, b) => a - b);
    expect(busiestWindow(all, 1_000)).toBeLessThanOrEqual(40);
    // Each had some of it, and together they had more than one second's.
    expect(Math.min(...left.map(({length}) => length))).toBeGreaterThan(5);
    expect(all.length).toBeGreaterThan(50);
  });

  test('damaged by a power cut, it begins anew; one that is something else is refused', () => {
    writeFileSync(join(directory, 'pace.db'), 'SQLite format 3\0'.repeat(400));
    const pace = open();
    expect(pace.take(1).permits).toBe(1);
    pace.close();
    expect(() => open(1, '/dev/null/state')).toThrow(/pace\.db, which can't be used .*take the rate out/);
  });
});
