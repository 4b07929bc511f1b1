import {existsSync, mkdirSync, renameSync, rmdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import type {RunRecord} from '../../src/report/run-record.ts';
import {Stopper} from '../../src/run/stop.ts';
import {startApiServer} from '../support/api-server.ts';
import {interrupt, ips, openStage, type Stage} from '../support/stage.ts';

const one = {ip: 'ip', concurrency: 1, store: false};

/** A line without the parts that differ in each run. */
const told = ({account: {label}, reason, calls, credits: {spent, maybe_spent: maybe}}: RunRecord) => ({
  label,
  reason,
  calls,
  spent,
  maybe,
});

/** Another program has the history's file locked while this works. */
async function withLock<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  stage.history();
  const path = join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich', 'runs.db');
  const db = new Sqlite(path, {synchronous: 'OFF', busyTimeoutMs: 0});
  db.exec('BEGIN EXCLUSIVE');
  try {
    return await work();
  } finally {
    db.exec('ROLLBACK');
    db.close();
  }
}

/** The history's file can't be opened while this works. */
async function withoutHistory<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  stage.history();
  const path = join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich', 'runs.db');
  renameSync(path, `${path}.away`);
  mkdirSync(path);
  try {
    return await work();
  } finally {
    rmdirSync(path);
    renameSync(`${path}.away`, path);
  }
}

async function interruptedAt(stage: Stage, call: number) {
  const stopper = new Stopper();
  stage.api.setScript(({call: nth}) => {
    if (nth === call) interrupt(stopper);
    return undefined;
  });
  const ended = await stage.run(one, {stopper});
  stage.api.setScript(undefined);
  return ended;
}

test('the spending of a killed session stays with its account, whatever account the restart has', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  await stage.killAt(6, one);
  expect(stage.history()).toEqual([]);
  expect(await stage.run({...one, account: 'second', restart: true})).toMatchObject({code: 0});
  expect(stage.history().map(told)).toEqual([
    {label: 'default', reason: 'cut_off', calls: 5, spent: 5, maybe: 1},
    {label: 'second', reason: 'done', calls: 10, spent: 10, maybe: 0},
  ]);
  const [killed, restarted] = stage.history();
  expect(killed).toMatchObject({list: 'list.csv', exit_code: null, rows: null});
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

test('nor does the endpoint of the restart have it, and a third session tells nothing again', async () => {
  await using stage = await openStage();
  await using other = await startApiServer({key: 'stage-key-71ac4f'});
  stage.write('list.csv', ips(10));
  await stage.killAt(6, one);
  const env = {BULK_ENRICH_BASE_URL: other.url};
  for (let again = 0; again < 2; again++)
    expect(await stage.run({...one, restart: true, force: true}, {env})).toMatchObject({code: 0});
  const spentAt = (url: string) =>
    stage
      .history()
      .filter(({account}) => account.endpoint === url)
      .map(({credits}) => [credits.spent, credits.maybe_spent]);
  expect(spentAt(stage.api.url)).toEqual([[5, 1]]);
  expect(spentAt(other.url)).toEqual([
    [10, 0],
    [10, 0],
  ]);
});

test('a doubtful call is told once: by the session that made it', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  await stage.killAt(4, one);
  await stage.killAt(4, one);
  const {summary} = await stage.run(one);
  expect(stage.history().map(told)).toEqual([
    {label: 'default', reason: 'cut_off', calls: 3, spent: 3, maybe: 1},
    {label: 'default', reason: 'cut_off', calls: 3, spent: 3, maybe: 1},
    {label: 'default', reason: 'done', calls: 4, spent: 4, maybe: 0},
  ]);
  expect(summary?.session.by_operation.ip).toEqual({calls: 4, spent: 4, maybe_spent: 0});
  expect(summary?.credits).toMatchObject({spent: 10, maybe_spent: 2});
  expect(stage.api.ledger.credits).toBe(12);
});

test.each([
  ['a restart', {restart: true}],
  ['a resume', {}],
])(
  'the spending of %s that was killed during its first call is told of the day on which it was sent',
  async (_, how) => {
    await using stage = await openStage();
    const lasting = {...one, maxAge: '30d'};
    const on = (day: number) => ({now: () => Date.UTC(2031, 4, day)});
    stage.write('list.csv', ips(10));
    await stage.run({...lasting, maxCredits: 3}, on(5));
    await stage.killAt(1, {...lasting, ...how}, on(6));
    expect(await stage.run(lasting, on(7))).toMatchObject({code: 0});
    const byDay = stage
      .history()
      .map(line => [line.ended_at.slice(0, 10), told(line).spent, told(line).maybe]);
    expect(byDay).toEqual([
      ['2031-05-05', 3, 0],
      ['2031-05-06', 0, 1],
      ['2031-05-07', 7, 0],
    ]);
  },
);

test('spending while the history is locked is added to it later, once', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  const ended = await withLock(stage, () => interruptedAt(stage, 6));
  expect(ended).toMatchObject({code: 130, warnings: []});
  const first = {label: 'default', reason: 'signal', calls: 6, spent: 6, maybe: 0};
  expect(stage.history().map(told)).toEqual([first]);
  expect(await withLock(stage, () => stage.run(one))).toMatchObject({code: 0, warnings: []});
  expect(stage.history().map(told)).toEqual([
    first,
    {label: 'default', reason: 'done', calls: 4, spent: 4, maybe: 0},
  ]);
});

test('a command with nothing to do adds what a killed run of the same output spent, and its resume adds the rest', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  expect(await stage.run(one)).toMatchObject({code: 0});
  await stage.killAt(6, {...one, force: true});
  const done = {label: 'default', reason: 'done', calls: 10, spent: 10, maybe: 0};
  expect(await stage.run(one)).toMatchObject({
    code: 0,
    message: expect.stringContaining('To resume that one: --force.'),
  });
  const cutOff = {label: 'default', reason: 'cut_off', calls: 5, spent: 5, maybe: 1};
  expect(stage.history().map(told)).toEqual([done, cutOff]);
  expect(await stage.run({...one, force: true})).toMatchObject({code: 0});
  expect(stage.history().map(told)).toEqual([done, cutOff, {...done, calls: 5, spent: 5}]);
  expect(stage.api.ledger.credits).toBe(21);
});

test.each([
  ['the same command', {}],
  ['with --force', {force: true}],
  ['another list with --force', {force: true, input: 'other.csv'}],
])('a complete run that the history could not take is added by the next one: %s', async (_name, next) => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  stage.write('other.csv', ips(3, 100));
  await withoutHistory(stage, async () => {
    const warnings = [expect.stringContaining('The next run of this output adds it')];
    expect(await stage.run(one)).toMatchObject({code: 0, warnings});
    expect(await stage.run(one)).toMatchObject({code: 0, warnings});
  });
  expect(await stage.run({...one, ...next})).toMatchObject({code: 0, warnings: []});
  const [line] = stage.history().map(told);
  expect(line).toEqual({label: 'default', reason: 'done', calls: 10, spent: 10, maybe: 0});
  expect(stage.history().reduce((sum, {credits}) => sum + credits.spent, 0)).toBe(stage.api.ledger.credits);
  expect(existsSync(join(stage.directory, 'out.csv.run'))).toBe(false);
});

test('the next session adds what the history could not take', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  expect(await withoutHistory(stage, () => interruptedAt(stage, 6))).toMatchObject({
    code: 130,
    warnings: [expect.stringContaining('could not be added to the history')],
  });
  expect(await stage.run(one)).toMatchObject({code: 0, warnings: []});
  expect(stage.history().map(told)).toEqual([
    {label: 'default', reason: 'cut_off', calls: 6, spent: 6, maybe: 0},
    {label: 'default', reason: 'done', calls: 4, spent: 4, maybe: 0},
  ]);
});

test('so it does for a session that was killed before, even if another list takes the place of their run', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  stage.write('other.csv', ips(3, 100));
  await stage.killAt(6, one);
  expect(await withoutHistory(stage, () => stage.run(one))).toMatchObject({code: 0});
  expect(await stage.run({...one, force: true, input: 'other.csv'})).toMatchObject({code: 0, warnings: []});
  const spent = stage.history().map(line => told(line).spent + told(line).maybe);
  expect(spent.reduce((sum, each) => sum + each, 0)).toBe(stage.api.ledger.credits);
  expect(spent).toHaveLength(3);
});

test('the price of a credit stays with the spending of a killed session', async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nprice: 0.25 EUR\n');
  stage.write('list.csv', ips(5));
  await stage.killAt(3, one);
  stage.account('a.yaml', 'endpoint: URL\nprice: 0.5 EUR\n');
  expect(await stage.run({...one, restart: true})).toMatchObject({code: 0});
  expect(stage.history().map(({reason, price}) => [reason, price?.per_credit])).toEqual([
    ['cut_off', 0.25],
    ['done', 0.5],
  ]);
});

test('the pace is that of the session: it counts no call of an earlier one', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  await stage.killAt(9, one);
  const {summary} = await stage.run(one);
  const {pace, calls, timeline} = summary ?? {};
  // Eight of its ten values were answered before.
  const ms = timeline?.ms.reduce((sum, each) => sum + each, 0) ?? 0;
  expect([calls?.total, Math.round(((pace?.achieved ?? 0) * ms) / 1_000) <= 2]).toEqual([10, true]);
});
