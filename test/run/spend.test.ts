import {existsSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {RunRecord} from '../../src/report/run-record.ts';
import type {Session} from '../../src/run/session.ts';
import {startApiServer} from '../support/api-server.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const one = {ip: 'ip', concurrency: 1, store: false};

/** A record without the parts that differ in each run. */
const told = ({account: {label}, reason, calls, credits: {spent, maybe_spent: maybe}}: RunRecord) => ({
  label,
  reason,
  calls,
  spent,
  maybe,
});

/** The record of a run of all ten values, some of which may have been charged twice. */
const done = (maybe = 0) => ({label: 'default', reason: 'done', calls: 10, spent: 10, maybe});

const spentIn = (stage: Stage) =>
  stage.history().reduce((sum, {credits}) => sum + credits.spent + credits.maybe_spent, 0);

const directoryOf = ({env}: Stage) => join(env.XDG_STATE_HOME ?? '', 'bulk-enrich', 'runs');

/** The history can't be written while this works. */
async function withoutHistory<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  const path = directoryOf(stage);
  if (existsSync(path)) renameSync(path, `${path}.away`);
  else await stage.run({...one, limit: 1, output: '-'});
  rmSync(path, {recursive: true, force: true});
  writeFileSync(path, '');
  try {
    return await work();
  } finally {
    rmSync(path);
    if (existsSync(`${path}.away`)) renameSync(`${path}.away`, path);
  }
}

test('a killed run has its file from the start; the run that resumes it completes the same one', async () => {
  await using stage = await openStage({list: ips(10)});
  await stage.killAt(6, one);
  const [killed] = stage.history();
  const begun = {list: 'list.csv', status: 'interrupted', reason: 'unfinished', exit_code: null};
  expect(killed).toMatchObject(begun);
  expect(await stage.run(one)).toMatchObject({code: 0});
  const runs = stage.history();
  expect(runs.map(told)).toEqual([done(1)]);
  expect(runs[0]?.run_id).toBe(killed?.run_id);
  expect(stage.api.ledger.credits).toBe(11);
});

test('its file is replaced every minute', async () => {
  await using stage = await openStage({list: ips(10)});
  const hurried = (session: Session) => {
    const {clock, startedAt} = session;
    // A quarter of a second is four minutes.
    Object.assign(session, {clock: () => startedAt + 1_000 * (clock() - startedAt)});
  };
  await stage.killAt(6, {...one, rate: '5/s'}, {watch: hurried});
  const [killed] = stage.history();
  expect(killed).toMatchObject({reason: 'unfinished', calls: expect.toSatisfy((calls: number) => calls > 0)});
});

test('the spending of a killed run stays with its account, whatever account the restart has', async () => {
  await using stage = await openStage({list: ips(10)});
  await stage.killAt(6, one);
  expect(await stage.run({...one, account: 'second', restart: true})).toMatchObject({code: 0});
  expect(stage.history().map(told)).toEqual([
    {label: 'default', reason: 'unfinished', calls: 5, spent: 5, maybe: 1},
    {label: 'second', reason: 'done', calls: 10, spent: 10, maybe: 0},
  ]);
  const [killed, restarted] = stage.history();
  expect(killed?.run_id).not.toBe(restarted?.run_id);
  expect(stage.api.ledger.credits).toBe(16);
});

test("credits that a killed session only reserved of its account's day are free again, whatever account the restart has", async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 10000\n');
  stage.account('b.yaml', 'endpoint: URL\naccount: second\n');
  stage.write('list.csv', ips(10));
  await stage.killAt(6, one);
  expect(await stage.run({...one, account: 'second', restart: true})).toMatchObject({code: 0});
  stage.write('list.csv', ips(1));
  const {summary} = await stage.run({...one, output: 'other.csv'});
  expect(summary?.credits.account.per_day).toEqual({limit: 10_000, used: 6 + 1});
});

test('the endpoint of a restart does not have what a killed session spent at another', async () => {
  await using stage = await openStage();
  await using other = await startApiServer({key: stage.env.BULK_ENRICH_API_KEY ?? ''});
  stage.write('list.csv', ips(10));
  await stage.killAt(6, one);
  const env = {BULK_ENRICH_BASE_URL: other.url};
  for (let again = 0; again < 2; again++)
    expect(await stage.run({...one, restart: true, force: true}, {env})).toMatchObject({code: 0});
  const spentAt = (url: string) => {
    const runs = stage.history().filter(({account}) => account.endpoint === url);
    return runs.map(({credits}) => [credits.spent, credits.maybe_spent]);
  };
  expect(spentAt(stage.api.url)).toEqual([[5, 1]]);
  expect(spentAt(other.url)).toEqual(Array(2).fill([10, 0]));
});

test('a doubtful call is counted once, in the run that made it', async () => {
  await using stage = await openStage({list: ips(10)});
  await stage.killAt(4, one);
  await stage.killAt(4, one);
  const {summary} = await stage.run(one);
  expect(stage.history().map(told)).toEqual([done(2)]);
  expect(summary?.credits).toMatchObject({spent: 10, maybe_spent: 2});
  expect(stage.api.ledger.credits).toBe(12);
});

test('a command with nothing to do completes a killed run of the same output, and its resume the rest', async () => {
  await using stage = await openStage({list: ips(10)});
  expect(await stage.run(one)).toMatchObject({code: 0});
  await stage.killAt(6, {...one, force: true});
  const message = expect.stringContaining('To resume that one: --force.');
  expect(await stage.run(one)).toMatchObject({code: 0, message});
  const killed = {label: 'default', reason: 'unfinished', calls: 5, spent: 5, maybe: 1};
  expect(stage.history().map(told)).toEqual([done(), killed]);
  expect(await stage.run({...one, force: true})).toMatchObject({code: 0});
  expect(stage.history().map(told)).toEqual([done(), done(1)]);
  expect(stage.api.ledger.credits).toBe(21);
});

test.each([
  ['the same command', {}],
  ['with --force', {force: true}],
  ['another list with --force', {force: true, input: 'other.csv'}],
])('a complete run that the history could not take is added by the next one: %s', async (_name, next) => {
  await using stage = await openStage({list: ips(10)});
  stage.write('other.csv', ips(3, 100));
  await withoutHistory(stage, async () => {
    const lacks = expect.stringContaining('The next run of this output adds it');
    expect(await stage.run(one)).toMatchObject({code: 0, warnings: [lacks, lacks]});
    expect(await stage.run(one)).toMatchObject({code: 0, warnings: [lacks]});
  });
  const before = stage.api.ledger.credits;
  expect(await stage.run({...one, ...next})).toMatchObject({code: 0, warnings: []});
  const [first] = stage.history().map(told);
  expect(first).toEqual(done());
  expect(spentIn(stage)).toBe(10 + stage.api.ledger.credits - before);
  expect(existsSync(join(stage.directory, 'out.csv.run'))).toBe(false);
});

test('a run that was interrupted without a history is added by the one that resumes it', async () => {
  await using stage = await openStage({list: ips(10)});
  expect((await withoutHistory(stage, () => stage.stopAt(6, one))).code).toBe(130);
  expect(await stage.run(one)).toMatchObject({code: 0, warnings: []});
  expect(stage.history().map(told)).toEqual([done()]);
});

test('one that can not be completed, since another run takes its place, is told with its name', async () => {
  await using stage = await openStage({list: ips(10)});
  await stage.killAt(6, one);
  const [file = ''] = readdirSync(directoryOf(stage));
  writeFileSync(join(directoryOf(stage), file), '{"run_id":');
  const {code, warnings} = await stage.run({...one, restart: true});
  expect([code, warnings]).toEqual([0, [expect.stringContaining(`${file} can't be completed`)]]);
});

test('the price of a credit stays with the spending of a killed run', async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nprice: 0.25 EUR\n');
  stage.write('list.csv', ips(5));
  await stage.killAt(3, one);
  stage.account('a.yaml', 'endpoint: URL\nprice: 0.5 EUR\n');
  expect(await stage.run({...one, restart: true})).toMatchObject({code: 0});
  expect(stage.history().map(({reason, price}) => [reason, price?.per_credit])).toEqual([
    ['unfinished', 0.25],
    ['done', 0.5],
  ]);
});

test('the pace is that of the session: it counts no call of an earlier one', async () => {
  await using stage = await openStage({list: ips(10)});
  await stage.killAt(9, one);
  const {summary} = await stage.run(one);
  const {pace, calls, timeline} = summary ?? {};
  // Eight of its ten values were answered before.
  const ms = timeline?.ms.reduce((sum, each) => sum + each, 0) ?? 0;
  expect([calls?.total, Math.round(((pace?.achieved ?? 0) * ms) / 1_000) <= 2]).toEqual([10, true]);
});
