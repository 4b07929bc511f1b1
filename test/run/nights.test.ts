import {describe, expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {accelerated} from '../support/fast-clock.ts';
import {ips, openStage} from '../support/stage.ts';

const DAY_MS = 86_400_000;
const nightly = {ip: 'ip', force: true, concurrency: 4, maxAge: '30d'};
const inDays = (days: number) => ({now: () => Date.now() + days * DAY_MS});
const rows = (text: string) => text.trimEnd().split('\n').slice(1);
const looked = (ip: object) => ({summary: {lookups: {ip}}});
const down = () => reply.error(503, 'unavailable');

describe('where the service can not be asked any more', () => {
  test('--until is a time of day; calls that outlast the grace period are booked as maybe charged', async () => {
    await using stage = await openStage({list: ips(30)});
    stage.api.setScript(call => (call.call > 10 ? {kind: 'stall', charge: true} : undefined));
    const from = Date.parse('2031-05-06T05:59:45Z') - Date.now();
    const now = () => Date.now() + from;
    const timed = {...nightly, timeout: '1h', until: '06:00 UTC', publishOn: 'deadline'};
    const ended = await accelerated(20, () => stage.run(timed, {now}));
    const books = {credits: {spent: 10, maybe_spent: 4}, lookups: {ip: {answered: 10, skipped: 20}}};
    expect(ended).toMatchObject({code: 3, summary: {reason: 'deadline', ...books}});
    expect(stage.api.ledger.credits).toBe(14);
    expect(ended.warnings.join()).toContain('--until, 2031-05-06T06:00:00.000Z');
  });

  test('--stale uses answers past their age in a published run, and marks them; alone it publishes nothing', async () => {
    await using stage = await openStage({list: ips(20)});
    await stage.run(nightly);
    stage.api.setScript(down);
    const stale = {...nightly, stale: '20d', maxOutage: '0s', publishOn: 'outage'};
    stage.write('list.csv', `${ips(25)}203.0.113.7\n`);
    const ended = await stage.run(stale, inDays(35));
    expect(ended).toMatchObject({
      code: 3,
      summary: {
        reason: 'outage',
        rows: {written: 26, with_errors: 5},
        lookups: {ip: {answered: 21, stale: 21, skipped: 5, deduplicated: 0, from_store: 0}},
        credits: {saved: {store: 0, dedupe: 0, prefilter: 0}},
      },
    });
    expect(ended.warnings.join()).toContain('The run makes no more calls');
    expect(stage.read('out.csv').split('\n')[0]).toContain('ip_status,ip_error,ip_stale,');
    expect(rows(stage.read('out.csv')).filter(row => row.includes(',ok,,true,'))).toHaveLength(21);
    // Not for ever.
    expect(await stage.run(stale, inDays(51))).toMatchObject(looked({stale: 0, skipped: 26}));
    expect((await stage.run({...stale, publishOn: [], restart: true}, inDays(35))).code).toBe(5);
    stage.api.setScript(undefined);
    // It was not taken for an answer of that night.
    const healed = await stage.run({...stale, restart: true}, inDays(35));
    expect(healed).toMatchObject({code: 0, ...looked({answered: 26, stale: 0, from_store: 0})});
    expect(rows(stage.read('out.csv')).filter(row => row.includes(',ok,,false,'))).toHaveLength(26);
  });

  test('an answer past its age stays in the store for as long as --stale may use it', async () => {
    await using stage = await openStage();
    const stale = {...nightly, stale: '20d'};
    stage.write('list.csv', ips(10));
    await stage.run(stale);
    // Two later days agree on the date, so answers that no run can use are deleted.
    stage.write('list.csv', ips(1, 500));
    for (const days of [34, 35]) await stage.run(stale, inDays(days));
    stage.write('list.csv', ips(10));
    const ended = await stage.run({...stale, offline: true}, inDays(35.1));
    expect(ended).toMatchObject(looked({answered: 10, stale: 10}));
  });

  describe('so it is beyond a budget, of which half is kept for values that have no answer yet', () => {
    const beyond = {...nightly, stale: '10d', publishOn: 'budget'};
    const half = {
      code: 3,
      summary: {reason: 'budget', lookups: {ip: {answered: 12, stale: 8, skipped: 1}}, credits: {spent: 4}},
    };

    /** The night after one whose ten answers are past their age now. */
    const openLimited = async (account: string | undefined) => {
      const stage = await openStage({list: ips(10)});
      await stage.run(nightly);
      if (account !== undefined) stage.account('a.yaml', `endpoint: URL\n${account}\n`);
      stage.write('list.csv', ips(13));
      return stage;
    };

    test.each([
      ['of the run', {maxCredits: 4}, undefined],
      ["of the account's day", {}, 'max_credits_per_day: 4'],
      ["of the account's month", {}, 'max_credits_per_month: 4'],
      ['that is the least', {maxCredits: 40}, 'max_credits_per_day: 4\nmax_credits_per_month: 9'],
    ])('%s', async (_, limit, account) => {
      await using stage = await openLimited(account);
      expect(await stage.run({...beyond, ...limit}, inDays(31))).toMatchObject(half);
    });

    test('of the credits that other runs left of the day', async () => {
      await using stage = await openLimited('max_credits_per_day: 20');
      stage.write('list.csv', ips(16, 100));
      await stage.run({...beyond, output: 'other.csv'}, inDays(31));
      stage.write('list.csv', ips(13));
      // A night before has noted what it asked for: new values come first.
      const lookups = {ip: {answered: 13, stale: 9, skipped: 0}};
      const summary = {lookups, credits: {spent: 4}};
      expect(await stage.run(beyond, inDays(31))).toMatchObject({code: 3, summary});
    });

    test.each([
      ['of the run', {maxCredits: 4}, undefined],
      ["of the account's day", {}, 'max_credits_per_day: 4'],
    ])('%s, in all sessions together', async (_, limit, account) => {
      await using stage = await openLimited(account);
      const night = {...beyond, ...limit, concurrency: 1};
      expect(await stage.stopAt(2, night, inDays(31))).toMatchObject({code: 130});
      expect(await stage.run(night, inDays(31))).toMatchObject(half);
    });
  });

  test('--offline needs neither key nor fleet, and sends nothing', async () => {
    await using stage = await openStage({list: ips(10)});
    await stage.run(nightly);
    const {requests} = stage.api.ledger;
    stage.write('list.csv', ips(12));
    const env = {BULK_ENRICH_API_KEY_FILE: '/nowhere', BULK_ENRICH_REDIS_URL: 'redis://192.0.2.1'};
    const ended = await stage.run({...nightly, offline: true}, {env});
    const summary = {reason: 'offline', lookups: {ip: {answered: 10, skipped: 2}}, calls: {total: 0}};
    expect(ended).toMatchObject({code: 3, summary});
    expect(stage.api.ledger.requests).toBe(requests);
    stage.write('list.csv', ips(10));
    expect(await stage.run({...nightly, offline: true}, {env})).toMatchObject({code: 0});
    expect((await stage.run({...nightly, offline: true, store: false})).code).toBe(2);
  });
});
