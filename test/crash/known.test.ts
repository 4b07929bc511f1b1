import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {STORE_FILE} from '../../src/ledger/answers/store-file.ts';
import {reply} from '../support/api-server-reply.ts';
import {filesUnder} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {ips, openStage} from '../support/stage.ts';

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
  expect([code, summary]).toMatchObject([
    0,
    {
      credits: {spent: 1, maybe_spent: 1, by_operation: {ip, email}},
      calls: {total: 1, unconfirmed: 1, by_status: {200: 1}, by_error: {interrupted: 1}},
    },
  ]);
  expect(stage.history()).toMatchObject([{credits: {by_operation: {ip, email}}}]);
});
