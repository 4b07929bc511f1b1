import {expect, test} from 'vitest';
import {usesOf} from '../../../src/run/counts/shared-uses.ts';

test('the limits of a day and a month are in credits, each with its own use; one that is not set is left out', () => {
  expect(usesOf([])).toEqual({});
  expect(
    usesOf([
      {period: 'day', limit: 100_000, used: 2_500, lacked: 0},
      {period: 'month', limit: 900_000, used: 80_000, lacked: 400},
    ]),
  ).toEqual({per_day: {limit: 100, used: 2.5}, per_month: {limit: 900, used: 80, lacked: 0.4}});
});
