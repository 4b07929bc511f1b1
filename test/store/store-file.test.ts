import {mkdtempSync, renameSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {SharedDate} from '../../src/disk/shared-date.ts';
import type {Answer} from '../../src/ledger/lookup.ts';
import {STORE_FILE, StoreFile} from '../../src/store/store-file.ts';

const NOW = Date.parse('2031-05-06T02:00:00Z');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-store-file-'));
});
afterEach(() => rmSync(directory, {recursive: true}));

const open = (scope = 'here') => {
  const date = new SharedDate(
    () => NOW,
    () => {},
  );
  return new StoreFile(directory, scope, date, 0);
};
const answer = (boughtAt: number): Answer => ({status: 'ok', data: `{"at":${boughtAt}}`, boughtAt});
const rejection = (boughtAt: number): Answer => ({status: 'failed', error: 'odd', rejected: true, boughtAt});
const of = (key: string, ...outcomes: Answer[]) =>
  outcomes.map(outcome => ({operation: 'ip', key, outcome}) as const);

test('a rejection is kept beside the answer that was paid for, whichever is later', () => {
  const file = open();
  file.write(of('a', answer(NOW - 2), rejection(NOW - 1)));
  file.write(of('b', rejection(NOW - 2), answer(NOW - 1)));
  const found = file.find(['a', 'b', 'c'], NOW);
  expect(new Set(found.get('a'))).toEqual(new Set([answer(NOW - 2), rejection(NOW - 1)]));
  expect(new Set(found.get('b'))).toEqual(new Set([rejection(NOW - 2), answer(NOW - 1)]));
  expect(found.size).toBe(2);
  file.close();
});

test('a later answer replaces an earlier one, and an earlier one that is written later does not', () => {
  const file = open();
  for (const at of [NOW - 5, NOW - 3, NOW - 4]) file.write(of('a', answer(at)));
  expect(file.find(['a'], NOW).get('a')).toEqual([answer(NOW - 3)]);
  file.close();
});

test('only an answer, of the same account, shows that the service answers an operation', () => {
  const [file, other] = [open(), open('there')];
  file.write(of('a', rejection(NOW - 1)));
  other.write(of('a', answer(NOW - 1)));
  expect([file.knows('ip'), other.knows('ip'), other.knows('email')]).toEqual([false, true, false]);
  expect(file.find(['a'], NOW).get('a')).toEqual([rejection(NOW - 1)]);
  file.write(of('b', answer(NOW)), 'elsewhere');
  expect(file.knows('ip')).toBe(false);
  file.write(of('b', answer(NOW)));
  expect(file.knows('ip')).toBe(true);
  for (const one of [file, other]) one.close();
});

test('what belongs to another account is found by that account alone: answers and rejections', () => {
  const [file, other] = [open(), open('there')];
  file.write(of('a', answer(NOW - 2), rejection(NOW - 1)), 'there');
  expect(file.find(['a'], NOW).get('a')).toBeUndefined();
  expect(new Set(other.find(['a'], NOW).get('a'))).toEqual(new Set([answer(NOW - 2), rejection(NOW - 1)]));
  for (const one of [file, other]) one.close();
});

test('nothing is written to a file that was removed or replaced', () => {
  const file = open();
  file.write(of('a', answer(NOW)));
  renameSync(join(directory, STORE_FILE), join(directory, 'moved.db'));
  expect(() => file.write(of('b', answer(NOW)))).toThrow('it was removed while it was in use');
  open().close();
  expect(() => file.write(of('b', answer(NOW)))).toThrow('it was removed while it was in use');
  file.close();
});
