import {rmSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import Database from 'libsql';
import {expect, test, vi} from 'vitest';
import {takeLock} from '../../src/disk/lock.ts';
import {newDirectory} from '../support/new-directory.ts';

const at = newDirectory();

const take = (directory: string) => takeLock(directory, {ours: true, busy: who => `in use by ${who}`});

test('a lock keeps others out until its release, and tells who has it and what was made for it', () => {
  const directory = at('a', 'out.csv.run');
  const lock = take(directory);
  expect(lock.made).toBe(at('a'));
  const message = expect.stringContaining(`in use by process ${process.pid} on ${hostname()}, since 2`);
  expect(() => take(directory)).toThrow(expect.objectContaining({exitCode: 11, message}));
  lock.release();
  const next = take(directory);
  expect(next.made).toBeUndefined();
  next.release();
});

test('the lock is of the file that is there, not of one that the run before has removed meanwhile', () => {
  const directory = at('out.csv.run');
  const path = join(directory, 'lock.db');
  const {exec} = Database.prototype;
  vi.spyOn(Database.prototype, 'exec').mockImplementationOnce(function (this: Database.Database, sql) {
    rmSync(path);
    writeFileSync(path, '');
    return exec.call(this, sql);
  });
  const lock = take(directory);
  expect(lock.made).toBe(directory);
  expect(() => take(directory)).toThrow('in use by');
  lock.release();
  vi.restoreAllMocks();
});
