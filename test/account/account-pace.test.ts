import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import {promisify} from 'node:util';
import {describe, expect, test, vi} from 'vitest';
import {AccountPace} from '../../src/account/account-pace.ts';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {busiestWindow} from '../lookup/dispatches.ts';
import {bundle} from '../support/bundle.mjs';
import {newDirectory} from '../support/new-directory.ts';

const perSecond = (count: number) => ({count, perMs: 1_000});

/** Always wants two permits, and is held up between each of them and its call; writes when calls left. */
const LOOP = `
import {setTimeout as sleep} from 'node:timers/promises';
const {AccountPace} = await import(process.argv[2]);
const onTrouble = error => { throw error; };
const pace = new AccountPace({
  directory: process.argv[1], account: 'a', rate: {count: 40, perMs: 1000}, onTrouble, warn: onTrouble,
});
const left = [];
for (; left.length < 26 || left.at(-1) - left[0] < 1800; ) {
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

describe('its file', () => {
  const within = newDirectory();
  const troubles: Error[] = [];
  const open = (
    count = 1,
    place = within(),
    warn: (sentence: string) => void = () => {},
    account = 'https://api.example.com default',
  ) =>
    new AccountPace({
      directory: place,
      account,
      rate: perSecond(count),
      onTrouble: error => troubles.push(error),
      warn,
    });

  test('is shared: two processes never have the same permit, and unused ones come back', async () => {
    using a = Object.assign(open(), {[Symbol.dispose]: () => a.close()});
    const b = open();
    expect([a.take(1).permits, b.take(1).permits]).toEqual([1, 0]);
    // It was not used in time, so it expired.
    await sleep(60);
    let waited = b.take(1);
    expect(waited.waitMs).toBeLessThanOrEqual(1_000);
    // Timers may come a millisecond early.
    await sleep(waited.waitMs + 2);
    waited = b.take(1);
    expect(waited.permits).toBe(1);
    b.use().left();
    b.close();
    expect(a.take(1).permits).toBe(0);
    expect(troubles).toEqual([]);
  });

  test('a fleet has the whole rate until it ends, once the others’ calls are past', async () => {
    const [local, fleet] = [open(2), open(2)];
    local.take(1);
    local.use().left();
    const sentAt = performance.now();
    await fleet.holdAll();
    expect(performance.now() - sentAt).toBeGreaterThan(1_000);
    expect(local.take(1).permits).toBe(0);
    const closedAt = performance.now();
    fleet.close();
    const {permits, waitMs} = local.take(1);
    expect([permits, performance.now() - closedAt + waitMs > 900]).toEqual([0, true]);
    local.close();
  });

  test('a fleet’s hold outlasts a silence after which a process counts as gone', async () => {
    vi.useFakeTimers({toFake: ['hrtime', 'setInterval', 'clearInterval']});
    try {
      const [local, fleet] = [open(1), open(1)];
      await fleet.holdAll();
      // Permits of a process that is gone count as used from the moment at which another process notices.
      for (const ms of [70_000, 1_100]) {
        vi.advanceTimersByTime(ms);
        expect(local.take(1).permits).toBe(0);
      }
      for (const pace of [fleet, local]) pace.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('two processes on a busy machine: in no second more calls leave than the rate, and each has some of it', async () => {
    // Compiled to where it finds the packages that are not bundled.
    const compiled = mkdtempSync(new URL('../../node_modules/.account-pace-', import.meta.url).pathname);
    await bundle(['account/account-pace'], compiled);
    const args = [within(), `${compiled}/account/account-pace.js`];
    const processes = [1, 2].map(() =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOOP, ...args]),
    );
    const ended = await Promise.all(processes).finally(() => rmSync(compiled, {recursive: true}));
    const left = ended.map(({stdout}) => JSON.parse(stdout) as number[]);
    const all = left.flat().sort((a, b) => a - b);
    expect(busiestWindow(all, 1_000)).toBeLessThanOrEqual(40);
    // How much of it is used is granted-permits' to show, by a clock that no other program holds up.
    expect(Math.min(...left.map(({length}) => length))).toBeGreaterThan(25);
  });

  test('a run that gets no permit for ten seconds says so once, and again only after it got some', () => {
    vi.useFakeTimers({toFake: ['hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']});
    try {
      const warnings: string[] = [];
      const waits = open(1, within(), sentence => warnings.push(sentence));
      const holds = open(1);
      /** The other takes every permit, and uses it, for so many seconds. */
      const starved = (seconds: number) => {
        for (let at = 0; at < seconds * 10; at++) {
          if (holds.take(1).permits > 0) holds.use().left();
          waits.take(1);
          vi.advanceTimersByTime(100);
        }
        return warnings.length;
      };
      // The rate's own period comes on top of the ten seconds.
      expect([starved(10), starved(6), starved(20)]).toEqual([0, 1, 1]);
      vi.advanceTimersByTime(2_000);
      expect(waits.take(1).permits).toBe(1);
      waits.use().left();
      expect([starved(8), starved(8)]).toEqual([1, 2]);
      waits.close();
      holds.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['a moment', 300, 0],
    ['minutes', 600_000, 1],
  ])(
    'a machine that was off for %s gives as many permits at its start as that allows',
    (_, awayMs, permits) => {
      const boot = (time: number) => {
        vi.useRealTimers();
        // Its clock begins at 0.
        vi.useFakeTimers({
          now: time,
          toFake: ['Date', 'hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'],
        });
        return open(1);
      };
      try {
        const start = Date.parse('2031-05-06T02:00:00Z');
        const before = boot(start);
        vi.advanceTimersByTime(50_000);
        expect(before.take(1).permits).toBe(1);
        before.use().left();
        before.close();
        const after = boot(start + 50_000 + awayMs);
        expect(after.take(1).permits).toBe(permits);
        after.close();
      } finally {
        vi.useRealTimers();
      }
    },
  );

  test.each([
    ['another user’s process', 'EPERM', 0],
    ['a process that is gone', 'ESRCH', 1],
  ])('a permit of %s: it is held by that alone which may still use it', (_, code, permits) => {
    vi.useFakeTimers({toFake: ['hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']});
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error(code), {code});
    });
    try {
      const [other, own] = [open(1), open(1)];
      expect(other.take(1).permits).toBe(1);
      other.use();
      vi.advanceTimersByTime(5_000);
      // At the latest, it was used just now.
      expect(own.take(1).permits).toBe(0);
      vi.advanceTimersByTime(1_100);
      expect(own.take(1).permits).toBe(permits);
      for (const pace of [own, other]) pace.close();
    } finally {
      kill.mockRestore();
      vi.useRealTimers();
    }
  });

  test('has a rate for each account', () => {
    const accounts = ['default', 'other'].map(account => open(1, within(), undefined, account));
    expect(accounts.map(pace => pace.take(1).permits)).toEqual([1, 1]);
    expect(accounts.map(pace => pace.take(1).permits)).toEqual([0, 0]);
    for (const pace of accounts) pace.close();
  });

  test.each([
    ['was sent counts from when it left', true, 0],
    ['was never sent does not count', false, 1],
  ])('a call that %s', (_, sent, permits) => {
    vi.useFakeTimers({toFake: ['hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']});
    try {
      const [one, other] = [open(1), open(1)];
      expect(one.take(1).permits).toBe(1);
      const call = one.use();
      vi.advanceTimersByTime(900);
      call.over(sent);
      vi.advanceTimersByTime(200);
      expect(other.take(1).permits).toBe(permits);
      for (const pace of [one, other]) pace.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('a call keeps its permit until it leaves, and counts once from then on, also when its process ends', () => {
    vi.useFakeTimers({toFake: ['hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']});
    try {
      const [one, other] = [open(2), open(2)];
      const use = (pace: AccountPace) => {
        expect(pace.take(1).permits).toBe(1);
        return pace.use();
      };
      const first = use(one);
      vi.advanceTimersByTime(600);
      const second = use(one);
      vi.advanceTimersByTime(600);
      expect(other.take(1).permits).toBe(0);
      first.left();
      first.over(true);
      vi.advanceTimersByTime(1_100);
      const third = use(other);
      vi.advanceTimersByTime(600);
      expect(other.take(1).permits).toBe(0);
      third.over(false);
      second.left();
      one.close();
      expect(other.take(1).permits).toBe(1);
      other.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('is told of a call that left while another process had it locked', () => {
    vi.useFakeTimers({toFake: ['hrtime', 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']});
    const db = new Sqlite(within('pace.db'), {synchronous: 'OFF', busyTimeoutMs: 0});
    try {
      const [one, other] = [open(1), open(1)];
      expect(one.take(1).permits).toBe(1);
      const call = one.use();
      vi.advanceTimersByTime(900);
      db.exec('BEGIN EXCLUSIVE');
      call.left();
      expect(one.take(1)).toEqual({permits: 0, waitMs: 5});
      db.exec('ROLLBACK');
      expect(one.take(1).permits).toBe(0);
      vi.advanceTimersByTime(200);
      expect(other.take(1).permits).toBe(0);
      expect(troubles).toEqual([]);
      for (const pace of [one, other]) pace.close();
    } finally {
      vi.useRealTimers();
      db.close();
    }
  });

  test('gives no permit any more once it can not be used, and says so', () => {
    const pace = open();
    pace.close();
    const before = troubles.length;
    expect(pace.take(1).permits).toBe(0);
    expect(troubles.slice(before)).toEqual([expect.objectContaining({code: 'account_pace'})]);
    troubles.length = before;
  });

  test('damaged by a power cut, it begins anew; one that is something else is refused', () => {
    writeFileSync(within('pace.db'), 'SQLite format 3\0'.repeat(400));
    const pace = open();
    expect(pace.take(1).permits).toBe(1);
    pace.close();
    expect(() => open(1, '/dev/null/state')).toThrow(expect.objectContaining({code: 'account_pace'}));
  });
});
