import {expect, test} from 'vitest';
import {describeUnknownCountry} from '../../src/columns/first-row-checks.ts';
import {createCellReader} from '../../src/columns/targets.ts';
import {csvRows} from '../lookup/rows.ts';

const land = createCellReader('land', ['land']);
const doubtOf = (...countries: string[]) =>
  describeUnknownCountry('land', land, csvRows(...countries.map(country => [country])));

test.each([
  ['DE', 'Austria', '+49', 'n/a', '-', '', ' '],
  ['unknown', 'none', 'FR'],
])('countries, and cells that say that there is none, are not doubted: %j …', (...countries) => {
  expect(doubtOf(...countries)).toBeUndefined();
});

test('a long cell is cut: a message is no place for a person’s notes', () => {
  expect(doubtOf(`Atlantis${'x'.repeat(60)}`)).toMatch(/^"land" holds "Atlantisx{32}" \(row 1\); /);
});
