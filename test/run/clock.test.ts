import {expect, test, vi} from 'vitest';
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
  await using stage = await openStage({list: ips(5)});
  await stage.run({...settings, concurrency: 1, maxCredits: 2}, inDays(0));
  const {code, summary} = await stage.run(settings, inDays(-3));
  expect([code, summary?.resumed.times]).toEqual([0, 1]);
  expect(summary?.duration_ms).toBe(0);
  expect(summary?.finished_at).toBe(summary?.started_at);
});

test('rules read one time for all rows, that of the start, however late the run is resumed', async () => {
  await using stage = await openStage({list: ips(4)});
  const late = {when: 'now > timestamp("2031-05-06T00:00:00Z")', add: 7, reason: 'late'};
  const judged = {...settings, concurrency: 1, score: {rules: [late]}};
  const on = (day: number) => ({now: () => Date.UTC(2031, 4, day)});
  await stage.run({...judged, maxCredits: 2}, on(5));
  expect(await stage.run(judged, on(7))).toMatchObject({code: 0, summary: {resumed: {times: 1}}});
  expect(stage.read('out.csv')).not.toContain('late');
});

test('a run whose clock is behind uses no answer dated after it, is told once, and makes no answer younger', async () => {
  await using stage = await openStage({list: ips(10)});
  const found = [];
  for (const days of [0, -60, -59.9, 0.1]) {
    const {summary, warnings} = await stage.run(settings, inDays(days));
    found.push([summary?.calls.total, warnings.filter(sentence => sentence.startsWith('The clock')).length]);
  }
  expect(found).toEqual([
    [10, 0],
    [10, 1],
    [0, 0],
    [10, 0],
  ]);
  expect((await stage.run(settings, inDays(31))).summary?.calls.total).toBe(10);
});

test("a run whose clock is far ahead leaves the day's credits counted, and the history as it is", async () => {
  await using stage = await openStage({list: ips(10)});
  stage.account('a.yaml', 'endpoint: URL/\nmax_credits_per_day: 10\n');
  const limited = {...settings, store: false};
  await stage.run(limited);
  expect(await stage.run(limited, inDays(70))).toMatchObject({code: 0, summary: {credits: {spent: 10}}});
  expect(await stage.run(limited)).toMatchObject({code: 7, summary: {calls: {total: 0}}});
  expect(stage.api.ledger.credits).toBe(20);
  expect(stage.history()).toHaveLength(3);
});
