import {getCountries, getExampleNumber} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {describe, expect, test} from 'vitest';
import type {CanonicalCell} from '../../src/operations/canonical.ts';
import {readCell} from '../../src/operations/cell.ts';
import {parsePhoneCountry} from '../../src/operations/country.ts';
import {canonicalEmail} from '../../src/operations/email.ts';
import {canonicalIp} from '../../src/operations/ip.ts';
import {canonicalPhone, phoneHabits} from '../../src/operations/phone.ts';
import {operations} from '../../src/operations/table.ts';
import {
  ALWAYS_PASS_ACTION_ID,
  canonicalToken,
  NEVER_PASS_ACTION_ID,
  perVerifyInput,
  verifyInputs,
} from '../../src/operations/verify.ts';

/** A canonical value as one text: the value and what was repaired, `empty`, or the code behind a `!`. */
function shown(canonical: CanonicalCell): string {
  if (canonical.state === 'value') return [canonical.value, ...(canonical.repairs ?? [])].join(' ');
  return canonical.state === 'invalid' ? `!${canonical.code}` : canonical.state;
}

test.each(['jo..x@docomo.ne.jp', 'jo.@DOCOMO.ne.jp', '.jo@ezweb.ne.jp'])(
  'e-mail: %s is looked up, as old mobile addresses of Japan may have such dots',
  text => {
    expect(shown(canonicalEmail(text))).toBe(text.replace('DOCOMO', 'docomo'));
    expect(shown(canonicalEmail(text.replace(/@.*/, '@example.jp')))).toBe('!email_malformed');
  },
);

test.each([
  ...['', '  ', '-', '---', 'null', '(NULL)', '\\N', 'n/a', 'NA', '#N/A', 'NaN', 'none', 'nil', 'undefined'],
  ...[
    '?',
    '…',
    '\u00A0',
    '\u200B',
    "'",
    '=""',
    '"n/a"',
    'unknown',
    'xxx',
    'ohne',
    'N/C',
    'none given',
    'TBD',
  ],
  ...['#REF!', 'k.A.', 'Keine Angabe', 'Non renseigné', 'desconocido', 'não informado', 'n.d.', 'n.v.t.'],
  ...['brak', 'saknas', 'yok', 'нет данных', '不明'],
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
  ['192.0.2.1\u00A0', '192.0.2.1 invisible_characters'],
  ['\uFEFF192.0.2.1', '192.0.2.1 invisible_characters'],
  ['192.0.\u200B2.1', '192.0.2.1 invisible_characters'],
  ['="192.0.2.1"', '192.0.2.1 formula_text'],
  ['"192.0.2.1"', '192.0.2.1 quoted'],
  ['192.0.2.1:65536', '!ip_with_port'],
  ['[192.0.2.1]', '192.0.2.1 brackets'],
  ['[::ffff:192.0.2.1]:443', '192.0.2.1 brackets port'],
  ['[2001:db8::1]:443', '!ipv6_unsupported'],
  ['[2001:db8::1]', '!ipv6_unsupported'],
  ['2001:db8::1:443', '!ipv6_unsupported'],
  ['192.0.2.1\u0000', '!unreadable_characters'],
  ['192.0.2\uFFFD1', '!unreadable_characters'],
  ['\u202E1.2.0.291', '!unreadable_characters'],
  ['192.0.2.1, unknown', '!ip_list'],
  ['192.0.2.1,', '192.0.2.1 trailing_punctuation'],
  ['192.0.2.1.', '192.0.2.1 trailing_punctuation'],
  ['“192.0.2.1”', '192.0.2.1 quoted'],
  ['«192.0.2.1»،', '192.0.2.1 trailing_punctuation quoted'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  // A load balancer's or an office's own machines: the service knows nothing of them.
  ...[
    '0.0.0.0',
    '10.0.0.7',
    '127.0.0.1',
    '192.168.1.10',
    '172.16.0.1',
    '172.31.255.255',
    '100.64.0.9',
    '100.127.0.1',
  ]
    .concat(['169.254.1.1', '255.255.255.255', '10.0.0.7:80', '::ffff:10.0.0.7', '10.0.0.7/32'])
    .map(text => [text, '!ip_private']),
  ...['11.0.0.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '100.128.0.1', '192.169.0.1', '1.0.0.0'].map(
    text => [text, text],
  ),
  ['192.0.2.1/32', '192.0.2.1 host_mask'],
  ['2001:db8::1/128', '!ipv6_unsupported'],
  ['::ffff:192.0.2.1/128', '192.0.2.1 host_mask'],
  ['192.0.2.1/128', '!ip_malformed'],
  ['192.0.2/32', '!ip_malformed'],
  ['10.0.0.7, 192.0.2.1', '!ip_list'],
  ['2001:db8::1', '!ipv6_unsupported'],
  ['fe80::1%eth0', '!ipv6_unsupported'],
  ['192.0.2.1:8080', '192.0.2.1 port'],
  ['192.0.2.0/24', '!ip_range'],
  ['192.0.2.1, 198.51.100.7', '!ip_list'],
  ['192.0.2.1 2001:db8::1', '!ip_list'],
  ['192.0.2.256', '!ip_malformed'],
  ['192.0.2', '!ip_malformed'],
  ['192.0.02.1', '!ip_malformed'],
  ['0xC0000201', '!ip_malformed'],
  ['3221225985', '!ip_number'],
  ['localhost', '!ip_malformed'],
  ["'192.0.2.1", '192.0.2.1 leading_apostrophe'],
  ["'[192.0.2.1]:80", '192.0.2.1 leading_apostrophe brackets port'],
  ["'192.0.2.1;", '192.0.2.1 leading_apostrophe trailing_punctuation'],
  ['192.0.2.1:65535', '192.0.2.1 port'],
  ['192.0.2.1:123456', '!ip_malformed'],
  ['x192.0.2.1:80', '!ip_malformed'],
  ['192.0.2.1:80x', '!ip_malformed'],
  ['[192.0.2.1]:123456', '!ip_malformed'],
  ['x[192.0.2.1]', '!ip_malformed'],
  ['[192.0.2.1]x', '!ip_malformed'],
  ['[[192.0.2.1]]', '!ip_malformed'],
  ['[192.0.2]', '!ip_malformed'],
  ['192.0.2.0/8', '!ip_range'],
  ['192.0.2.0/244', '!ip_malformed'],
  ['x192.0.2.0/24', '!ip_malformed'],
  ['192.0.2.0/24x', '!ip_malformed'],
  ['192.0.2.1; 198.51.100.7', '!ip_list'],
  ['192.0.2.1|198.51.100.7', '!ip_list'],
  ['192.0.2.1 192.0.2.1:65536', '!ip_list'],
  ['192.0.2.1 192.0.2.0/24', '!ip_malformed'],
  ['4E+11', '!scientific_notation'],
  ['+4,47e11', '!scientific_notation'],
  ['19.25E-11', '!scientific_notation'],
  ['19E+110', '!scientific_notation'],
  ['4E+11x', '!ip_malformed'],
  ['x4E+11', '!ip_malformed'],
  ['4.E+11', '!ip_malformed'],
  ['1.92E+11', '!scientific_notation'],
])('IP %j → %s', (text, expected) => {
  expect(shown(canonicalIp(text))).toBe(expected);
});

test.each([
  ['192.0.2.1, 198.51.100.7', 'first', '192.0.2.1 list_entry'],
  ['192.0.2.1, 198.51.100.7', 'last', '198.51.100.7 list_entry'],
  ['192.0.2.1, 198.51.100.7', 'only', '!ip_list'],
  ['192.0.2.1, 192.0.2.1:80', 'only', '192.0.2.1 list_entry'],
  ['192.0.2.1,', 'only', '192.0.2.1 list_entry'],
  ['192.0.2.1:4711 198.51.100.7', 'first', '192.0.2.1 list_entry port'],
  ['2001:db8::1, 198.51.100.7', 'first', '!ipv6_unsupported'],
  ['unknown, 198.51.100.7', 'first', '!ip_list'],
  ['10.0.0.7, 198.51.100.7', 'first', '!ip_private'],
  ['198.51.100.7, 10.0.0.7', 'first', '198.51.100.7 list_entry'],
  ['192.0.2.1/32, 198.51.100.7', 'first', '192.0.2.1 list_entry host_mask'],
  ['192.0.2.1, nothing', 'first', '!ip_malformed'],
  ['192.0.2.1, unknown', 'last', '!ip_list'],
  ['192.0.2.1,', 'last', '192.0.2.1 list_entry'],
  ['192.0.2.1, 2001:db8::1', 'only', '!ip_list'],
  ['2001:db8::1, 2001:db8::2', 'only', '!ipv6_unsupported'],
  ['[192.0.2.1], 198.51.100.7', 'first', '192.0.2.1 list_entry brackets'],
  ['[192.0.2.1]:80', 'first', '192.0.2.1 brackets port'],
  ['"192.0.2.1 198.51.100.7"', 'first', '192.0.2.1 quoted list_entry'],
] as const)('IP list %j, %s → %s', (text, ipFromList, expected) => {
  expect(shown(canonicalIp(text, undefined, {ipFromList}))).toBe(expected);
});

test.each([
  ['+1 (202) 555-0143', undefined, '+12025550143'],
  ['tel:+1-202-555-0143', undefined, '+12025550143 uri'],
  // A program's number: its .0 was once taken for a digit, and the number that came out was bought.
  ['30901820.0', 'DE', '+4930901820 decimal_zero'],
  ['30901820.0', undefined, '!country_unknown'],
  ['2025550143.0', 'US', '+12025550143 decimal_zero'],
  ['2025550143,00', 'US', '+12025550143 decimal_zero'],
  ['12025550143.0', 'US', '+12025550143 decimal_zero'],
  ['+12025550143.0', undefined, '+12025550143 decimal_zero'],
  // Rome's 06 1234567 without the zero that belongs to it.
  ['61234567.0', 'IT', '!decimal_number'],
  // With the zero that a spreadsheet takes, this is another valid number.
  ['6031339.0', 'GA', '!decimal_number'],
  ['30901820.5', 'DE', '!decimal_number'],
  ['2025550143.25', 'US', '!decimal_number'],
  ['030/901820.0', 'DE', '!decimal_number'],
  ['01.99.00.83.16', 'FR', '+33199008316'],
  // Dates, of which libphonenumber takes the digits: a row that is shifted by a column has them.
  ['2026-01-31', 'DE', '!phone_date'],
  ['31.01.2026', 'DE', '!phone_date'],
  ['1/31/2026', 'US', '!phone_date'],
  ['2.025.550.143', 'US', '+12025550143'],
  ['2025550143.0\u00A0', 'US', '+12025550143 invisible_characters decimal_zero'],
  ['="12025550143"', 'US', '+12025550143 formula_text'],
  ['\u202A+1 202 555 0143\u202C', undefined, '+12025550143 invisible_characters'],
  ['+1\u00A0202\u00A0555\u00A00143', undefined, '+12025550143 invisible_characters'],
  ['+12025550143\n+12025550144', undefined, '!phone_list'],
  ['030 23125 001', 'Germany', '+493023125001'],
  ['030 23125 001', 'Deutschland', '+493023125001'],
  ['030 23125 001', 'Allemagne', '+493023125001'],
  ['030 23125 001', 'DEU', '+493023125001'],
  ['030 23125 001', '+49', '+493023125001'],
  ['030 23125 001', '0049', '+493023125001'],
  ['030 23125 001', '49', '!country_unknown'],
  ['030 23125 001', 'Germanny', '!country_unknown'],
  ['020 7946 0958', 'UK', '+442079460958'],
  ['(202) 555-0143', 'United States of America', '+12025550143'],
  ['(202) 555-0143', '+1', '+12025550143'],
  ['(202) 555-0143', 'Congo', '!country_unknown'],
  ['+1 202 555 0143 ext. 5', undefined, '+12025550143 extension'],
  ['(202) 555-0143 x12', 'US', '+12025550143 extension'],
  ['tel:+12025550143;ext=12', undefined, '+12025550143 uri extension'],
  ['tel:+12025550143;isub=12', undefined, '+12025550143 uri extension'],
  ['2025550143 ext. 5;', 'US', '+12025550143 trailing_punctuation extension'],
  ['+１２０２５５５０１４３', undefined, '+12025550143 folded'],
  // The full-width sign was left out, and the number of another country bought.
  ['＋１２０２５５５０１４３', 'JP', '+12025550143 folded'],
  ['﹢12025550143', 'JP', '+12025550143'],
  ['(+1)2025550143', 'DE', '+12025550143'],
  ['(+44) 20 7946 0958', undefined, '+442079460958'],
  ['(＋44) (0)20 7946 0958', 'US', '+442079460958 folded'],
  ['(+44 20 7946 0958)', undefined, '+442079460958'],
  // Placeholders of forms without a number.
  ['0000000000', 'US', 'empty'],
  ['0000000000', undefined, 'empty'],
  ['000-000-0000', 'US', 'empty'],
  ['(000) 000-0000', 'US', 'empty'],
  ['+1 000 000 0000', undefined, 'empty'],
  ['+0000000000', undefined, 'empty'],
  ['0', 'DE', 'empty'],
  ['0.0', 'DE', 'empty'],
  ['００００００００', 'JP', 'empty'],
  ['+1 202 000 0000', undefined, '+12020000000'],
  ['(202) 555-0143', 'US', '+12025550143'],
  ['202.555.0143', ' us ', '+12025550143'],
  ['1 202 555 0143', 'US', '+12025550143'],
  ['011 44 20 7946 0958', 'US', '+442079460958'],
  // A spreadsheet takes the plus off: +49491713920001 was bought.
  ['491713920001', 'DE', '!calling_code_unclear'],
  ['49 171 3920002', 'DE', '!calling_code_unclear'],
  ['491713920004.0', 'DE', '!calling_code_unclear'],
  ['491713920001', '+49', '!calling_code_unclear'],
  ['４９１７１３９２０００１', 'DE', '!calling_code_unclear'],
  ['+491713920001', 'DE', '+491713920001'],
  ['00491713920001', 'DE', '+491713920001'],
  ['0491713920001', 'DE', '+49491713920001'],
  ['1713920001', 'DE', '+491713920001'],
  ['62812345678', 'ID', '!calling_code_unclear'],
  ['38343201234', 'XK', '!calling_code_unclear'],
  ['3906123456', 'IT', '!calling_code_unclear'],
  // No number of India, Brazil or Poland without what looks like its calling code.
  ['9198765432', 'IN', '+919198765432'],
  ['55961234567', 'BR', '+5555961234567'],
  ['481234567', 'PL', '+48481234567'],
  ['020 7946 0958', 'GB', '+442079460958'],
  ['+44 (0)20 7946 0958', undefined, '+442079460958'],
  ['00 44 20 7946 0958', 'DE', '+442079460958'],
  ['+44 20 7946 0958', 'US', '+442079460958'],
  ['030/23125000', 'DE', '+493023125000'],
  ['+39 06 1234567', undefined, '+39061234567'],
  ['(202) 555-0143', undefined, '!country_unknown'],
  ['(202) 555-0143', 'XX', '!country_unknown'],
  ['0044 20 7946 0958', undefined, '+442079460958'],
  ['+1 202 555 01433', undefined, '!phone_too_long'],
  ['+1234567890123456789', undefined, '!phone_too_long'],
  ['+1 555', undefined, '!phone_too_short'],
  ['12', 'US', '!phone_too_short'],
  ['101-0000', 'CA', '!phone_too_short'],
  ['1-800-FLOWERS', 'US', '!phone_malformed'],
  ['+999 1234567', undefined, '!phone_malformed'],
  ['not on file', 'US', '!phone_malformed'],
  ['sales@example.com', 'US', '!phone_malformed'],
  ['+1 202 555 0143 / +1 202 555 0144', undefined, '!phone_list'],
  ['2025550143;2025550144', 'US', '!phone_list'],
  ["'+12025550143", undefined, '+12025550143 leading_apostrophe'],
  ["'tel:+12025550143", undefined, '+12025550143 leading_apostrophe uri'],
  ['callto://+12025550143', undefined, '+12025550143 uri'],
  ['TEL:+12025550143', undefined, '+12025550143 uri'],
  ['tel: 30901820.0', 'DE', '+4930901820 uri decimal_zero'],
  ['a tel:+12025550143', undefined, '!phone_in_text'],
  ['no +12025550143', undefined, '!country_unknown'],
  ['30901820.000', 'DE', '+4930901820 decimal_zero'],
  ['(30901820.0', 'DE', '!decimal_number'],
  ['1234567890123456.0', 'DE', '!decimal_number'],
  ['12345.0', 'US', '!decimal_number'],
  ['30901820.0', 'US', '!decimal_number'],
  ['0039061234567.0', 'US', '+39061234567 decimal_zero'],
  ['“+12025550143”', undefined, '+12025550143 quoted'],
  ['‘2025550143’', 'US', '+12025550143 quoted'],
  ['+12025550143、', undefined, '+12025550143 trailing_punctuation'],
  ['+12025550143”', undefined, '!phone_in_text'],
  ['Phone: +12025550143', undefined, '!phone_in_text'],
  ['+1 202 555 0143 (work)', undefined, '!phone_in_text'],
  ['2025550143.255', 'US', '!phone_too_long'],
  ['12 x5', 'US', '!phone_malformed'],
  ['+1 202 555 01433 extension 5', undefined, '!phone_too_long'],
  ['+1 202 555 01433 x5', undefined, '!phone_too_long'],
  ['12', '+1', '!phone_too_short'],
  ['+1 202 555 0143 / 123456', undefined, '!phone_list'],
  ['030 23125001 / 002', 'DE', '!phone_list'],
  ['030 23125018 (12)', 'DE', '!phone_in_text'],
  ['030 / 23125018', 'DE', '+493023125018'],
  ['(0171) 3920011', 'DE', '+491713920011'],
  ['123-555-0100', 'US', '!phone_out_of_plan'],
  ['0000001234', 'GB', '!phone_out_of_plan'],
  ['01234', 'DE', '!phone_out_of_plan'],
  ['09999999999', 'GB', '!phone_out_of_plan'],
  ['07700 900123', 'GB', '+447700900123'],
  ['06 39 98 00 01', 'FR', '+33639980001'],
  ['+44 999 999 9999', undefined, '+449999999999'],
  ['289076710', 'IT', '!leading_zero_lost'],
  ['020 915 9395', 'IE', '+353209159395'],
  ['02 8907 6710', 'IT', '+390289076710'],
  ['1234567|1234567', 'US', '!phone_list'],
  ['4.47E+11', undefined, '!scientific_notation'],
  ['4,47E+11', 'DE', '!scientific_notation'],
])('phone %j (%s) → %s', (text, country, expected) => {
  expect(shown(canonicalPhone(text, country))).toBe(expected);
});

test.each([
  ['="DE"', 'DE'],
  ["'DE", 'DE'],
  ['\u200BDE', 'DE'],
  ['“Germany”', 'DE'],
  ['États-Unis', 'US'],
  ['Etats-Unis', 'US'],
  ['EE.UU.', 'US'],
  ['England', 'GB'],
  ['Scotland', 'GB'],
  ['Wales', 'GB'],
  ['Northern Ireland', 'GB'],
  ['DR Congo', 'CD'],
  ['Bosnia', 'BA'],
  ['Oesterreich', 'AT'],
  ['BRD', 'DE'],
  ['D', 'DE'],
  ['GER', 'DE'],
  ['SUI', 'CH'],
  ['🇩🇪', 'DE'],
  ['🇩🇪 Germany', 'DE'],
  ['Deutschland 🇩🇪', 'DE'],
  ['🇩🇪 France', undefined],
  ['🇩🇪🇫🇷', undefined],
  ['DE - Germany', 'DE'],
  ['Deutschland (DE)', 'DE'],
  ['Österreich', 'AT'],
  ['NA', 'NA'],
  ['DE - France', undefined],
  ['Congo', undefined],
])('country %j is %s', (text, code) => {
  expect(parsePhoneCountry(text)).toEqual(code && {defaultCountry: code});
});

test('a phone number in an unassigned range is still looked up', () => {
  expect(shown(canonicalPhone('+1 555 555 0100', undefined))).toBe('+15555550100');
});

test('a column whose numbers all end in .0 shows that it lost its pluses', () => {
  const cells = Array.from({length: 6}, (_, n) => [`3834320123${n}.0`, 'XK'] as const);
  expect(phoneHabits(cells)).toMatchObject({bare: 'international'});
});

describe('a mobile number of each country', () => {
  test.each(getCountries())('%s: its national and international forms are one value', country => {
    const number = getExampleNumber(country, examples);
    if (number === undefined) return;
    const international = number.formatInternational();
    const separated = [' - ', '.', '-'].map(
      separator => `\t${international.replaceAll(' ', separator)}\u00A0`,
    );
    const forms = [international, number.format('RFC3966'), number.number, ...separated];
    for (const form of forms)
      expect(canonicalPhone(form, undefined)).toMatchObject({state: 'value', value: number.number});
    expect(shown(canonicalPhone(number.formatNational(), country))).toBe(number.number);
    // As a spreadsheet leaves it: the same number, or none.
    const bare = number.number.slice(1);
    const unclear = ['DE', 'ID', 'XK'].includes(country);
    expect(shown(canonicalPhone(bare, country))).toBe(unclear ? '!calling_code_unclear' : number.number);
    expect(canonicalPhone(bare, country, {bare: 'international'})).toMatchObject({value: number.number});
  });
});

/** Three labels. */
const longDomain = (length: number) => ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(length - 128)].join('.');

test.each([
  ['jo@example.com', 'jo@example.com'],
  [' Jo.Doe+tag@EXAMPLE.Com ', 'Jo.Doe+tag@example.com'],
  ['jo@example.com.', 'jo@example.com trailing_punctuation'],
  ['jo@example.com;', 'jo@example.com trailing_punctuation'],
  ['jo@example.com،', 'jo@example.com trailing_punctuation'],
  ['jo@example.com、', 'jo@example.com trailing_punctuation'],
  ['jo@example.com。', 'jo@example.com folded trailing_punctuation'],
  ['“jo@example.com”,', 'jo@example.com trailing_punctuation quoted'],
  ...['“”', '„“', '‘’', '‚‘', '«»', '»«', '‹›', '""', "''"].map(
    ([open = '', close = '']): [string, string] => [`${open}jo@example.com${close}`, 'jo@example.com quoted'],
  ),
  ['jo@example.com”', '!email_in_text'],
  ['“jo@example.com', '!email_in_text'],
  ['o’neill@example.com', '!email_in_text'],
  ['jo@example.com (work)', '!email_in_text'],
  ['E-Mail: jo@example.com', '!email_in_text'],
  ['jo@l·l.example', 'jo@xn--ll-0ea.example'],
  ['jo@bücher.example', 'jo@xn--bcher-kva.example'],
  ['jo@BÜCHER.example', 'jo@xn--bcher-kva.example'],
  ['jo@xn--bcher-kva.example', 'jo@xn--bcher-kva.example'],
  ['jo@example。com', 'jo@example.com folded'],
  ['jö@example.com', 'jö@example.com'],
  ['"jo doe"@example.com', '"jo doe"@example.com'],
  [`${'n'.repeat(64)}@example.com`, `${'n'.repeat(64)}@example.com`],
  [`${'n'.repeat(65)}@example.com`, '!email_malformed'],
  [`jo@${'n'.repeat(64)}.com`, '!email_malformed'],
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
  ['jo doe@example.com', '!email_in_text'],
  ['mailto:jo@example.com', 'jo@example.com uri'],
  ['mailto:jo@example.com?subject=Hi', 'jo@example.com uri'],
  ['mailto:jo%2Bx@example.com', '!email_in_text'],
  ['jo\u200Ce@example.com', '!unreadable_characters'],
  ['j\uFFFD@example.com', '!unreadable_characters'],
  ['jo@example.com\u0000', '!unreadable_characters'],
  ['Jo Doe <jo@example.com>', 'jo@example.com display_name'],
  ['"Doe, Jo" <jo@example.com>', 'jo@example.com display_name'],
  ['Jo <mailto:jo@example.com>', 'jo@example.com display_name'],
  ['jo@example.com <JO@example.com>', 'JO@example.com display_name'],
  ['al@example.com <jo@example.com>', '!email_display_name'],
  ['Jo <jo@example.com>, Al <al@example.com>', '!email_list'],
  ['<jo@example.com>', 'jo@example.com brackets'],
  ['jo@example.com; al@example.com', '!email_list'],
  ['jo@example.com,al@example.com', '!email_list'],
  ['jo.example.com', '!email_malformed'],
  ['jo.@example.com', '!email_malformed'],
  ['".jo..doe."@example.com', '".jo..doe."@example.com'],
  ['jo@example.com..', 'jo@example.com trailing_punctuation'],
  [`${'ö'.repeat(32)}@example.com`, `${'ö'.repeat(32)}@example.com`],
  [`${'ö'.repeat(33)}@example.com`, '!email_malformed'],
  [`${'n'.repeat(64)}@${longDomain(189)}`, `${'n'.repeat(64)}@${longDomain(189)}`],
  [`${'n'.repeat(64)}@${longDomain(190)}`, '!email_malformed'],
  ['MAILTO:jo@example.com', 'jo@example.com uri'],
  ['mailto:jo@example.com?body=a\nb', 'jo@example.com uri'],
  ['mailto:jo@example.com%20', '!email_malformed'],
  ['xmailto:jo@example.com', '!email_in_text'],
  ['Jo < jo@example.com >', 'jo@example.com display_name'],
  ['Jo <MAILTO:jo@example.com>', 'jo@example.com display_name'],
  ['"" <jo@example.com>', 'jo@example.com brackets'],
  ['"JO@EXAMPLE.com" <jo@example.com>', 'jo@example.com display_name'],
  ["'al@example.com' <jo@example.com>", '!email_display_name'],
  ['<jo@example.com> Jo', '!email_in_text'],
  ['Jo <Jo <jo@example.com>', '!email_in_text'],
  ['Jo <jo@localhost>', '!email_malformed'],
  ['jo@example.com, al', '!email_in_text'],
  ['@jo@example.com al@example.com', '!email_in_text'],
  ['jo@example.com@ al@example.com', '!email_in_text'],
  ["'jo@example.com", 'jo@example.com leading_apostrophe'],
  ["'mailto:jo@example.com", 'jo@example.com leading_apostrophe uri'],
  ["'Jo <jo@example.com>", 'jo@example.com leading_apostrophe display_name'],
  ["'jo@example.com'", 'jo@example.com quoted'],
  ["o'neill@example.com", "o'neill@example.com"],
])('e-mail %j → %s', (text, expected) => {
  expect(shown(canonicalEmail(text))).toBe(expected);
});

test.each([
  [' abc.DEF_123 ', 'abc.DEF_123'],
  ['two words', '!token_malformed'],
])('token %j → %s', (text, expected) => {
  expect(shown(canonicalToken(text))).toBe(expected);
});

test.each([
  [' u 1 ', 'u 1'],
  ['"n/a"', '"n/a"'],
  ['  ', 'empty'],
  ['a\u0000', '!unreadable_characters'],
])('identifier %j → %s', (text, expected) => {
  expect(shown(verifyInputs.id.canonical(text))).toBe(expected);
});

test('values sent beside a token are part of its identity; test actions are free', () => {
  expect(perVerifyInput(({param}) => param)).toEqual({id: 'id', email: 'email', phone: 'phone_number'});
  const sent = {
    action_id: 'login',
    token: 't',
    id: 'u',
    email: 'jo@example.com',
    phone_number: '+12025550143',
  };
  const {keyText, isFree} = operations.verify;
  const texts = Object.keys(sent).map(name => keyText({...sent, [name]: 'other'}));
  expect(new Set([keyText(sent), ...texts]).size).toBe(6);
  const free = [ALWAYS_PASS_ACTION_ID, NEVER_PASS_ACTION_ID, 'login'].map(action_id =>
    isFree({...sent, action_id}),
  );
  expect(free).toEqual([true, true, false]);
});

test('a user never gets the verdict on another, wherever the same texts were sent', () => {
  const {keyText} = operations.verify;
  const token = {action_id: 'login', token: 't'};
  const calls = [
    {...token, id: 'u'},
    {...token, email: 'u'},
    {...token, phone_number: 'u'},
    {...token, id: 'u,v', email: 'w'},
    {...token, id: 'u', email: 'v,w'},
    {...token, token: 't,u'},
    {...token, id: 'u","v', email: 'w'},
    {...token, id: 'u', email: 'v","w'},
  ];
  expect(new Set(calls.map(keyText)).size).toBe(calls.length);
});

describe('a cell', () => {
  const read = (raw: string, empties?: readonly string[]) => {
    const cell = readCell(raw, {empties: empties && new Set(empties)});
    return cell.state === 'text' ? [cell.text, ...cell.repairs] : cell.state;
  };

  test.each<[string, readonly string[] | undefined, readonly string[] | string]>([
    ['a b', undefined, ['a b']],
    [' a b\t', undefined, ['a b']],
    ['a\u00A0b', undefined, ['a b', 'invisible_characters']],
    ['"\u200Ba"', undefined, ['a', 'invisible_characters', 'quoted']],
    ['="\'a\'"', undefined, ['a', 'formula_text', 'quoted']],
    ["' a", undefined, ['a', 'leading_apostrophe']],
    ['a"b', undefined, ['a"b']],
    ['é', undefined, ['é']],
    ['a\u0007', undefined, 'unreadable'],
    ['none of them', ['none'], ['none of them']],
    ['Redacted', ['redacted'], 'empty'],
    ['"REDACTED"', ['redacted'], 'empty'],
    [' redacted ', ['redacted'], 'empty'],
    ['redacted', ['other'], ['redacted']],
    ['', undefined, 'empty'],
  ])('%j, where %j is empty → %j', (raw, empties, expected) => {
    expect(read(raw, empties)).toEqual(expected);
  });
});

test.each([
  ['+12025550143', true],
  [' "+12025550143"', true],
  ["'+12025550143", true],
  ['x+12025550143', false],
  ['12025550143', false],
])('that %j speaks for a phone number: %s', (text, expected) => {
  expect(operations.phone.isTelling?.(text)).toBe(expected);
});
