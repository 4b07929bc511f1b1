import {readFileSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {undecidableCases} from './known-list.ts';
import {play, tableOf, totalsOf} from './play.ts';

const path = new URL('../../docs/formats.md', import.meta.url);

test('all lists: nothing is bought as another value; docs/formats.md has the figures (UPDATE=1 writes them)', () => {
  const played = play(() => true);
  const {wrong, unnamed} = totalsOf(played);
  expect([...wrong, ...unnamed]).toEqual([]);
  const docs = readFileSync(path, 'utf8');
  const table = /(\| values \|[^\n]*\n\|[-| ]*\|\n)(?:\|[^\n]*\n)*/;
  const right = docs.replace(table, (_, head: string) => `${head}${tableOf(played)}\n`);
  if (process.env.UPDATE === '1') writeFileSync(path, right);
  expect(right).toMatch(table);
  expect(readFileSync(path, 'utf8')).toBe(right);
  for (const words of Object.values(undecidableCases)) expect(docs).toContain(words);
});
