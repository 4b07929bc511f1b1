import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';

const root = join(import.meta.dirname, '../..');

/** `a/{b,c}.ts` → `a/b.ts`, `a/c.ts`. */
function expand(pattern: string): string[] {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(',').map(name => before + name + after);
}

test('the table of results names files that exist', () => {
  const table = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const names = [...table.matchAll(/^\| `([\w/-]+\.ts)` \|/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter(name => !existsSync(join(root, 'src', name)))).toEqual([]);
});

test.each(['test/mutation/run.mjs', 'vitest.soak.config.ts'])('%s names files that exist', file => {
  const text = readFileSync(join(root, file), 'utf8');
  const quoted = [...text.matchAll(/'((?:src|test)\/[\w/{},.-]+\.ts)'/g)].flatMap(([, name = '']) =>
    expand(name),
  );
  const sampled = [...(/sampled = \[(.*?)\];/s.exec(text)?.[1] ?? '').matchAll(/'([^']+)'/g)];
  const names = [...quoted, ...sampled.map(([, name]) => `test/${name}.test.ts`)];
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter(name => !existsSync(join(root, name)))).toEqual([]);
});
