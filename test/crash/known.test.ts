import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {STORE_FILE} from '../../src/ledger/answers/store-file.ts';
import {reply} from '../support/api-server-reply.ts';
import {filesUnder} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {held, killedHere, runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

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

test('a streak of refusals that kills divide is one: it is told', async () => {
  await using arena = await openArena();
  const {sandbox, api} = arena;
  const [answered, sessions] = [24, [12, 8]];
  const refused = 21;
  // One call after the other, so that each kill finds one in flight.
  const command = ['run', 'list.csv', '-o', 'out.csv', '--concurrency', '1', '--rate', '200/s', '--force'];
  sandbox.write('list.csv', ips(answered + refused + 1));
  const refuse = ({call, value}: {call: number; value: string}) =>
    call > answered && !value.endsWith(`.${answered + refused}`)
      ? reply.error(200, 'insufficient_credits')
      : undefined;
  let heard = answered;
  for (const some of sessions) {
    // The one that is under way at the kill is sent again.
    heard += some;
    const last = heard + sessions.indexOf(some);
    const {gate, letGo} = held();
    api.setScript(call => (call.call > last ? gate : refuse(call)));
    await killedHere(sandbox, command, arena, {holds: () => api.ledger.calls > last, letGo});
  }
  api.setScript(refuse);
  const resumed = await runHere(sandbox, command, arena);
  expect(resumed.code, resumed.stderr).toBe(3);
  expect(sandbox.summary('out.summary.json')).toMatchObject({
    resumed: {times: 2},
    lookups: {ip: {failed: refused, refused_in_a_row: refused}},
  });
  expect(resumed.stderr).toContain(`To retry ${refused} failed lookups`);
  api.setScript(undefined);
  const {calls} = api.ledger;
  expect((await runHere(sandbox, command, arena)).code).toBe(0);
  expect(api.ledger.calls - calls).toBe(refused);
});
