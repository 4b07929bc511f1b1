import {expect, test} from 'vitest';
import {troubleLines} from '../../src/cli/terminal/trouble.ts';

const heading = {heading: 'Wrong:', allIn: 'the summary'};

test('hints are broken between words, and what is to be typed with its flag', () => {
  const lines = troubleLines(heading, [{code: 'phone.country_unknown', count: 3, rows: [4, 5, 6]}], 50);
  expect(lines).toEqual([
    'Wrong:',
    '  3 × phone.country_unknown: rows 4, 5, 6 (say',
    '    where they belong: --country COLUMN or',
    '    --default-country US)',
  ]);
  expect(troubleLines(heading, [{code: 'email.email_malformed', count: 1, rows: [4]}])).toEqual([
    'Wrong:',
    '  1 × email.email_malformed: row 4',
  ]);
});
