import {chmodSync, existsSync, mkdirSync, statSync, symlinkSync} from 'node:fs';
import {beforeEach, expect, test} from 'vitest';
import {keepCompiledCode} from '../../src/cli/code-cache.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();
let own: string;
beforeEach(() => {
  own = within('.cache/bulk-enrich/code');
});

/** The directories that Node was given. */
function kept(env: Readonly<Record<string, string>>): string[] {
  const given: string[] = [];
  keepCompiledCode(env, path => given.push(path));
  return given;
}

test('compiled code is kept in a directory that only its owner can read', () => {
  expect(kept({HOME: within()})).toEqual([own]);
  expect(statSync(own).mode & 0o777).toBe(0o700);
  expect(kept({HOME: within()})).toEqual([own]);
});

test.each([
  ['others may write to it', () => chmodSync(own, 0o770)],
  ['others may read it', () => chmodSync(own, 0o755)],
])('no code is kept where %s', (_, change) => {
  mkdirSync(own, {recursive: true, mode: 0o700});
  change();
  expect(kept({HOME: within()})).toEqual([]);
});

test('no code is kept by way of a link', () => {
  mkdirSync(within('other'), {mode: 0o700});
  mkdirSync(within('.cache/bulk-enrich'), {recursive: true});
  symlinkSync(within('other'), own);
  expect(kept({HOME: within()})).toEqual([]);
});

test('no code is kept for a user without a home, and nothing is made', () => {
  const missing = within('missing');
  expect(kept({HOME: missing})).toEqual([]);
  expect(existsSync(missing)).toBe(false);
});

test('a Node that keeps no code makes no directory', () => {
  keepCompiledCode({HOME: within()}, null);
  expect(existsSync(within('.cache'))).toBe(false);
});
