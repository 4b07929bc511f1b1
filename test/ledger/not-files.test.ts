import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {closeSync, constants, existsSync, mkdirSync, openSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {RunHistory} from '../../src/ledger/history.ts';
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

test('a named pipe or a directory among the lines that wait for the history is left alone', () => {
  const waiting = within('runs.waiting');
  const pipe = join(waiting, 'x.json');
  mkdirSync(join(waiting, 'y.json'), {recursive: true});
  execFileSync('mkfifo', [pipe]);
  // A writer, for the same reason.
  writer = spawn('sh', ['-c', 'printf "[]" > "$0"', pipe]);
  const history = new RunHistory(within());
  expect([history.lines(0), existsSync(pipe)]).toEqual([[], true]);
  history.close();
});
