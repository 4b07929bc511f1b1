import {linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {identifyFile, isSameFile, realPath} from '../../src/disk/path.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

test.each([false, true])(
  'a relative link in a linked directory leads on from where it really is (there: %s)',
  isThere => {
    const root = realpathSync(within());
    const at = (name: string) => join(root, name);
    for (const directory of ['srv/current', 'srv/nights', 'nights'])
      mkdirSync(at(directory), {recursive: true});
    symlinkSync(at('srv/current'), at('now'));
    symlinkSync('../nights/n.csv', at('srv/current/latest.csv'));
    if (isThere) writeFileSync(at('srv/nights/n.csv'), '');
    expect(realPath(at('now/latest.csv'))).toBe(at('srv/nights/n.csv'));
    expect(realPath(`${root}/now/../nights/n.csv`)).toBe(at('srv/nights/n.csv'));
  },
);

test('two paths are one file by any link, and files to come also in other spellings of their name', () => {
  const at = (name: string) => join(realpathSync(within()), name);
  writeFileSync(at('a.csv'), '');
  writeFileSync(at('b.csv'), '');
  linkSync(at('a.csv'), at('hard.csv'));
  symlinkSync('a.csv', at('soft.csv'));
  symlinkSync('to-come.csv', at('dangling.csv'));
  const isSame = (a: string, b: string) => isSameFile(identifyFile(at(a)), identifyFile(at(b)));
  for (const [a, b, expected] of [
    ['a.csv', 'hard.csv', true],
    ['soft.csv', 'a.csv', true],
    ['dangling.csv', 'to-come.csv', true],
    ['NEW.csv', 'new.csv', true],
    ['\u00e9.csv', 'e\u0301.csv', true],
    ['a.csv', 'b.csv', false],
    ['a.csv', 'to-come.csv', false],
    // This disk has both.
    ['a.csv', 'A.csv', false],
  ] as const)
    expect([a, b, isSame(a, b)]).toEqual([a, b, expected]);
});
