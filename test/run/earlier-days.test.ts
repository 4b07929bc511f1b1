import {existsSync, readdirSync, readFileSync, renameSync, rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const settings = {ip: 'ip'};
const dated = {...settings, input: 'in-{date}.csv', output: 'out-{date}.csv'};
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** Stops the run at its fifth call. */
async function cutOff(stage: Stage, raw: Record<string, unknown>): Promise<void> {
  expect((await stage.stopAt(5, {...settings, concurrency: 2, ...raw})).code).toBe(130);
}

/** Days that were cut off, on which the service then ends all runs alike; tonight's list is done. */
async function openDays(stage: Stage, days: readonly number[]) {
  for (const ago of [...days, 0]) stage.write(`in-${day(ago)}.csv`, ips(ago === 0 ? 6 : 9, 10 * ago));
  const daily = {...dated, metrics: stage.path('m.prom')};
  for (const ago of days) await cutOff(stage, {...daily, date: day(ago)});
  const read = (name: string) =>
    Number(RegExp(`^${name}\\{.*\\} (\\d+)$`, 'm').exec(stage.read('m.prom'))?.[1]);
  const metric = () => read('bulk_enrich_unfinished_days');
  return {daily, metric, complete: () => read('bulk_enrich_last_run_complete')};
}

test('an earlier day that stays unfinished is exit 3 in summary and metrics, until it is done', async () => {
  await using stage = await openStage();
  const {daily, metric, complete} = await openDays(stage, [1]);
  const list = stage.read(`in-${day(1)}.csv`);
  rmSync(stage.path(`in-${day(1)}.csv`));
  const told = {reason: 'unfinished_days', exit_code: 3, status: 'completed', unfinished_days: [day(1)]};
  const night = await stage.run(daily);
  expect(night).toMatchObject({code: 3, summary: {...told, rows: {written: 6}}});
  expect(night.message).toContain(`Unfinished earlier days: ${day(1)}.`);
  expect([metric(), complete()]).toEqual([1, 0]);
  // The same command again, and a day that the user has chosen: the metric stays, the exit code is of that day.
  expect(await stage.run(daily)).toMatchObject({code: 3, found: 'complete', summary: told});
  stage.write(`in-${day(3)}.csv`, ips(2));
  const chosen = await stage.run({...daily, date: day(3)});
  expect(chosen).toMatchObject({code: 0, summary: {unfinished_days: [day(1)]}});
  expect([metric(), complete()]).toEqual([1, 1]);
  // A run that can't begin does not look.
  expect((await stage.run({...daily, force: true, summary: stage.path('none/s.json')})).code).toBe(2);
  expect(metric()).toBe(1);
  stage.write(`in-${day(1)}.csv`, list);
  const summary = {reason: 'done', exit_code: 0, unfinished_days: []};
  expect(await stage.run(daily)).toMatchObject({code: 0, found: 'complete', summary});
  expect([metric(), complete()]).toEqual([0, 1]);
  expect(stage.history().map(({exit_code}) => exit_code)).toEqual([0, 0, 0]);
});

test('a day is tried for seven days, and named once as given up', async () => {
  await using stage = await openStage();
  const {daily, metric} = await openDays(stage, [7, 8]);
  for (const ago of [7, 8]) rmSync(stage.path(`in-${day(ago)}.csv`));
  const first = await stage.run(daily);
  expect([first.code, metric(), first.summary?.unfinished_days]).toEqual([3, 1, [day(7)]]);
  expect(first.warnings.filter(text => text.includes(day(8)))).toEqual([
    expect.stringMatching(`${day(8)} is given up.*--date ${day(8)}`),
  ]);
  expect((await stage.run(daily)).warnings.join('\n')).not.toContain(day(8));
  stage.write(`in-${day(8)}.csv`, ips(6, 80));
  expect((await stage.run({...daily, date: day(8)})).code).toBe(0);
  expect(existsSync(stage.path(`out-${day(8)}.csv.run`))).toBe(false);
});

test.each([
  ['an outage', () => reply.unavailable(3_600), 5, {}],
  ['an outage that publishes', () => reply.unavailable(3_600), 5, {publishOn: ['outage']}],
  ['a refused key', () => reply.unauthorized(), 6, {}],
  ['a lack of credits', () => reply.noCredits(), 7, {}],
] as const)(
  'after %s of one day, the others are not tried, and tonight is next',
  async (_, end, code, more) => {
    await using stage = await openStage();
    const {daily, metric} = await openDays(stage, [1, 2, 3]);
    stage.api.setScript(end);
    const job = {...daily, ...more, maxOutage: '1s', resends: 0};
    const night = await stage.run(job);
    const tried = night.warnings.filter(text => /^The run of \S+ was interrupted/.test(text));
    const left = 'publishOn' in more ? 2 : 3;
    expect([night.code, tried.length, metric()]).toEqual([code, 1, left]);
    stage.api.setScript(undefined);
    const next = await stage.run(job);
    expect([next.code, metric()]).toEqual([0, 0]);
  },
);

test('a day that ended without an answer is not tried again, and what is left of it goes with its night', async () => {
  await using stage = await openStage();
  const {daily, metric} = await openDays(stage, []);
  stage.write(`in-${day(1)}.csv`, ips(9));
  stage.api.setScript(() => reply.unavailable(3_600));
  const ended = {...daily, date: day(1), publishOn: ['outage'], maxOutage: '0s', state: stage.path('st')};
  expect((await stage.run(ended)).code).toBe(5);
  stage.api.setScript(undefined);
  const left = () => [`out-${day(1)}.csv.run`, `st/${day(1)}`].map(name => existsSync(stage.path(name)));
  for (const hours of [1, 21]) {
    const isLeft = hours === 1;
    const now = () => Date.now() + hours * 3_600_000;
    const night = await stage.run({...daily, force: true, state: stage.path('st')}, {now});
    expect([night.code, night.warnings, metric(), left()]).toEqual([0, [], 0, [isLeft, isLeft]]);
  }
});

test('a day that was cut off goes first on the next', async () => {
  await using stage = await openStage();
  const [yesterday, today] = [day(1), day(0)];
  stage.write('list.csv', ips(20));
  const daily = {...settings, output: 'out-{date}.csv', store: false};
  const st = stage.path('st');
  // The first programs kept the state of all days in one directory.
  const moveUp = () => renameSync(`${st}/${yesterday}/ledger.db`, `${st}/ledger.db`);
  for (const [state, meanwhile] of [
    [{}, () => {}],
    [{state: stage.path('st-{date}')}, () => {}],
    [{state: st}, () => {}],
    [{state: st}, moveUp],
  ] as const) {
    await cutOff(stage, {...daily, ...state, date: yesterday});
    meanwhile();
    // The message is about today's run: the earlier one resumes.
    const ended = await stage.run({...daily, ...state, restart: true});
    expect(ended.code).toBe(0);
    const finished = readFileSync(stage.path(`out-${yesterday}.summary.json`), 'utf8');
    expect(JSON.parse(finished)).toMatchObject({resumed: {times: 1}});
    expect(ended.warnings).toEqual([
      expect.stringContaining(`The run of ${yesterday} was interrupted`),
      expect.stringContaining(`The run of ${yesterday}: 20 rows written`),
    ]);
    const files = readdirSync(stage.directory).filter(name => !name.startsWith('st'));
    expect(files.sort()).toEqual([
      'list.csv',
      ...[yesterday, today].flatMap(each => [`out-${each}.csv`, `out-${each}.summary.json`]),
    ]);
    for (const each of [yesterday, today]) rmSync(stage.path(`out-${each}.csv`));
  }
});

test('days that were cut off are finished in the order of their dates', async () => {
  await using stage = await openStage({list: ips(20)});
  const daily = {...settings, output: 'out-{date}.csv', store: false};
  for (const date of [day(2), day(3), day(1)]) await cutOff(stage, {...daily, date});
  const {warnings} = await stage.run(daily);
  const finished = warnings.flatMap(warning => /^The run of (\S+): 20 rows/.exec(warning)?.[1] ?? []);
  expect(finished).toEqual([day(3), day(2), day(1)]);
});

test('an earlier day makes no calls after the time limit of the command that finishes it', async () => {
  await using stage = await openStage({list: ips(20)});
  const daily = {...settings, output: 'out-{date}.csv', store: false};
  await cutOff(stage, {...daily, date: day(1)});
  const {calls} = stage.api.ledger;
  let late = 0;
  const warned = () => {
    // The earlier day begins now.
    late = 7_200_000;
  };
  const ended = await stage.run({...daily, until: '1h'}, {now: () => Date.now() + late, warned});
  expect([ended.code, ended.warnings[1]]).toEqual([5, expect.stringContaining('time limit')]);
  expect(stage.api.ledger.calls).toBe(calls);
});

test('a day that can not be finished is said with the command that does it, and keeps no other day', async () => {
  await using stage = await openStage();
  stage.write(`in-${day(1)}.csv`, ips(20));
  await cutOff(stage, {...dated, date: day(1)});
  rmSync(stage.path(`in-${day(1)}.csv`));
  stage.write(`in-${day(0)}.csv`, ips(3));
  const ended = await stage.run(dated);
  expect(ended.code).toBe(3);
  expect(ended.warnings.join('\n')).toContain(`--date ${day(1)}`);
  expect(existsSync(stage.path(`out-${day(1)}.csv.run`))).toBe(true);
});

test("an earlier day whose list came through a pipe is not finished with today's list", async () => {
  await using stage = await openStage();
  const daily = {...settings, input: '-', output: 'out-{date}.csv'};
  const first = {...daily, date: day(1), maxCredits: 3};
  expect((await stage.run(first, {stdin: ips(6)})).code).toBe(7);
  const today = await stage.run(daily, {stdin: 'ip\n198.51.100.7\n'});
  expect([today.code, today.summary?.rows.written]).toEqual([3, 1]);
  const told = `The run of ${day(1)} was interrupted, and its list came through a pipe.`;
  expect(today.warnings).toEqual([expect.stringContaining(told)]);
  const summary = {rows: {written: 6}, resumed: {times: 1}};
  expect(await stage.run({...first, maxCredits: 6}, {stdin: ips(6)})).toMatchObject({code: 0, summary});
});

test('an earlier day that used up its own limit is said to need a higher one, as waiting does not renew it', async () => {
  await using stage = await openStage();
  stage.write(`in-${day(1)}.csv`, ips(6));
  stage.write(`in-${day(0)}.csv`, ips(1));
  const daily = {...dated, maxCredits: 3};
  expect((await stage.run({...daily, date: day(1)})).code).toBe(7);
  const {warnings} = await stage.run(daily);
  expect(warnings.at(-1)).toContain(`run the same command with --date ${day(1)} and a higher --max-credits;`);
  const higher = await stage.run({...daily, date: day(1), maxCredits: 6});
  expect(higher).toMatchObject({code: 0, summary: {credits: {spent: 6}}});
});
