import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {closeSync, constants, existsSync, mkdirSync, openSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {readRunSummaries} from '../../src/run/end/history.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();
let writer: ChildProcess | undefined;

afterEach(() => {
  writer?.kill();
});

test('a named pipe in the place of a database is refused, and not waited for', () => {
  const path = within('answers.db');
  execFileSync('mkfifo', [path]);
  // A reader: with it, a fault fails this test instead of hanging it.
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const open = () => new Sqlite(path, {synchronous: 'OFF', busyTimeoutMs: 0});
  expect(open).toThrow(expect.objectContaining({code: 'SQLITE_NOTADB'}));
  closeSync(reader);
});

test('a named pipe or a directory among the files of the history is named, and not waited for', () => {
  const runs = within('bulk-enrich', 'runs');
  const pipe = join(runs, 'x.json');
  mkdirSync(join(runs, 'y.json'), {recursive: true});
  execFileSync('mkfifo', [pipe]);
  // A writer, for the same reason.
  writer = spawn('sh', ['-c', 'printf "[]" > "$0"', pipe]);
  const warnings: string[] = [];
  const found = readRunSummaries({
    env: {XDG_STATE_HOME: within()},
    warn: each => void warnings.push(String(each)),
  });
  expect([found, warnings, existsSync(pipe)]).toEqual([
    [],
    ['x', 'y'].map(name => `${join(runs, name)}.json is damaged, so that run is left out.`),
    true,
  ]);
});
