import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {UsageError} from '../../src/errors.ts';
import {casesOf, complaintOf, toldIn} from '../support/told.ts';
import {condition} from './score-helpers.ts';

const facts = {
  ip: {is_vpn: true, is_tor_node: false, asn_number: 64_500, city: 'Berlin', isp: null},
  email: {trust_score: 20},
  phone: {risk_score: '90'},
  verify: {verdict: {can_pass: false}, rules: [{action: 'block'}, {action: 'flag'}], email: {flags: ['a']}},
  status: {ip: 'ok', email: 'ok'},
  error: {ip: '', email: ''},
  row: {country: 'US', 'first name': 'Test'},
};

/** The decision, the names of what it lacks, and true if a value could not be used. */
function judged(text: string, given: object = facts) {
  const compiled = condition(text);
  const lacked = new Set<string>();
  const isWrong = compiled.missing({...given}, ({name}) => lacked.add(name));
  return [compiled.decide({...given}), [...lacked], isWrong];
}

describe('a condition over known answers', () => {
  test.each([
    ['ip.is_vpn', true],
    ['!ip.is_vpn', false],
    ['ip.is_vpn && !ip.is_tor_node', true],
    ['ip.is_tor_node || email.trust_score < 30', true],
    ['email.trust_score == 20', true],
    ['email.trust_score + 1 > 20.5', true],
    ['100 - email.trust_score == 80', true],
    ['100 - (email.trust_score + 10) == 70', true],
    ['verify.rules.exists(r, 100 - (email.trust_score - 10) == 90)', true],
    ['verify.rules.exists(r, -(ip.is_vpn ? 5.0 : 7.0) == -5)', true],
    ['verify.rules.exists(r, !(ip.is_tor_node ? true : false))', true],
    ['verify.rules.all(r, ip.is_tor_node == (r.action == "other"))', true],
    ['ip.asn_number in [64500, 64501]', true],
    ['ip.asn_number in [1, -2]', false],
    ['ip.city in ["Berlin", "Paris"]', true],
    ['size(ip.city) == 6', true],
    ['size(ip.city) - 1 == 5 && ip.city.substring(1) == "erlin"', true],
    ['!ip.city.contains("😀😀")', true],
    ['verify.rules[0].action == "block"', true],
    ['-email.trust_score < -5', true],
    ['status.email == "ok" && error.email == ""', true],
    ['row.country == "US" && row["first name"].startsWith("T")', true],
    ['verify.rules.exists(r, r.action == "block")', true],
    ['verify.rules.all(r, r.action == "block")', false],
    ['"a" in verify.email.flags', true],
    ['has(ip.city)', true],
    ['has(ip.postal_code) || has(ip.isp)', false],
    ['verify.verdict.can_pass == false', true],
    ['(ip.is_vpn ? 1.0 : 2.0) == 1.0', true],
  ])('%s is %s', (text, expected) => {
    expect(condition(text).decide(facts)).toBe(expected);
  });
});

describe('a condition on a missing field is undecided, unless the rest decides it', () => {
  test.each([
    ['ip.is_threat', undefined, ['ip.is_threat']],
    ['!ip.is_threat', undefined, ['ip.is_threat']],
    ['ip.is_threat == false', undefined, ['ip.is_threat']],
    ['ip.postal_code != "1"', undefined, ['ip.postal_code']],
    ['ip.isp == ""', undefined, ['ip.isp']],
    ['ip.is_threat || ip.is_vpn', true, []],
    ['ip.is_vpn || ip.is_threat', true, []],
    ['ip.is_threat || ip.is_tor_node', undefined, ['ip.is_threat']],
    ['ip.is_vpn ? email.trust_score < 30 : ip.is_threat', true, []],
    ['(ip.is_threat || ip.is_vpn) && phone.is_valid', undefined, ['phone.is_valid']],
    ['ip.is_vpn ? ip.is_threat : phone.is_valid', undefined, ['ip.is_threat']],
    ['ip.is_threat ? phone.is_valid : email.is_valid', undefined, ['ip.is_threat']],
    ['status.ip == "ok" && double(row.country) > 1', undefined, ['row.country']],
    ['!(double(row.country) > 1 || ip.is_vpn == ip.is_threat)', undefined, ['row.country', 'ip.is_threat']],
    ['verify.rules.exists(r, r.action == "flag" || ip.is_threat)', true, []],
    ['ip.is_threat && ip.is_tor_node', false, []],
    ['ip.is_threat && ip.is_vpn', undefined, ['ip.is_threat']],
    ['!(ip.is_threat && email.is_valid)', undefined, ['ip.is_threat', 'email.is_valid']],
    ['has(ip.is_threat) && ip.is_threat', false, []],
    ['verify.multi_accounting.detected', undefined, ['verify.multi_accounting.detected']],
    ['verify.device.is_mobile || has(verify.device.os)', undefined, ['verify.device.is_mobile']],
    ['verify.multi_accounting.score > 10', undefined, ['verify.multi_accounting.score']],
    ['phone.risk_score > 50', undefined, ['phone.risk_score']],
    ['double(row.country) > 1', undefined, ['row.country']],
    ['status.phone == "invalid"', undefined, ['status.phone']],
    ['dyn(ip.city) || ip.is_tor_node', undefined, ['ip.city']],
  ])('%s', (text, decision, missing) => {
    expect(judged(text).slice(0, 2)).toEqual([decision, missing]);
  });
});

describe('a text that is not a number, date or duration decides nothing', () => {
  const ofEach = (...conditions: string[]) => {
    return (text: string) => conditions.map((condition): [string, string] => [condition, text]);
  };

  test.each<readonly [text: string, country: string]>([
    ...['', ' ', ' 5', '0b11', '0o7', '0x1f', '1_000', '1e3', '5.0', 'NaN', '९'].flatMap(
      ofEach('int(row.country) < 7', '!(uint(row.country) > uint(7))'),
    ),
    ...['', ' 5', '0b11', '0o7', '0x1f', 'NaN', 'inf', '-Infinity', '1e999', '1,5', '.', '1e'].flatMap(
      ofEach('double(row.country) < 7', '!(double(row.country) > 7.0)'),
    ),
    ['uint(row.country) < uint(7)', '-1'],
    ['double(row.country) > 7.0 || ip.is_vpn', 'x'],
    ...[
      ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T23:60:00Z'],
      ...['2026-01-31T23:59:60+30:00', '2025-02-29T00:00:00+01:00', '2026-01-31T00:00:00', '2026-01-31'],
      ...['Sat, 31 Jan 2026 00:00:00 GMT', '2026-01-31T00:00:00.0', '1769817600', ''],
    ].flatMap(ofEach('timestamp(row.country) < timestamp("2030-01-01T00:00:00Z")')),
    ...['', 'h', '.h', '7d', '5', '1h 5m', '5m1', '-', '+-5m'].flatMap(
      ofEach('duration(row.country) < duration("1h")'),
    ),
  ])('%s of "%s"', (text, country) => {
    expect(judged(text, {row: {country}})).toEqual([undefined, expect.anything(), true]);
  });

  test.each([
    ['double(row.country) / 0.0 > 1', '1'],
    ['!(double(row.country) / double(row.country) > 1)', '0'],
    ['!(double(row.country) * 1e300 < 1)', '1e300'],
    ['1.0 / (1.0 / double(row.country)) == 0.0', '0'],
    ['!(double(row.country) / 0.0 - double(row.country) / 0.0 > 1)', '1'],
  ])('%s of "%s" is not a number, as after', (text, country) => {
    expect(condition(text).decide({row: {country}})).toBeUndefined();
  });

  test.each([
    ['int(row.country) == 7', '7'],
    ['int(row.country) == -7', '-7'],
    ['int(row.country) == 7', '+007'],
    ['uint(row.country) == uint(7)', '7'],
    ['double(row.country) == -0.5', '-.5'],
    ['double(row.country) == 1500', '1.5e3'],
    ['int(ip.asn_number) == 64500 && double(int("5")) == 5.0 && double(ip.asn_number) > 1', ''],
    ['timestamp(row.country) == timestamp("2024-02-29T00:00:00Z")', '2024-02-29T01:00:00+01:00'],
    ['timestamp(row.country) == timestamp("2024-02-29T00:00:00Z")', '2024-02-29t00:00:00.000z'],
    ['timestamp(row.country) == timestamp("2024-02-29T00:00:00Z")', '2024-02-29 00:00:00Z'],
    ['timestamp(int(row.country)) == timestamp("1970-01-01T00:01:00Z")', '60'],
    ['duration(row.country) == duration("90m")', '1h30m'],
    ['duration(row.country) == duration("90m")', '+1.5h'],
    ['duration(row.country) < duration("0s")', '-1ms'],
  ])('%s of "%s" holds', (text, country) => {
    expect(condition(text).decide({...facts, row: {country}})).toBe(true);
  });
});

describe('has() says nothing of an answer that is missing', () => {
  test.each([
    ['has(phone.carrier)', {phone: undefined}, undefined],
    ['!has(phone.carrier)', {phone: undefined}, undefined],
    ['has(phone.carrier) == false', {phone: undefined}, undefined],
    ['(has(phone.carrier) ? 1 : 2) == 2', {phone: undefined}, undefined],
    ['!has(phone.carrier) || true', {phone: undefined}, true],
    ['!has(phone.carrier)', {phone: {}}, true],
    ['has(phone.carrier) == false', {phone: {}}, true],
    ['!has(verify.device.os)', {verify: {}}, true],
    ['!has(row.country)', {row: {}}, true],
    ['verify.rules.exists(r, r.action == "x") || !has(verify.rules)', {verify: {}}, true],
  ] as const)('%s of %o', (text, given, decision) => {
    const [decided, lacked] = judged(text, given);
    expect([decided, lacked]).toEqual([decision, decision === undefined ? [expect.any(String)] : []]);
  });
});

test.each([
  ['ip.is_vpn && ', 'ip.is_vpn'],
  ['ip.asn_number + ', 'ip.asn_number > 1'],
  ['1 in ', '[1]'],
  ['!', 'ip.is_vpn'],
  ['- ', 'ip.asn_number > 1'],
  ['dyn(', ''],
  ['int(', ''],
  ['ip.is_vpn ? true : ', 'ip.is_vpn'],
])('"%s" without end is refused, and never ends the process', (part, end) => {
  for (const times of [150, 3_000]) {
    const text = `${part.repeat(times)}${end || `1${')'.repeat(times)} == 1`}`;
    try {
      condition(text).decide(facts);
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      expect((error as Error).message).not.toContain('call stack');
    }
  }
  expect(() => condition(`${part.repeat(20_000)}${end}`)).toThrow(UsageError);
});

test('a long sum and a long condition are read', () => {
  expect(condition(`${'ip.asn_number + '.repeat(200)}1 > 1`).decide(facts)).toBe(true);
  expect(condition(`${'ip.is_vpn && '.repeat(900)}true`).decide(facts)).toBe(true);
});

test('a name that a macro binds is its own', () => {
  const compiled = condition('verify.rules.exists(ip, ip.action == "flag")');
  expect(compiled.decide(facts)).toBe(true);
  expect(compiled.references.map(({path}) => path.join('.'))).toEqual(['verify.rules']);
});

const members = (n: number) => `ip.city in [${Array(n).fill('"x"').join()}]`;

test.each<[what: string, text: (n: number) => string, taken: number, refused: number, says: string]>([
  ['signs', n => `${'!'.repeat(n)}ip.is_vpn`, 249, 250, 'it has 250 signs (- or !) in a row, or more'],
  ['brackets', n => `${'('.repeat(n)}ip.is_vpn${')'.repeat(n)}`, 240, 250, 'more than 240 levels'],
  ['terms', n => Array(n).fill('ip.is_vpn').join(' && '), 1_000, 1_002, 'more than 1,000 levels'],
  ['members', members, 1_000, 1_001, 'a list has more than 1,000 members'],
])('of %s as many are taken as the message says', (_, text, taken, refused, says) => {
  expect(() => condition(text(taken))).not.toThrow();
  expect(() => condition(text(refused))).toThrow(says);
});

test.each([
  'error.email == ""',
  'error.ip == "http_503"',
  'error.ip == "econnreset"',
  'error.ip == "enetunreach"',
  'error.phone == "interrupted"',
  'error.ip.startsWith("own")',
  'now - timestamp(row.country) < duration("168h")',
  'duration(constant.window) > duration("1h") || ip.is_vpn',
  'now.getHours("Europe/Berlin") > 5',
  '["1h", "2h"].exists(d, now - timestamp(row.country) < duration(d))',
  'verify.rules.exists(r, r.action == string(int("5")))',
])('%s is right', text => {
  expect(() => condition(text, 'here', {window: '1h'})).not.toThrow();
});

describe('what can never be right is refused before anything is asked', () => {
  const file = join(import.meta.dirname, 'refusals.txt');
  const expectTold = toldIn(file);

  test.each(casesOf(file).flat())('%s', text => {
    const complaint = complaintOf(() => condition(text, 'job.yaml:7: where', {window: '7d'}));
    const [before, said, expression] = complaint.split(/(?<=^job\.yaml:7: where: )| The expression: /);
    expect([before, expression]).toEqual(['job.yaml:7: where: ', text]);
    expectTold(text, String(said));
  });
});
