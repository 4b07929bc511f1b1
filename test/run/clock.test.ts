import {join} from 'node:path';
import {describe, expect, test, vi} from 'vitest';
import {RunHistory} from '../../src/ledger/history.ts';
import {StoreAdmin} from '../../src/store/store-admin.ts';
import {ips, openStage} from '../support/stage.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => ({now: () => Date.now() + days * DAY_MS});
const settings = {ip: 'ip', force: true, maxAge: '30d'};

test('a clock that is set back stops neither what is noted meanwhile nor the measure of time', async () => {
  await using stage = await openStage();
  stage.write('in.csv', `ip\n${Array.from({length: 70}, (_, n) => `192.0.2.${n}\n`).join('')}`);
  const names: string[] = [];
  let back = 0;
  const {code, summary} = await stage.run(
    {input: 'in.csv', output: 'out.csv', ip: 'ip', rate: '40/s', score: 'none'},
    {
      now: () => Date.now() - back,
      watch: session => {
        // Once the run is under way: what it measures from has been read by then.
        setTimeout(() => {
          back = 3_600_000;
        }, 300);
        const save = session.asking.ledger.setMeta.bind(session.asking.ledger);
        vi.spyOn(session.asking.ledger, 'setMeta').mockImplementation((name, value) => {
          names.push(name);
          save(name, value);
        });
      },
    },
  );
  expect(code).toBe(0);
  expect(names.filter(name => name === 'stored').length).toBeGreaterThan(1);
  expect(summary?.duration_ms).toBeGreaterThan(0);
  expect(summary?.timeline.ms.length).toBeGreaterThan(1);
});

test('a run that is resumed under a clock that was set back ends no earlier than it began', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
  await stage.run({...settings, concurrency: 1, maxCredits: 2}, inDays(0));
  const {code, summary} = await stage.run(settings, inDays(-3));
  expect([code, summary?.resumed.times]).toEqual([0, 1]);
  expect(summary?.duration_ms).toBe(0);
  expect(summary?.finished_at).toBe(summary?.started_at);
});

test('answers that were bought without the store, under a clock that was ahead, get no younger when a restart stores them', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
  stage.write('other.csv', ips(1, 100));
  await stage.run({...settings, concurrency: 1, maxCredits: 2, store: false}, inDays(20));
  await stage.run({...settings, input: 'other.csv', output: 'other.out.csv'}, inDays(10));
  await stage.run({...settings, restart: true}, inDays(10));
  const {calls} = stage.api.ledger;
  await stage.run({...settings, output: 'again.csv', maxAge: '5d'}, inDays(10));
  // Nothing tells when the first two were bought.
  expect(stage.api.ledger.calls - calls).toBe(2);
});

test('rules read one time for all rows, that of the start, however late the run is resumed', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(4));
  const late = {when: 'now > timestamp("2031-05-06T00:00:00Z")', add: 7, reason: 'late'};
  const judged = {...settings, concurrency: 1, score: {rules: [late]}};
  const on = (day: number) => ({now: () => Date.UTC(2031, 4, day)});
  await stage.run({...judged, maxCredits: 2}, on(5));
  expect(await stage.run(judged, on(7))).toMatchObject({code: 0, summary: {resumed: {times: 1}}});
  expect(stage.read('out.csv')).not.toContain('late');
});

test('a run whose clock is far behind leaves answers their dates: the next run pays for nothing again', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  const calls: (number | undefined)[] = [];
  // After three nights with the right clock, two runs with the wrong one, and then two with the right one again.
  for (const days of [-2, -1, 0, -60, -59.9, 0.1, 0.2])
    calls.push((await stage.run(settings, inDays(days))).summary?.calls.total);
  expect(calls).toEqual([10, 0, 0, 0, 0, 0, 0]);
  // The answers are not younger than they are.
  expect((await stage.run(settings, inDays(28.5))).summary?.calls.total).toBe(10);
});

test('answers of two runs whose clock was ahead on one day are not kept for as long as they are ahead', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  stage.write('other.csv', ips(1, 500));
  for (const days of [-2, -1, 20]) await stage.run({...settings, input: 'other.csv'}, inDays(days));
  const calls: (number | undefined)[] = [];
  for (const days of [20.1, 0, 18])
    calls.push((await stage.run({...settings, maxAge: '15d'}, inDays(days))).summary?.calls.total);
  // Their ages count from the last day on which runs agreed.
  expect(calls).toEqual([10, 0, 10]);
});

describe('a run whose clock is far ahead', () => {
  test('takes nothing from the store: the next run pays for nothing again', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(10));
    stage.write('other.csv', ips(1, 500));
    await stage.run(settings);
    const ahead = await stage.run({...settings, input: 'other.csv'}, inDays(70));
    expect(ahead).toMatchObject({
      code: 0,
      warnings: [expect.stringMatching(/^The clock .* 35 days/)],
    });
    expect(await stage.run(settings, inDays(0.1))).toMatchObject({
      warnings: [],
      summary: {calls: {total: 0}},
    });
  });

  test('replaces no answer by one that is of no use under the right clock', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(10));
    await stage.run(settings);
    for (const days of [70, 70.1])
      expect((await stage.run(settings, inDays(days))).summary?.calls.total).toBe(days === 70 ? 10 : 0);
    expect(await stage.run(settings, inDays(0.1))).toMatchObject({summary: {calls: {total: 0}}});
    // Nor are these new ones when their date has come.
    for (const days of [1, 2]) await stage.run(settings, inDays(days));
    expect(await stage.run(settings, inDays(71))).toMatchObject({summary: {calls: {total: 10}}});
  });

  test("leaves the day's and the month's credits counted", async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(10));
    stage.account('a.yaml', 'endpoint: URL/\nmax_credits_per_day: 10\n');
    const limited = {...settings, store: false};
    await stage.run(limited);
    const ahead = await stage.run(limited, inDays(70));
    expect(ahead).toMatchObject({code: 0, summary: {credits: {spent: 10}}});
    expect(ahead.warnings.filter(sentence => /more than 35 days after/.test(sentence))).toHaveLength(1);
    expect(await stage.run(limited)).toMatchObject({code: 7, summary: {calls: {total: 0}}});
    expect(stage.api.ledger.credits).toBe(20);
  });

  test('leaves the history as it is', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(1));
    for (const days of [0, 400, 0.1]) await stage.run(settings, inDays(days));
    const history = new RunHistory(join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich'));
    expect(history.lines(0)).toHaveLength(3);
    history.close();
  });
});

test('the date is the one on which two runs of different days agreed, and old data goes by it', async () => {
  await using stage = await openStage();
  const stored = () => {
    const store = StoreAdmin.open(join(stage.env.XDG_CACHE_HOME ?? '', 'bulk-enrich'));
    const [ip] = store?.stats() ?? [];
    store?.close();
    return ip?.answers;
  };
  stage.write('list.csv', ips(10));
  await stage.run(settings);
  stage.write('list.csv', ips(1, 500));
  const found = [];
  for (const days of [70, 70.2, 71]) {
    const {warnings} = await stage.run(settings, inDays(days));
    found.push([warnings.length, stored()]);
  }
  expect(found).toEqual([
    [1, 11],
    [1, 11],
    [0, 1],
  ]);
});

test('a clock that is behind is a warning, and its answers are valid under the right clock', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  await stage.run(settings);
  expect(await stage.run(settings, inDays(-2))).toMatchObject({
    warnings: [expect.stringMatching(/^The clock .* earlier/)],
  });
  expect(await stage.run(settings)).toMatchObject({warnings: [], summary: {calls: {total: 0}}});
});
