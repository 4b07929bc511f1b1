import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {edited} from './compile.mjs';
import {allDefects} from './defects/all.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each(allDefects)('src still has the place of this defect: $name', ({edits}) => {
  const files = new Set(edits.map(([file]) => file));
  for (const file of files) {
    const code = readFileSync(root + file, 'utf8');
    const own = edits.filter(([of]) => of === file);
    expect(edited(code, own)).not.toBe(code);
  }
});

test('each defect has a name of its own', () => {
  const names = allDefects.map(({name}) => name);
  expect(new Set(names).size).toBe(names.length);
});
