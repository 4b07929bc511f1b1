import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {lists} from './lists/all.ts';
import {look} from './lists/situation.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-lists-'));
});
afterAll(() => rmSync(directory, {recursive: true}));

test('the table has 112 lists or more', () => expect(lists.length).toBeGreaterThanOrEqual(112));

test.each(lists.map((situation, index) => ({...situation, index})))(
  '$name',
  async ({index, ...situation}) => {
    const folder = join(directory, String(index));
    const {becomes, said} = await look(folder, situation);
    expect(becomes.replaceAll(`${folder}/`, ''), said).toBe(situation.becomes);
    for (const part of situation.says) expect(said.replaceAll(`${folder}/`, '')).toContain(part);
  },
);
