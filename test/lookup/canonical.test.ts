import {getCountries, getExampleNumber} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {describe, expect, test} from 'vitest';
import type {Canonical} from '../../src/operations/canonical.ts';
import {canonicalEmail} from '../../src/operations/email.ts';
import {canonicalIp} from '../../src/operations/ip.ts';
import {canonicalPhone} from '../../src/operations/phone.ts';
import {canonicalToken} from '../../src/operations/verify.ts';

/** A canonical value as one text: the value, `empty`, or the code behind a `!`. */
function shown(canonical: Canonical): string {
  if (canonical.state === 'value') return canonical.value;
  return canonical.state === 'empty' ? 'empty' : `!${canonical.code}`;
}

test.each([
  '',
  '  ',
  '-',
  '---',
  'null',
  '(NULL)',
  '\\N',
  'n/a',
  'NA',
  '#N/A',
  'NaN',
  'none',
  'nil',
  'undefined',
])('what exports write for nothing is empty: %j', text => {
  for (const canonical of [
    canonicalIp,
    canonicalEmail,
    canonicalToken,
    (t: string) => canonicalPhone(t, 'US'),
  ])
    expect(canonical(text).state).toBe('empty');
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1\t', '192.0.2.1'],
  ['192.0.2.1\u00A0', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['2001:db8::1', '!ipv6_unsupported'],
  ['fe80::1%eth0', '!ipv6_unsupported'],
  ['192.0.2.1:8080', '!ip_with_port'],
  ['192.0.2.0/24', '!ip_range'],
  ['192.0.2.1, 198.51.100.7', '!ip_list'],
  ['192.0.2.1 2001:db8::1', '!ip_list'],
  ['192.0.2.256', '!ip_malformed'],
  ['192.0.2', '!ip_malformed'],
  ['192.0.02.1', '!ip_malformed'],
  ['0xC0000201', '!ip_malformed'],
  ['3221225985', '!ip_malformed'],
  ['localhost', '!ip_malformed'],
  ["'192.0.2.1", '!leading_apostrophe'],
  ['1.92E+11', '!scientific_notation'],
])('IP %j → %s', (text, expected) => {
  expect(shown(canonicalIp(text))).toBe(expected);
});

test.each([
  ['+1 (202) 555-0143', undefined, '+12025550143'],
  ['tel:+1-202-555-0143', undefined, '+12025550143'],
  ['+1 202 555 0143 ext. 5', undefined, '+12025550143'],
  ['+１２０２５５５０１４３', undefined, '+12025550143'],
  ['(202) 555-0143', 'US', '+12025550143'],
  ['202.555.0143', ' us ', '+12025550143'],
  ['1 202 555 0143', 'US', '+12025550143'],
  ['011 44 20 7946 0958', 'US', '+442079460958'],
  ['020 7946 0958', 'GB', '+442079460958'],
  ['+44 (0)20 7946 0958', undefined, '+442079460958'],
  ['00 44 20 7946 0958', 'DE', '+442079460958'],
  ['+44 20 7946 0958', 'US', '+442079460958'],
  ['030/23125000', 'DE', '+493023125000'],
  ['+39 06 1234567', undefined, '+39061234567'],
  ['(202) 555-0143', undefined, '!country_unknown'],
  ['(202) 555-0143', 'XX', '!country_unknown'],
  ['0044 20 7946 0958', undefined, '!country_unknown'],
  ['+1 202 555 01433', undefined, '!phone_too_long'],
  ['+1234567890123456789', undefined, '!phone_too_long'],
  ['+1 555', undefined, '!phone_too_short'],
  ['12', 'US', '!phone_too_short'],
  ['101-0000', 'CA', '!phone_too_short'],
  ['1-800-FLOWERS', 'US', '!phone_malformed'],
  ['+999 1234567', undefined, '!phone_malformed'],
  ['unknown', 'US', '!phone_malformed'],
  ['sales@example.com', 'US', '!phone_malformed'],
  ['+1 202 555 0143 / +1 202 555 0144', undefined, '!phone_list'],
  ['2025550143;2025550144', 'US', '!phone_list'],
  ["'+12025550143", undefined, '!leading_apostrophe'],
  ['4.47E+11', undefined, '!scientific_notation'],
  ['4,47E+11', 'DE', '!scientific_notation'],
])('phone %j (%s) → %s', (text, country, expected) => {
  expect(shown(canonicalPhone(text, country))).toBe(expected);
});

test('a phone number is never judged by whether its range is assigned', () => {
  expect(shown(canonicalPhone('+1 555 555 0100', undefined))).toBe('+15555550100');
});

describe('a mobile number of each country', () => {
  test.each(getCountries())('%s: its national and international forms are one value', country => {
    const number = getExampleNumber(country, examples);
    if (number === undefined) return;
    const forms = [number.formatInternational(), number.format('RFC3966'), number.number];
    for (const form of forms) expect(shown(canonicalPhone(form, undefined))).toBe(number.number);
    expect(shown(canonicalPhone(number.formatNational(), country))).toBe(number.number);
  });
});

test.each([
  ['jo@example.com', 'jo@example.com'],
  [' Jo.Doe+tag@EXAMPLE.Com ', 'Jo.Doe+tag@example.com'],
  ['jo@example.com.', 'jo@example.com'],
  ['jo@bücher.example', 'jo@xn--bcher-kva.example'],
  ['jo@BÜCHER.example', 'jo@xn--bcher-kva.example'],
  ['jo@xn--bcher-kva.example', 'jo@xn--bcher-kva.example'],
  ['jo@example。com', 'jo@example.com'],
  ['jö@example.com', 'jö@example.com'],
  ['"jo doe"@example.com', '"jo doe"@example.com'],
  [`${'x'.repeat(64)}@example.com`, `${'x'.repeat(64)}@example.com`],
  [`${'x'.repeat(65)}@example.com`, '!email_malformed'],
  [`jo@${'x'.repeat(64)}.com`, '!email_malformed'],
  [`jo@${'example.'.repeat(32)}com`, '!email_malformed'],
  ['jo', '!email_malformed'],
  ['jo@', '!email_malformed'],
  ['@example.com', '!email_malformed'],
  ['jo@@example.com', '!email_malformed'],
  ['jo@localhost', '!email_malformed'],
  ['jo@192.0.2.1', '!email_malformed'],
  ['jo@[192.0.2.1]', '!email_malformed'],
  ['jo@0x7f.1', '!email_malformed'],
  ['jo@exa%6dple.com', '!email_malformed'],
  ['jo@example.com/path', '!email_malformed'],
  ['jo@exa_mple.com', '!email_malformed'],
  ['jo@-example.com', '!email_malformed'],
  ['.jo@example.com', '!email_malformed'],
  ['jo..doe@example.com', '!email_malformed'],
  ['jo doe@example.com', '!email_malformed'],
  ['mailto:jo@example.com', '!email_malformed'],
  ['Jo Doe <jo@example.com>', '!email_display_name'],
  ['<jo@example.com>', '!email_display_name'],
  ['jo@example.com; al@example.com', '!email_list'],
  ['jo@example.com,al@example.com', '!email_list'],
  ["'jo@example.com", '!leading_apostrophe'],
])('e-mail %j → %s', (text, expected) => {
  expect(shown(canonicalEmail(text))).toBe(expected);
});

test.each([
  [' abc.DEF_123 ', 'abc.DEF_123'],
  ['two words', '!token_malformed'],
])('token %j → %s', (text, expected) => {
  expect(shown(canonicalToken(text))).toBe(expected);
});
