import {mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {realPath} from '../../src/disk/path.ts';

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
