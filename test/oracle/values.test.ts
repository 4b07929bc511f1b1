import {readFileSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {newDirectory} from '../support/new-directory.ts';
import {followKnown} from './advice.ts';
import {undecidableCases} from './known-list.ts';
import {play, tableOf, totalsOf} from './play.ts';

const within = newDirectory();
const path = new URL('README.md', import.meta.url);

const isSoak = process.env.SOAK !== undefined;

test.skipIf(isSoak)(
  'a fixed fortieth of all lists: no value is bought as another, and no column with values goes unnamed',
  () => {
    const {wrong, unnamed, right} = totalsOf(play(index => (index * 7) % 40 === 3));
    expect([...wrong, ...unnamed]).toEqual([]);
    expect(right).toBeGreaterThan(1_200);
  },
);

test.runIf(isSoak)(
  'all lists: nothing is bought as another value; README.md has the figures (UPDATE=1 writes them)',
  () => {
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
  },
);

test.runIf(isSoak)('advice on all lists of known values', async () => {
  expect(await followKnown(within(), () => true)).toBeGreaterThan(500);
});
