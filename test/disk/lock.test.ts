import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {hostname, tmpdir} from 'node:os';
import {join} from 'node:path';
import Database from 'libsql';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {takeLock} from '../../src/disk/lock.ts';

let here: string;
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'bulk-enrich-lock-'));
});
afterEach(() => rmSync(here, {recursive: true}));

const take = (directory: string) => takeLock(directory, {ours: true, busy: who => `in use by ${who}`});

test('a lock keeps others out until its release, and tells who has it and what was made for it', () => {
  const directory = join(here, 'a', 'out.csv.run');
  const lock = take(directory);
  expect(lock.made).toBe(join(here, 'a'));
  expect(() => take(directory)).toThrow(
    expect.objectContaining({
      exitCode: 11,
      message: expect.stringContaining(`in use by process ${process.pid} on ${hostname()}, since 2`),
    }),
  );
  lock.release();
  const next = take(directory);
  expect(next.made).toBeUndefined();
  next.release();
});

test('the lock is of the file that is there, not of one that the run before has removed meanwhile', () => {
  const directory = join(here, 'out.csv.run');
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
