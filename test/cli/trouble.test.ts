import {expect, test} from 'vitest';
import {formatTroubles} from '../../src/cli/terminal/outcome.ts';
import type {Settings} from '../../src/job/settings.ts';
import {codeMeaning} from '../../src/report/code-meanings.ts';

const heading = {heading: 'Wrong:', most: 2, allIn: 'the summary', settings: {}};

test('a code is followed by its words, which are broken between words', () => {
  const lines = formatTroubles(heading, [{code: 'phone.country_unknown', count: 3, rows: [4, 5, 6]}], 50);
  const [first, ...broken] = lines.slice(1);
  expect(lines[0]).toBe('Wrong:');
  expect(first).toMatch(/^ {2}3 × phone\.country_unknown, rows 4, 5, 6: \S/);
  expect(broken.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(50);
  for (const line of broken) expect(line).toMatch(/^ {4}\S.*\S$/);
  expect([first, ...broken].map(line => line?.trim()).join(' ')).toContain(
    codeMeaning('phone.country_unknown'),
  );
  expect(formatTroubles(heading, [{code: 'email.email_malformed', count: 1, rows: [4]}])).toEqual([
    'Wrong:',
    '  1 × email.email_malformed, row 4: Not an e-mail address.',
  ]);
});

test.each([
  ['email.http_503', /row 4: The service failed.*--force/],
  ['user.mail.http_503', /row 4: The service failed.*--force/],
  ['ip.http_429', /The service failed/],
  ['phone.http_404', /The service refused the call/],
])('a status alone, as in %s, is followed by its meaning', (code, expected) => {
  const lines = formatTroubles(heading, [{code, count: 1, rows: [4]}]);
  expect(lines.slice(1).join(' ')).toMatch(expected);
});

test.each<[string, Partial<Settings>, RegExp]>([
  ['ip.ip_list', {ipFromList: 'first'}, /--from-list/],
  ['email.email_list', {fromList: 'last'}, /--from-list/],
  ['phone.country_unknown', {country: ['land']}, /--country /],
  ['phone.country_unknown', {defaultCountry: 'US'}, /--default-country/],
  ['rejected.column_count', {padShortRows: true}, /--pad-short-rows/],
  ['rejected.invalid_encoding', {encoding: 'utf-8'}, /Name its encoding/],
])('the advice is never what was done already: %s with %j', (code, settings, flag) => {
  const line = (more: Partial<Settings>) =>
    formatTroubles({...heading, settings: more}, [{code, count: 1, rows: [1]}]).join();
  expect(line({encoding: 'auto', padShortRows: false})).toMatch(flag);
  expect(line(settings)).not.toMatch(flag);
  expect(line(settings)).toMatch(/: .+\. .+\.$/);
});
