import {appendFileSync, renameSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {held, runHere} from '../support/main.ts';
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

/** A run whose list is written to while its first values are asked for, and none is answered. */
async function run(
  write: (path: string) => void,
  more: readonly string[],
  look: (
    sandbox: Sandbox,
    again: (...words: string[]) => ReturnType<typeof runHere>,
    api: ApiServer,
  ) => Promise<void>,
  code: number,
): Promise<void> {
  using sandbox = createSandbox();
  await using api = await startApiServer({key: KEY});
  sandbox.write('list.csv', list('a'));
  sandbox.write('more.csv', list('c'));
  const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
  sandbox.write('job.yaml', 'endpoint: live\nip: ip\n');
  const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited', ...more];
  const again = (...words: string[]) => runHere(sandbox, [...args, ...words], {env});
  const {gate, letGo} = held();
  api.setScript(() => gate);
  const ended = again();
  await until(() => api.ledger.calls > 2);
  write(sandbox.path('list.csv'));
  api.setScript(undefined);
  letGo();
  const {code: is, stderr} = await ended;
  expect([is, stderr]).toEqual([code, expect.any(String)]);
  await look(sandbox, again, api);
}

test('a list that is written over while it is read is no output: the same command with --restart makes it', () =>
  run(
    path => writeFileSync(path, list('b')),
    [],
    async (sandbox, again) => {
      expect(sandbox.files()).not.toContain('out.csv');
      expect((await again()).stderr).toContain('--restart');
      expect((await again('--restart')).code).toBe(0);
      expect(sandbox.read('out.csv')).not.toContain('aaa');
    },
    8,
  ));

test('so is one of which only the first rows are asked for', () =>
  run(
    path => writeFileSync(path, list('b')),
    ['--limit', String(ROWS - 1)],
    async sandbox => expect(sandbox.files()).not.toContain('out.csv'),
    8,
  ));

test.each([
  ['removed', (path: string) => rmSync(path)],
  ['replaced', (path: string) => renameSync(path.replace('list', 'more'), path)],
])('a list that is touched and %s is read to its end', (_, change) =>
  run(
    path => {
      utimesSync(path, new Date(), new Date());
      change(path);
    },
    [],
    async sandbox => {
      expect(sandbox.read('out.csv').trimEnd().split('\n')).toHaveLength(ROWS + 1);
      expect(sandbox.read('out.csv')).not.toContain('ccc');
    },
    0,
  ),
);

test('a list that was read before rows are appended to it is no other', () =>
  run(
    path => appendFileSync(path.replace('list', 'more'), '192.0.2.7,last\n'),
    ['more.csv'],
    async sandbox => expect(sandbox.read('out.csv').trimEnd().split('\n')).toHaveLength(2 * ROWS + 2),
    0,
  ));

test('a job starts over by itself', () =>
  run(
    path => writeFileSync(path, list('b')),
    ['--job', 'job.yaml'],
    async sandbox => {
      expect(sandbox.read('out.csv').trimEnd().split('\n')).toHaveLength(ROWS + 1);
      expect(sandbox.read('out.csv')).not.toContain('aaa');
    },
    0,
  ));

test('a job that starts over with a list that lacks its column is exit 2, with calls made for the list before', () =>
  run(
    path => writeFileSync(path, list('b').replace('ip', 'address')),
    ['--job', 'job.yaml'],
    async (sandbox, again, api) => {
      expect(sandbox.files()).toContain('out.csv.run/ledger.db');
      sandbox.write('list.csv', list('a'));
      expect((await again()).code).toBe(0);
      expect(sandbox.summary('out.summary.json').credits.spent).toBe(api.ledger.charged);
    },
    2,
  ));

test('rows that are appended while it is read are read too', () =>
  run(
    path => appendFileSync(path, '192.0.2.7,last\n'),
    [],
    async sandbox => expect(sandbox.read('out.csv').trimEnd().split('\n')).toHaveLength(ROWS + 2),
    0,
  ));
