import {expect, test} from 'vitest';
import {troubleLines} from '../../src/cli/terminal/trouble.ts';
import type {Settings} from '../../src/job/settings.ts';

const heading = {heading: 'Wrong:', allIn: 'the summary', settings: {}};

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

test.each<[string, Partial<Settings>, RegExp]>([
  ['ip.ip_list', {ipFromList: 'first'}, /--ip-from-list/],
  ['phone.country_unknown', {country: 'land'}, /--country /],
  ['phone.country_unknown', {defaultCountry: 'US'}, /--default-country/],
  ['rejected.column_count', {padShortRows: true}, /--pad-short-rows/],
  ['rejected.invalid_encoding', {encoding: 'utf-8'}, /name its encoding/],
])('nobody is told to say what was said: %s with %j', (code, settings, flag) => {
  const line = (more: Partial<Settings>) =>
    troubleLines({...heading, settings: more}, [{code, count: 1, rows: [1]}]).join();
  expect(line({encoding: 'auto', padShortRows: false})).toMatch(flag);
  expect(line(settings)).not.toMatch(flag);
  expect(line(settings)).toMatch(/\(.+\)$/);
});
