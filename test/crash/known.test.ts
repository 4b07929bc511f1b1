import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import type {RawSettings} from '../../src/job/parse.ts';
import {STORE_FILE} from '../../src/ledger/answers/store-file.ts';
import {reply} from '../support/api-server-reply.ts';
import {filesUnder} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const KNOWN = 40;

test('a resumed run keeps the stored answers that it saw, though other runs renewed or removed them', async () => {
  await using arena = await openArena();
  const {sandbox, api} = arena;
  const command = (list: string) => ['run', list, '-o', 'out.csv', '--ip', 'ip', '--force'];
  sandbox.write('yesterday.csv', ips(KNOWN));
  expect((await runHere(sandbox, command('yesterday.csv'), arena)).code).toBe(0);
  const yesterday = readFileSync(sandbox.path('out.csv'), 'utf8').trimEnd().split('\n').slice(1);

  const known = ips(KNOWN).trimEnd().split('\n').slice(1);
  const fresh = ips(1, KNOWN).trimEnd().split('\n')[1] ?? '';
  sandbox.write('today.csv', `ip\n${[...known, fresh, ...known.toReversed()].join('\n')}\n`);
  api.setScript(() => reply.throttle(3_600));
  expect((await runHere(sandbox, [...command('today.csv'), '--max-outage', '0s'], arena)).code).toBe(5);
  expect(sandbox.summary('out.summary.json').rows.written).toBe(KNOWN);
  api.setScript(undefined);

  const [store = ''] = filesUnder(sandbox.home).filter(path => path.endsWith(STORE_FILE));
  const db = new Sqlite(join(sandbox.home, store), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec(
    `UPDATE answer SET data = '{"country":"XX"}', bought_at = bought_at + 1; DELETE FROM answer WHERE id % 2 = 0`,
  );
  db.close();

  expect((await runHere(sandbox, command('today.csv'), arena)).code).toBe(0);
  const today = readFileSync(sandbox.path('out.csv'), 'utf8').trimEnd().split('\n').slice(1);
  expect(today).toEqual([...yesterday, today[KNOWN], ...yesterday.toReversed()]);
  expect(api.ledger.calls).toBe(KNOWN + 2);
  expect(sandbox.summary('out.summary.json').lookups.ip).toMatchObject({from_store: KNOWN});
});

test('doubtful calls of a column no longer looked up stay in the counts of their operation, and in the history', async () => {
  await using stage = await openStage();
  stage.write('list.csv', 'ip,email\n192.0.2.1,\n,jo@example.com\n');
  await stage.killAt(2, {ip: 'ip', email: 'email', concurrency: 1});
  const {code, summary} = await stage.run({ip: 'ip'});
  const [ip, email] = [
    {spent: 1, maybe_spent: 0},
    {spent: 0, maybe_spent: 1},
  ];
  expect([code, summary?.credits]).toMatchObject([0, {spent: 1, maybe_spent: 1, by_operation: {ip, email}}]);
  expect(stage.history()).toMatchObject([{credits: {by_operation: {ip, email}}}]);
});

/** Values in the order of their calls, and how many were in flight, with this one, when each came. */
async function watched(stage: Stage, settings: RawSettings) {
  const seen: (readonly [value: string, inFlight: number])[] = [];
  stage.api.setScript(({value}) => void seen.push([value, stage.api.ledger.inFlight]));
  const ended = await stage.run(settings);
  stage.api.setScript(undefined);
  return {ended, values: seen.map(([value]) => value), crowd: Math.max(...seen.map(([, count]) => count))};
}

const KILLED = {ip: 'ip', store: false, concurrency: 4};
const first = (count: number) => ips(count).trim().split('\n').slice(1);

test('values in flight at a kill go last', async () => {
  await using stage = await openStage({latencyMs: 300});
  stage.write('list.csv', ips(12));
  await stage.killAt(4, KILLED);
  const {ended, values} = await watched(stage, KILLED);
  expect([ended.code, values.slice(-4).sort()]).toEqual([0, first(4)]);
});

test('no number of kills is evidence against a value: after four it is sent while no other is', async () => {
  await using stage = await openStage({latencyMs: 300});
  stage.write('list.csv', ips(4));
  for (let kill = 0; kill < 4; kill++) await stage.killAt(4, KILLED);
  const {ended, values, crowd} = await watched(stage, KILLED);
  expect([ended.code, values.sort(), crowd]).toEqual([0, first(4), 1]);
  expect(ended.summary).toMatchObject({
    credits: {spent: 4, maybe_spent: 16},
    lookups: {ip: {answered: 4}},
    calls: {total: 4, unconfirmed: 16, by_status: {200: 4}, by_error: {interrupted: 16}},
  });
  expect(stage.api.ledger.credits).toBe(20);
});

test('with --resends 0 a value in flight at a kill stays unknown, also with --restart', async () => {
  await using stage = await openStage({latencyMs: 300});
  stage.write('list.csv', ips(6));
  const once = {...KILLED, resends: 0};
  await stage.killAt(4, once);
  const {code, summary} = await stage.run({...once, restart: true});
  expect([code, summary?.lookups.ip]).toMatchObject([3, {answered: 2, unknown: 4}]);
  expect(summary?.errors).toMatchObject([{code: 'ip.interrupted', count: 4}]);
  expect(stage.api.ledger.repeated()).toEqual([]);
});
