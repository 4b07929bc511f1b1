import {expect, test} from 'vitest';
import {
  adviseRepair,
  isBusyError,
  isDamageError,
  isDiskFullError,
  Sqlite,
  sqliteCode,
} from '../../src/disk/sqlite.ts';
import {newDirectory} from '../support/new-directory.ts';

const at = newDirectory();

const failure = (code: string, cause?: unknown) => Object.assign(new Error('failed', {cause}), {code});

test.each([
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_BUSY_SNAPSHOT', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_NOTADB', 'damage'],
  ['SQLITE_ERROR', 'damage'],
  ['SQLITE_CORRUPT', 'damage'],
  ['SQLITE_CORRUPT_INDEX', 'damage'],
  // Damage is told with the advice to remove the file, which would lose what it holds.
  ['SQLITE_IOERR_WRITE', undefined],
  ['SQLITE_CANTOPEN', undefined],
  ['SQLITE_READONLY', undefined],
  ['ENOSPC', 'full'],
])('%s means: %s', (code, expected) => {
  const error = failure(code);
  const means = {busy: isBusyError(error), full: isDiskFullError(error), damage: isDamageError(error)};
  const told = Object.entries(means).flatMap(([name, does]) => (does ? [name] : []));
  expect(told.join()).toBe(expected ?? '');
  expect(adviseRepair(error)).toContain(expected === 'damage' ? 'remove the file' : 'Fix the cause');
  expect(sqliteCode(error)).toBe(code.startsWith('SQLITE_') ? code : undefined);
});

test('a full disk is one also as the cause of an error', () => {
  expect(isDiskFullError(failure('output_unwritable', failure('SQLITE_FULL')))).toBe(true);
  expect(isDiskFullError(failure('output_unwritable', failure('SQLITE_BUSY')))).toBe(false);
});

test('of work that fails nothing is kept, and the file can be used on; a reader sees one state throughout', () => {
  const open = () => new Sqlite(at('a.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  const [one, other] = [open(), open()];
  one.exec('CREATE TABLE value (n INTEGER)');
  const add = one.prepare('INSERT INTO value VALUES (?)');
  const count = (db: Sqlite) => Number(db.query(['count(*) AS n'], 'FROM value').get()?.n);
  expect(() =>
    one.transaction(() => {
      add.run(1);
      throw new Error('mine');
    }),
  ).toThrow('mine');
  expect(count(other)).toBe(0);
  one.transaction(() => add.run(2));
  const before = other.dataVersion();
  other.reading(() => {
    expect(count(other)).toBe(1);
    // Without the snapshot, the writer would succeed and the reader would count two.
    expect(() => add.run(3)).toThrow(expect.objectContaining({code: 'SQLITE_BUSY'}));
    expect(count(other)).toBe(1);
  });
  add.run(4);
  expect([count(other), other.dataVersion() === before]).toEqual([2, false]);
  for (const db of [one, other]) db.close();
});
