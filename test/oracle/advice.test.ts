import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {lists} from '../columns/lists/all.ts';
import {demandGoodAdvice, followKnown} from './advice.ts';

/** The country of lists from elsewhere than Germany. The user fills it in. */
const COUNTRIES: Readonly<Record<string, string>> = {
  'full-width digits without a country': 'JP',
  'US digits with names beside them': 'US',
};

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-advice-'));
});
afterAll(() => rmSync(directory, {recursive: true}));

/** The lists that a run refuses: columns/lists.test.ts holds that the others have a plan. */
const refused = lists.filter(({becomes}) => !becomes.includes('→'));

test.each(refused.map((situation, index) => ({...situation, index})))(
  '$name',
  async ({index, ...situation}) => {
    await demandGoodAdvice(join(directory, String(index)), situation, COUNTRIES[situation.name] ?? 'DE');
  },
);

test('advice on lists of known values: some of them here, all in the soak', async () => {
  expect(await followKnown(directory, index => index % 44 === 4)).toBeGreaterThan(8);
});
