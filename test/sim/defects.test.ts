import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {parseAst} from 'rolldown/parseAst';
import {expect, test} from 'vitest';
import {edited} from './compile.mjs';
import {allDefects} from './defects/all.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each(allDefects)(
  'src still has the place of this defect, and can be compiled with it: $name',
  ({edits}) => {
    const files = new Set(edits.map(([file]) => file));
    for (const file of files) {
      const code = readFileSync(root + file, 'utf8');
      const own = edits.filter(([of]) => of === file);
      const changed = edited(code, own);
      expect(changed).not.toBe(code);
      expect(() => parseAst(changed, {lang: 'ts'})).not.toThrow();
    }
  },
);

test('each defect has a name of its own', () => {
  const names = allDefects.map(({name}) => name);
  expect(new Set(names).size).toBe(names.length);
});
