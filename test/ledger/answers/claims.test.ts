import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {afterEach, expect, test, vi} from 'vitest';
import {Sqlite} from '../../../src/disk/sqlite.ts';
import {CLAIMS_FILE, Claims} from '../../../src/ledger/answers/claims.ts';
import type {StoredRow} from '../../../src/ledger/answers/store-file.ts';
import {newDirectory} from '../../support/new-directory.ts';

const within = newDirectory();
let now = 1_000_000_000;
const opened: Claims[] = [];
const warnings: string[] = [];
const inherited: StoredRow[] = [];
let isStorable = true;

const locks = () => readdirSync(within()).filter(name => name.startsWith(`${CLAIMS_FILE}-of-`));

const open = () => {
  const claims = new Claims(within(), {
    ...{now: () => now, onTrouble: sentence => warnings.push(sentence)},
    inherit: answers => isStorable && inherited.push(...answers) > 0,
  });
  opened.push(claims);
  return claims;
};

afterEach(() => {
  vi.restoreAllMocks();
  for (const claims of opened.splice(0)) claims.close();
  warnings.length = 0;
});

test('a value has one claim at a time; what is released, or of a run that ended, is free', () => {
  const [a, b, c] = [open(), open(), open()];
  expect(a.claim(['1', '2', '3'])).toEqual(['1', '2', '3']);
  expect(b.claim(['2', '4', '3', '5'])).toEqual(['4', '5']);
  // A run does not wait for itself.
  expect([a.claim(['1']), a.findFreed(['1', '4'])]).toEqual([['1'], ['1']]);
  expect(c.findFreed(['1', '4', '6'])).toEqual(['6']);
  a.release(['1', '3']);
  expect(c.findFreed(['1', '2', '3'])).toEqual(['1', '3']);
  expect([c.claim(['1', '2']), b.claim(['1'])]).toEqual([['1'], []]);
  b.close();
  expect(c.findFreed(['2', '4', '5'])).toEqual(['4', '5']);
  for (const claims of [a, c]) claims.close();
  expect(locks()).toEqual([]);
  expect(warnings).toEqual([]);
});

test('a clock can only end claims: one that is set back or far ahead makes no run wait', () => {
  const [a, b] = [open(), open()];
  a.claim(['1', '2']);
  expect(b.findFreed(['1', '2'])).toEqual([]);
  now -= 1_000;
  expect(b.findFreed(['1'])).toEqual(['1']);
  now += 1_000 + 3 * 3_600_000;
  expect([b.findFreed(['2']), b.claim(['2'])]).toEqual([['2'], ['2']]);
});

const row = (key: string): StoredRow => [key, 'scope', 'ip', now, '{}'];

/** A process that claims a value, has bought another, and lives until it is killed. */
async function other(value: string): Promise<ChildProcess> {
  // Packages are found from within the project.
  const bundled = fileURLToPath(new URL(`../../../.dist-claims-${process.pid}/claims.mjs`, import.meta.url));
  const bundle = `import {bundleOne} from './scripts/bundle.mjs'; await bundleOne('src/ledger/answers/claims', ${JSON.stringify(bundled)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', bundle]);
  const program = `const {Claims} = await import(${JSON.stringify(bundled)});
    const claims = new Claims(${JSON.stringify(within())}, {now: () => ${now}, onTrouble: console.error});
    claims.claim(['stored'], [${JSON.stringify(row('stored'))}]);
    claims.release(['stored'], true);
    claims.claim([], [${JSON.stringify(row('bought'))}]);
    console.log(claims.claim([${JSON.stringify(value)}]).length); setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(String((await once(child.stdout as NodeJS.ReadableStream, 'data'))[0])).toBe('1\n');
  rmSync(dirname(bundled), {recursive: true});
  return child;
}

test('a process that is killed frees its values, once the answers that it bought last are stored', async () => {
  const here = open();
  const child = await other('1');
  expect([here.claim(['1', '2']), here.findFreed(['1'])]).toEqual([['2'], []]);
  isStorable = false;
  child.kill('SIGKILL');
  await once(child, 'exit');
  await sleep(600);
  expect(here.findFreed(['1'])).toEqual([]);
  isStorable = true;
  await vi.waitFor(() => expect(here.findFreed(['1'])).toEqual(['1']), {timeout: 10_000});
  expect([here.claim(['1']), inherited.splice(0)]).toEqual([['1'], [row('bought')]]);
  here.close();
  expect(locks()).toEqual([]);
});

/** Faults of the file. Each function makes one, and returns a function that mends it. */
const harms = {
  busy() {
    const db = new Sqlite(within(CLAIMS_FILE), {synchronous: 'NORMAL', busyTimeoutMs: 0});
    db.exec('BEGIN EXCLUSIVE');
    return () => {
      db.exec('ROLLBACK');
      db.close();
    };
  },
  damaged() {
    writeFileSync(within(CLAIMS_FILE), 'no database at all, but a text of some length');
    return () => {};
  },
  'a directory'() {
    rmSync(within(CLAIMS_FILE));
    mkdirSync(within(CLAIMS_FILE));
    return () => rmSync(within(CLAIMS_FILE), {recursive: true});
  },
  full() {
    vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(() => {
      throw Object.assign(new Error('full'), {code: 'SQLITE_FULL'});
    });
    return () => vi.restoreAllMocks();
  },
};

test.each(Object.entries(harms))(
  'if the file is %s, all values are free, with one warning; the next run claims again',
  (_, spoil) => {
    open().claim(['0']);
    for (const claims of opened.splice(0)) claims.close();
    const fix = spoil();
    const claims = open();
    expect([claims.claim(['1']), claims.findFreed(['1']), claims.claim(['2'])]).toEqual([
      ['1'],
      ['1'],
      ['2'],
    ]);
    claims.release(['1']);
    expect(warnings).toEqual([expect.stringContaining(`${CLAIMS_FILE} can't be used`)]);
    fix();
    const [next, last] = [open(), open()];
    expect([next.claim(['1']), last.claim(['1'])]).toEqual([['1'], []]);
  },
);
