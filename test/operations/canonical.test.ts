import {fileURLToPath} from 'node:url';
import {getCountries, getExampleNumber} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {describe, expect, test} from 'vitest';
import {type CanonicalCell, readCell} from '../../src/operations/cell.ts';
import {parsePhoneCountry} from '../../src/operations/country.ts';
import {canonicalEmail} from '../../src/operations/email.ts';
import {canonicalIp} from '../../src/operations/ip.ts';
import {phoneHabits} from '../../src/operations/phone/bare-digits.ts';
import {canonicalPhone} from '../../src/operations/phone.ts';
import {operations} from '../../src/operations/table.ts';
import {
  ALWAYS_PASS_ACTION_ID,
  canonicalToken,
  NEVER_PASS_ACTION_ID,
  perVerifyInput,
  verifyInputs,
} from '../../src/operations/verify.ts';
import {casesOf, expectText} from '../support/told.ts';

/** A canonical value as one text: the value and what was repaired, `empty`, or the code behind a `!`. */
function shown(canonical: CanonicalCell): string {
  if (canonical.state === 'value') return [canonical.value, ...(canonical.repairs ?? [])].join(' ');
  return canonical.state === 'invalid' ? `!${canonical.code}` : canonical.state;
}

/** How a text of each part of canonical.txt is read; `▸` parts it from its country, or from the entry that is meant. */
const readings: readonly ((text: string, other?: string) => string)[] = [
  text => shown(canonicalIp(text)),
  (text, ipFromList) => shown(canonicalIp(text, undefined, {ipFromList: ipFromList as 'first'})),
  (text, country) => shown(canonicalPhone(text, country)),
  text => Object.values(parsePhoneCountry(text) ?? {none: 'none'}).join(),
  text => shown(canonicalEmail(text)),
  text => shown(canonicalToken(text)),
  text => shown(verifyInputs.id.canonical(text)),
];

test('each text is the value, or has the fault, that canonical.txt says', async () => {
  const path = fileURLToPath(new URL('canonical.txt', import.meta.url));
  const told = casesOf(path).map((cases, part) =>
    cases.map(one => {
      if (one.startsWith('#')) return one;
      const [text = '', other] = one.split(' ▸ ');
      return `${one} => ${readings[part]?.(text.startsWith('"') ? JSON.parse(text) : text, other)}`;
    }),
  );
  expectText(path, `${told.map(lines => lines.join('\n')).join('\n\n')}\n`);
});

test.each(['jo..x@docomo.ne.jp', 'jo.@DOCOMO.ne.jp', '.jo@ezweb.ne.jp'])(
  'e-mail: %s is looked up, as old mobile addresses of Japan may have such dots',
  text => {
    expect(shown(canonicalEmail(text))).toBe(text.replace('DOCOMO', 'docomo'));
    expect(shown(canonicalEmail(text.replace(/@.*/, '@example.jp')))).toBe('!email_malformed');
  },
);

test.each([
  ...['', '  ', '-', '---', 'null', '(NULL)', '\\N', 'n/a', 'NA', '#N/A', 'NaN', 'none', 'nil', 'undefined'],
  ...['#ERROR!', '#NULL!', '#SPILL!', '#CALC!', '#FIELD!', '########', 'Loading...', '[object Object]'],
  ...[
    '#¡VALOR!',
    '#¿NOMBRE?',
    '#N/D',
    '#Н/Д',
    '#UNPARSEABLE',
    '#NO MATCH',
    '#Error',
    '##',
    'Err :502',
    '<NA>',
  ],
  ...['[deleted]', 'TBC', 'same as above', 'null@', '@', 'undefined@undefined', 'T.B.C.', 'Ditto', 'idem'],
  ...['[removed]', '[Redacted]', 'see above', 'siehe oben'],
  ...['?', '…', '\u00A0', '\u200B', "'", '=""', '"n/a"', 'unknown', 'xxx', 'ohne', 'N/C', 'none given'],
  ...['TBD', '#REF!', 'k.A.', 'Keine Angabe', 'Non renseigné', 'desconocido', 'não informado', 'n.d.'],
  ...['n.v.t.', 'brak', 'saknas', 'yok', 'нет данных', '不明'],
])('what exports write for nothing is empty: %j', text => {
  for (const canonical of [canonicalIp, canonicalEmail, canonicalToken, canonicalPhone])
    expect(canonical(text, 'US').state).toBe('empty');
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
    const separated = [' - ', '.', '-'].map(sign => `\t${international.replaceAll(' ', sign)}\u00A0`);
    for (const form of [international, number.format('RFC3966'), number.number, ...separated])
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
  [`${'n'.repeat(64)}@example.com`, `${'n'.repeat(64)}@example.com`],
  [`${'n'.repeat(65)}@example.com`, '!email_malformed'],
  [`jo@${'n'.repeat(64)}.com`, '!email_malformed'],
  [`jo@${'example.'.repeat(32)}com`, '!email_malformed'],
  [`${'ö'.repeat(32)}@example.com`, `${'ö'.repeat(32)}@example.com`],
  [`${'ö'.repeat(33)}@example.com`, '!email_malformed'],
  [`${'n'.repeat(64)}@${longDomain(189)}`, `${'n'.repeat(64)}@${longDomain(189)}`],
  [`${'n'.repeat(64)}@${longDomain(190)}`, '!email_malformed'],
  ['1'.repeat(251), '!phone_too_long'],
  [`+1${' ('.repeat(5_001)}`, '!cell_too_long'],
  [`+1;ext=${'9'.repeat(1_000_000)}`, '!cell_too_long'],
])('of any length: %#', (text, expected) => {
  const canonical = text.includes('@') ? canonicalEmail(text) : canonicalPhone(text, 'DE');
  expect(shown(canonical)).toBe(expected);
});

test('values sent beside a token are part of its identity; test actions are free', () => {
  expect(perVerifyInput(({param}) => param)).toEqual({id: 'id', email: 'email', phone: 'phone_number'});
  const token = {action_id: 'login', token: 't'};
  const sent = {...token, id: 'u', email: 'jo@example.com', phone_number: '+12025550143'};
  const {keyText, isFree} = operations.verify;
  const texts = Object.keys(sent).map(name => keyText({...sent, [name]: 'other'}));
  expect(new Set([keyText(sent), ...texts]).size).toBe(6);
  const actions = [ALWAYS_PASS_ACTION_ID, NEVER_PASS_ACTION_ID, 'login'];
  expect(actions.map(action_id => isFree({...sent, action_id}))).toEqual([true, true, false]);
});

test('a user never gets the verdict on another, wherever the same texts were sent', () => {
  const {keyText} = operations.verify;
  const token = {action_id: 'login', token: 't'};
  const calls = [
    ...[{id: 'u'}, {email: 'u'}, {phone_number: 'u'}, {id: 'u,v', email: 'w'}, {id: 'u', email: 'v,w'}],
    ...[{token: 't,u'}, {id: 'u","v', email: 'w'}, {id: 'u', email: 'v","w'}],
  ].map(own => keyText({...token, ...own}));
  expect(new Set(calls).size).toBe(calls.length);
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
    ['a\u0007', undefined, 'invalid'],
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
