import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {keepCompiledCode} from '../../src/cli/code-cache.ts';

let home: string;
let own: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'bulk-enrich-code-'));
  own = join(home, '.cache/bulk-enrich/code');
});
afterEach(() => rmSync(home, {recursive: true}));

/** The directories that Node was given. */
function kept(env: Readonly<Record<string, string>>): string[] {
  const given: string[] = [];
  keepCompiledCode(env, path => given.push(path));
  return given;
}

test('compiled code is kept in a directory that only its owner can read', () => {
  expect(kept({HOME: home})).toEqual([own]);
  expect(statSync(own).mode & 0o777).toBe(0o700);
  expect(kept({HOME: home})).toEqual([own]);
});

test.each([
  ['others may write to it', () => chmodSync(own, 0o770)],
  ['others may read it', () => chmodSync(own, 0o755)],
])('no code is kept where %s', (_, change) => {
  mkdirSync(own, {recursive: true, mode: 0o700});
  change();
  expect(kept({HOME: home})).toEqual([]);
});

test('no code is kept by way of a link', () => {
  mkdirSync(join(home, 'other'), {mode: 0o700});
  mkdirSync(join(home, '.cache/bulk-enrich'), {recursive: true});
  symlinkSync(join(home, 'other'), own);
  expect(kept({HOME: home})).toEqual([]);
});

test('no code is kept for a user without a home, and nothing is made', () => {
  const missing = join(home, 'missing');
  expect(kept({HOME: missing})).toEqual([]);
  expect(existsSync(missing)).toBe(false);
});

test('a Node that keeps no code makes no directory', () => {
  keepCompiledCode({HOME: home}, undefined);
  expect(existsSync(join(home, '.cache'))).toBe(false);
});
