import {linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {fileIdOf, isSameFile, realPath} from '../../src/disk/path.ts';

const here = realpathSync(mkdtempSync(join(tmpdir(), 'bulk-enrich-path-')));
afterAll(() => rmSync(here, {recursive: true}));

test.each([
  ['n.csv', false],
  ['n.csv', true],
])(
  'a relative link in a linked directory leads on from where it really is (%s, there: %s)',
  (name, isThere) => {
    const root = mkdtempSync(join(here, 'root-'));
    for (const directory of ['srv/current', 'srv/nights', 'nights'])
      mkdirSync(join(root, directory), {recursive: true});
    symlinkSync(join(root, 'srv/current'), join(root, 'now'));
    symlinkSync(`../nights/${name}`, join(root, 'srv/current/latest.csv'));
    if (isThere) writeFileSync(join(root, 'srv/nights', name), '');
    expect(realPath(join(root, 'now/latest.csv'))).toBe(join(root, 'srv/nights', name));
    expect(realPath(`${root}/now/../nights/${name}`)).toBe(join(root, 'srv/nights', name));
  },
);

test('two paths are one file by any link, and files to come also in other spellings of their name', () => {
  const root = mkdtempSync(join(here, 'root-'));
  const at = (name: string) => join(root, name);
  writeFileSync(at('a.csv'), '');
  writeFileSync(at('b.csv'), '');
  linkSync(at('a.csv'), at('hard.csv'));
  symlinkSync('a.csv', at('soft.csv'));
  symlinkSync('to-come.csv', at('dangling.csv'));
  const isSame = (a: string, b: string) => isSameFile(fileIdOf(at(a)), fileIdOf(at(b)));
  for (const [a, b] of [
    ['a.csv', 'hard.csv'],
    ['soft.csv', 'a.csv'],
    ['dangling.csv', 'to-come.csv'],
    ['NEW.csv', 'new.csv'],
    ['\u00e9.csv', 'e\u0301.csv'],
  ] as const)
    expect([isSame(a, b), a, b]).toEqual([true, a, b]);
  for (const [a, b] of [
    ['a.csv', 'b.csv'],
    ['a.csv', 'to-come.csv'],
    // This disk has both.
    ['a.csv', 'A.csv'],
  ] as const)
    expect([isSame(a, b), a, b]).toEqual([false, a, b]);
});
