import {appendFileSync, existsSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {held, runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {until} from '../support/until.ts';

const KEY = 'written-to-key-8a1d';
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

type Look = (sandbox: Sandbox, api: ApiServer) => void;

/**
 * A run whose list is written to while its first values are asked for, and none is answered. If the list is then
 * another, the run is exit 8, and the same command makes the output.
 */
async function run(
  write: (path: string) => void,
  more: readonly string[],
  look: Look,
  code = 8,
  text = list('a'),
) {
  using sandbox = createSandbox();
  await using api = await startApiServer({key: KEY});
  sandbox.write('list.csv', text);
  sandbox.write('more.csv', list('c'));
  const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
  const flags = '-o out.csv --ip ip --rate unlimited --no-store'.split(' ');
  const args = ['run', 'list.csv', ...flags, ...more];
  const {gate, letGo} = held();
  api.setScript(() => gate);
  const first = runHere(sandbox, args, {env});
  await until(() => api.ledger.calls > 2);
  write(sandbox.path('list.csv'));
  api.setScript(undefined);
  letGo();
  const ended = await first;
  expect(ended).toMatchObject({code});
  if (code === 8) {
    expect(ended.stderr).toContain('Another program has written to the list while it was read');
    expect(existsSync(sandbox.path('out.csv'))).toBe(false);
    expect(await runHere(sandbox, args, {env})).toMatchObject({code: 0});
  }
  look(sandbox, api);
  expect(api.ledger.repeated()).toEqual([]);
}

const rowsOf = (sandbox: Sandbox) => sandbox.read('out.csv').trimEnd().split('\n').length - 1;

test.each([
  ['is written over', (path: string) => writeFileSync(path, list('b')), ROWS, 'bbb'],
  ['is replaced', (path: string) => renameSync(path.replace('list', 'more'), path), ROWS, 'ccc'],
  ['grows', (path: string) => appendFileSync(path, `192.0.2.7,${'d'.repeat(240)}\n`), ROWS + 1, 'ddd'],
])(
  'a list that %s while it is read is exit 8, and the same command pays for no value twice',
  (_, change, rows, note) =>
    run(change, [], (sandbox, api) => {
      expect(rowsOf(sandbox)).toBe(rows);
      expect(sandbox.read('out.csv')).toContain(note);
      const {rows: counted, lookups, credits} = sandbox.summary('out.summary.json');
      expect([counted.written, lookups.ip?.distinct]).toEqual([rows, VALUES]);
      expect(credits.spent).toBe(api.ledger.charged);
    }),
);

const append = (path: string) => appendFileSync(path.replace('list', 'more'), '192.0.2.7,last\n');

test('so it is if a row is appended after the last of them was read', () =>
  run(
    path => appendFileSync(path, '203.0.113.1\n'),
    [],
    sandbox => expect(rowsOf(sandbox)).toBe(21),
    8,
    ips(20),
  ));

test('a list that is removed while it is read is read to its end', () =>
  run(
    path => rmSync(path),
    [],
    sandbox => expect(rowsOf(sandbox)).toBe(ROWS),
    0,
  ));

test('rows after the last one of a limit are none of its list', () =>
  run(append, ['more.csv', '--limit', String(ROWS)], sandbox => expect(rowsOf(sandbox)).toBe(ROWS), 0));
