import {appendFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {ApiServer} from '../support/api-server.ts';
import type {Sandbox} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {held, runHere} from '../support/main.ts';
import {ips, openStage} from '../support/stage.ts';
import {until} from '../support/until.ts';

const ROWS = 3_000;
/** So many of the rows have a value of their own. */
const VALUES = 60;

/** More than is read ahead of the first answers. */
function list(note: string): string {
  const rows = Array.from(
    {length: ROWS},
    (_, row) => `192.0.2.${row < VALUES ? row : 1},${note.repeat(240)}\n`,
  );
  return `ip,note\n${rows.join('')}`;
}

/** A run whose list is written to while its first values are asked for, and none is answered. */
async function run(
  write: (path: string) => void,
  more: readonly string[],
  look: (sandbox: Sandbox, api: ApiServer) => void,
): Promise<void> {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list('a'));
  sandbox.write('more.csv', list('c'));
  const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited', ...more];
  const {gate, letGo} = held();
  api.setScript(() => gate);
  const ended = runHere(sandbox, args, {env});
  await until(() => api.ledger.calls > 2);
  write(sandbox.path('list.csv'));
  api.setScript(undefined);
  letGo();
  const {code, stderr} = await ended;
  expect(code, stderr).toBe(0);
  look(sandbox, api);
}

const rowsOf = (sandbox: Sandbox) => sandbox.read('out.csv').trimEnd().split('\n').length - 1;

test.each([
  ['is written over', (path: string) => writeFileSync(path, list('b')), ROWS, 'bbb'],
  ['is replaced', (path: string) => renameSync(path.replace('list', 'more'), path), ROWS, 'ccc'],
  ['grows', (path: string) => appendFileSync(path, `192.0.2.7,${'d'.repeat(240)}\n`), ROWS + 1, 'ddd'],
])('a list that %s while it is read is read again, and pays for no value twice', (_, change, rows, note) =>
  run(change, [], (sandbox, api) => {
    expect(rowsOf(sandbox)).toBe(rows);
    expect(sandbox.read('out.csv')).toContain(note);
    expect(api.ledger.repeated()).toEqual([]);
    const {rows: counted, lookups, credits} = sandbox.summary('out.summary.json');
    expect([counted.written, lookups.ip?.distinct]).toEqual([rows, VALUES]);
    expect(credits.spent).toBe(api.ledger.charged);
  }),
);

test('a list to which rows are appended after the last of them was read is read again', () =>
  run(
    path => appendFileSync(path.replace('list', 'more'), '192.0.2.7,last\n'),
    ['more.csv'],
    sandbox => expect(rowsOf(sandbox)).toBe(2 * ROWS + 1),
  ));

test('a list that is removed while it is read is read to its end', () =>
  run(
    path => rmSync(path),
    [],
    sandbox => expect(rowsOf(sandbox)).toBe(ROWS),
  ));

test('rows after the last one of a limit are none of its list', () =>
  run(
    path => appendFileSync(path.replace('list', 'more'), '192.0.2.7,last\n'),
    ['more.csv', '--limit', String(ROWS)],
    (sandbox, api) => {
      expect(rowsOf(sandbox)).toBe(ROWS);
      expect(api.ledger.repeated()).toEqual([]);
    },
  ));

test('a list that is never still is exit 8, and the same command uses what was paid for', async () => {
  await using stage = await openStage({list: ips(20)});
  const source = {paths: [stage.path('list.csv')]};
  let written = 20;
  const grow = setInterval(() => appendFileSync(source.paths[0] ?? '', `203.0.113.${written++}\n`), 5);
  const slow = {ip: 'ip', store: false};
  stage.api.setLatency(5);
  const ended = await stage.run(slow, {stillMs: {least: 30, most: 30}});
  clearInterval(grow);
  expect(ended).toMatchObject({code: 8, summary: {reason: 'input_changed'}});
  expect(ended.warnings.join()).toContain('read again until it is still');
  const {calls} = stage.api.ledger;
  expect(await stage.run(slow)).toMatchObject({code: 0, summary: {rows: {written}}});
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(stage.api.ledger.calls - calls).toBeLessThan(written);
});
