import {expect, test} from 'vitest';
import {lists} from '../columns/lists/all.ts';
import {newDirectory} from '../support/new-directory.ts';
import {demandGoodAdvice, followKnown} from './advice.ts';

/** The country of lists from elsewhere than Germany. The user fills it in. */
const COUNTRIES: Readonly<Record<string, string>> = {
  'full-width digits without a country': 'JP',
  'US digits with names beside them': 'US',
};

const within = newDirectory();

/** The lists that a run refuses: columns/lists.test.ts holds that the others have a plan. */
const refused = lists.filter(({becomes}) => !becomes.includes('→'));

test.each(refused)('$name', async situation => {
  await demandGoodAdvice(within('list'), situation, COUNTRIES[situation.name] ?? 'DE');
});

test('advice on lists of known values: some of them here, all in the soak', async () => {
  expect(await followKnown(within(), index => index % 44 === 4)).toBeGreaterThan(8);
});
