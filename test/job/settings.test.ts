import {writeFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {UsageError} from '../../src/errors.ts';
import {checkSettings, createSettingLocator, readJobFile} from '../../src/job/parse.ts';
import {rejectionAgeMs} from '../../src/job/setting-types.ts';
import {encodingNamed} from '../../src/job/settings/row-settings.ts';
import {describeSettings, type jobSchema} from '../../src/job/settings.ts';
import {parseYaml} from '../../src/job/yaml.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

function fromFile(text: string, flags = {}) {
  writeFileSync(within('job.yaml'), text);
  return checkSettings(readJobFile(within('job.yaml')), flags);
}

function complaintOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message.replaceAll(within('job.yaml'), 'job.yaml');
    throw error;
  }
  return 'no complaint';
}

function refused(code: string) {
  return expect.objectContaining({code});
}

test('defaults that are not in the schema, which the contract records', () => {
  expect(checkSettings(undefined, {input: 'a.csv'})).toMatchObject({resends: 2, publishOn: []});
});

test('each setting has one sentence of description', () => {
  for (const {name, description} of describeSettings())
    expect(`${name}: ${description}`).toMatch(/^\w+: [A-Z].*[.…]$/);
});

describe('values', () => {
  test.each([
    ['rate', '20/s', {all: {count: 20, perMs: 1_000}}],
    ['rate', '90/m', {all: {count: 90, perMs: 60_000}}],
    ['rate', '1000/h', {all: {count: 1_000, perMs: 3_600_000}}],
    ['rate', '0.5/s', {all: {count: 1, perMs: 2_000}}],
    ['rate', '1.9/s', {all: {count: 2, perMs: 2_000 / 1.9}}],
    ['rate', '1000000/s', {all: {count: 1_000_000, perMs: 1_000}}],
    ['rate', 'unlimited', {all: 'unlimited'}],
    ['timeout', '100ms', 100],
    ['timeout', '1h', 3_600_000],
    ['rate', 'ip=50/s, email=10/s', {ip: {count: 50, perMs: 1_000}, email: {count: 10, perMs: 1_000}}],
    ['rate', {ip: '50/s'}, {ip: {count: 50, perMs: 1_000}}],
    ['maxAge', '7d', {all: 7 * 86_400_000}],
    ['maxAge', 'ip=12h,phone=90d', {ip: 43_200_000, phone: 90 * 86_400_000}],
    ['maxAge', {rejected: '0s'}, {rejected: 0}],
    ['until', '6:30', {minutes: 390}],
    ['until', '23:59 Europe/Berlin', {minutes: 1_439, zone: 'Europe/Berlin'}],
    ['stale', '30d', 30 * 86_400_000],
    ['verdict', 'session', {token: 'session'}],
    ['verdict', 'token=session, action=t/1,id=user', {token: 'session', action: 't/1', id: 'user'}],
    ['verdict', {token: 'a=b,c', phone: 'tel'}, {token: 'a=b,c', phone: 'tel'}],
    ['log', 'json', {format: 'json'}],
    ['log', ['debug', 'text'], {format: 'text', level: 'debug'}],
    ['log', 'warn', {level: 'warn'}],
    ['publishOn', 'budget, outage', ['budget', 'outage']],
    ['publishOn', ['deadline'], ['deadline']],
    ['cost', '0.5', {all: 0.5, ...CHARGES}],
    ['cost', 'ip=0.001,phone=1.125', {ip: 0.001, phone: 1.125, ...CHARGES}],
    ['cost', {verify: 3}, {verify: 3, ...CHARGES}],
    ['cost', {all: 2, ip: '0.5', rejected: 'free'}, {all: 2, ip: 0.5, rejected: 'free', throttled: 'free'}],
    ['cost', 'all=2, throttled=spent', {all: 2, rejected: 'maybe', throttled: 'spent'}],
    ['cost', 'rejected=spent', {rejected: 'spent', throttled: 'free'}],
    ['timeout', '500ms', 500],
    ['maxOutage', '2h', 7_200_000],
    ['maxCredits', '5000', 5_000],
    ['maxCredits', 0, 0],
    ['maxErrors', '100', {count: 100}],
    ['maxErrors', '1%', {share: 0.01}],
    ['maxRejects', 5, {count: 5}],
    ['fields', 'ip.country, email.trust_score', ['ip.country', 'email.trust_score']],
    ['ip', 'signup_ip', [{column: 'signup_ip'}]],
    ['ip', ['signup_ip', 'last_ip=last_'], [{column: 'signup_ip'}, {column: 'last_ip', prefix: 'last_'}]],
    ['ip', {column: 'a=b', prefix: 'x_'}, [{column: 'a=b', prefix: 'x_'}]],
    ['defaultCountry', 'us', 'US'],
    ['delimiter', '\\t', '\t'],
    ['delimiter', 'tab', '\t'],
    ['store', false, false],
    ['endpoint', 'embedded', 'embedded'],
    ['endpoint', 'https://api.example.com/v1', 'https://api.example.com/v1'],
  ])('%s: %j', (name, given, expected) => {
    expect(checkSettings(undefined, {[name]: given})[name as keyof typeof jobSchema.shape]).toEqual(expected);
  });
});

test.each([
  [{}, 7],
  [{ip: 1}, 7],
  [{all: 1}, 1],
  [{all: 90}, 7],
  [{all: 1, rejected: 30}, 30],
  [{rejected: 0}, 0],
])('with ages %j in days, a rejection is valid for %i days', (ages, days) => {
  const DAY_MS = 86_400_000;
  const given = Object.fromEntries(Object.entries(ages).map(([name, age]) => [name, age * DAY_MS]));
  expect(rejectionAgeMs(given)).toBe(days * DAY_MS);
});

const CHARGES = {rejected: 'maybe', throttled: 'free'};

/** Lists of lists of lists, which make a billion words of some lines. */
const yamlBomb = [...'abcdefghi']
  .reduce(
    (text, name, n, names) => `${text}\n${name}: &${name} [${`*${names[n - 1] ?? ''}, `.repeat(9)}]`,
    '',
  )
  .replace('*, '.repeat(9), 'lol');

/** A wrong value of every setting, as a flag gives it or as a job file does. */
const wrong: readonly (readonly [string, unknown])[] = [
  ['endpoint', 'example'],
  ['ip', 5],
  ['phone', 5],
  ['email', 5],
  ['verdict', 5],
  ['verdict', 'token=t,user=u'],
  ['verdict', 'action=a'],
  ['country', 5],
  ['default_country', 'Germanny'],
  ['fields', 5],
  ['header', 'maybe'],
  ['input_format', 'xml'],
  ['output_format', 'xml'],
  ['delimiter', ';;'],
  ['delimiter', '"'],
  ['delimiter', '\n'],
  ['flatten', 'maybe'],
  ['encoding', 'latin'],
  ['skip_lines', '0'],
  ['pad_short_rows', 'maybe'],
  ['ip_from_list', 'second'],
  ['empty', 5],
  ['escape_formulas', 'some'],
  ['rate', 'fast'],
  ['rate', '0/s'],
  ['rate', 'ipp=5/s'],
  ['rate', '0.001/h'],
  ['rate', 'ip=99999999999/s'],
  ['timeout', '0s'],
  ['timeout', '30d'],
  ['max_outage', '31d'],
  ['until', '0s'],
  ['max_age', 'ip=99999d'],
  ['concurrency', '10001'],
  ['max_credits', '1e30'],
  ['concurrency', '0'],
  ['fleet', 'localhost:6379'],
  ['timeout', '30'],
  ['resends', '-1'],
  ['max_outage', 'long'],
  ['cost', '-1'],
  ['cost', ''],
  ['cost', '0x10'],
  ['cost', 'ip=1,rejected=no'],
  ['cost', 'ipp=1'],
  ['max_credits', '1.5'],
  ['max_credits', ''],
  ['max_credits', '0x10'],
  ['max_credits', '0b11'],
  ['publish_on', 5],
  ['until', '5'],
  ['until', '24:00'],
  ['until', '06:00 Mars/Base'],
  ['max_errors', '-1'],
  ['max_errors', '101%'],
  ['max_rejects', 'few'],
  ['store', 5],
  ['max_age', '5'],
  ['stale', 'old'],
  ['offline', 'maybe'],
  ['account', 'a b'],
  ['state', 5],
  ['restart', 'maybe'],
  ['require_store', 'maybe'],
  ['force', 'maybe'],
  ['summary', 5],
  ['date', 'yesterday'],
  ['rejects', 5],
  ['where', 5],
  ['limit', '0'],
  ['fail_if', 5],
  ['score', 5],
  ['report', 'report.pdf'],
  ['metrics', 5],
  ['metrics', 'https://push.example.com'],
  ['ping_url', 'ftp://example.com'],
  ['drift', 'fail'],
  ['drift', '1000%'],
  ['drift', 'fail10%'],
  ['log', 5],
  ['log', 'json,text'],
  ['quiet', 'maybe'],
];

/** The messages of all mistakes here, for the snapshot. */
const complaints: string[] = [];

describe('impossible values', () => {
  test.each([
    ['fleet', 'hunter2'],
    ['endpoint', 'https//key@example.com'],
    ['report', 5],
    ['max_credits', 'x'.repeat(41)],
  ])('%s: what may be an address with a secret, or long, is not repeated', (name, value) => {
    const said = complaintOf(() => checkSettings(undefined, {[name]: value}));
    expect(said).not.toContain(String(value));
  });

  test.each(wrong)('%s: %j names the flag, or file, line and key', (name, value) => {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const [flag, said] = [`--${name.replaceAll('_', '-')}: `, `job.yaml:3: ${name}: `];
    const ofFlag = complaintOf(() => checkSettings(undefined, {[camel]: value}));
    const ofFile = complaintOf(() => fromFile(`input: a.csv\n\n${name}: ${JSON.stringify(value)}\n`));
    expect([ofFlag.startsWith(flag), ofFile.startsWith(said)], ofFile).toEqual([true, true]);
    expect(ofFlag.slice(flag.length)).toBe(ofFile.slice(said.length));
    complaints.push(`${name}: ${JSON.stringify(value)} => ${ofFlag.slice(flag.length)}`);
  });

  test('every setting has such a case', () => {
    const cases = new Set(wrong.map(([name]) => name));
    const names = describeSettings().map(({name}) =>
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    );
    expect(names.filter(name => !cases.has(name))).toEqual([]);
  });

  test.each([
    'max_credit: 5',
    'max-credit: 5',
    'emial: x',
    'colour: red',
    'cost: {ipp: 1}',
    'cost: {rejected: no}',
    'verdict: {tokn: a}',
    'publish_on: [never]',
    'ip: {colum: a}',
    'ip: [a, {column: b, prefx: c}]',
    'ip: [a, 5]',
    'rate: {ipp: 5/s}',
    'rate: {ip: fast}',
    'rate: [5]',
    'timeout: [5]',
    'endpoint: {base_url: https://api.example.com}',
    'ip: [{column: 5}]',
    'name: a b',
    'output: [a]',
    'max_credits: five',
    'rate: 20',
    'offline: maybe',
    'cost: {ip: dear}',
  ])('job file %j names the line and the key', line => {
    const said = complaintOf(() => fromFile(`input: a.csv\n# note\n${line}\n`));
    expect(said).toMatch(
      new RegExp(`^job\\.yaml:3: ${/^\w+(?:-\w+)*/.exec(line)?.[0].replaceAll('-', '.')}`),
    );
    complaints.push(`${line} => ${said.replace('job.yaml:3: ', '')}`);
  });

  test.each([
    'a: 1\nb: [1\n',
    'rate: 5/s\nrate: 6/s\n',
    '- a\n',
    '',
    'score:\n  rules:\n    - {when: !phone.is_valid, add: 30}\n',
    'score:\n  rules:\n    - {when: row["a b"] == "x", add: 30}\n',
    'score:\n  rules:\n    - {when: has(ip.city) ? true : false, add: 30}\n',
    'name: !nightly list\n',
  ])('no YAML mapping: %j', text => {
    const said = complaintOf(() => fromFile(text));
    expect(said).toMatch(/^job\.yaml:(?:[123]:)? /);
    complaints.push(`${JSON.stringify(text)} => ${said}`);
  });

  test('a job file that is missing, or is a directory', () => {
    expect(() => readJobFile(within('none.yaml'))).toThrow(refused('job_file'));
    for (const path of [within(), '/dev/null']) expect(() => readJobFile(path)).toThrow(refused('job_file'));
  });

  test('what is said of each mistake (-u writes it)', async () => {
    await expect(`${complaints.join('\n')}\n`).toMatchFileSnapshot('complaints.txt');
  });
});

test('flags go before the job file, and its complaints name them', () => {
  expect(fromFile('concurrency: 4\ntimeout: 5s\n', {concurrency: '8'})).toMatchObject({
    concurrency: 8,
    timeout: 5_000,
  });
  expect(complaintOf(() => fromFile('concurrency: 4\n', {concurrency: 'x'}))).toMatch(/^--concurrency: /);
});

test('keys of a job file may have dashes, too; NO is a country', () => {
  expect(fromFile('max-credits: 5\ndefault_country: NO\n')).toMatchObject({
    maxCredits: 5,
    defaultCountry: 'NO',
  });
});

test('of a flag that was given more than once a complaint says which it means', () => {
  const thresholds = (...failIf: string[]) =>
    createSettingLocator(undefined, {failIf})(['failIf', failIf.length - 1]);
  expect(thresholds('risk.hgh > 1')).toBe('--fail-if');
  expect(thresholds('risk.high > 1', 'risk.hgh > 1')).toBe('--fail-if (number 2)');
  expect(createSettingLocator(undefined, {})(['ip', 0, 'prefix'])).toBe('--ip (0.prefix)');
});

test.each([
  ['lists', '[', ']'],
  ['maps', '{a: ', '}'],
  ['lines', '- ', ''],
])('%s of 100 levels are read, and 101 are too many', (_, begin, end) => {
  const nested = (levels: number) => () =>
    parseYaml(begin.repeat(levels) + (end && '1') + end.repeat(levels));
  expect(nested(100)).not.toThrow();
  expect(nested(101)).toThrow('more than 100 levels deep');
});

test.each([
  ['aliases that multiply', yamlBomb, /^job\.yaml: .*Excessive alias count/],
  ...['[', '{a: ', '- ', '? '].map((level): [string, string, RegExp] => [
    `${level.trim()} without end`,
    `offline: true\nip: \n  ${level.repeat(100_000)}`,
    /^job\.yaml:3: .*nested more than 100 levels deep/,
  ]),
  [
    'aliases of aliases without end',
    `a0: &a0 [1]\n${Array.from({length: 1_000}, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`).join('')}`,
    /^job\.yaml: .*Excessive alias count/,
  ],
  ['an alias of nothing', 'ip: *nobody\n', /^job\.yaml: .*alias/],
])('a job file with %s is a usage error', (_, text, expected) => {
  expect(complaintOf(() => fromFile(text)).slice(0, 200)).toMatch(expected);
});
test.each(['0.0005', 0.1234, '1e300', '-1', 'ip=0.33333'])(
  'a cost of %j can not be counted exactly',
  cost => {
    expect(() => checkSettings(undefined, {cost})).toThrow(/three decimals/);
  },
);

test.each([
  ['utf8', 'utf-8'],
  ['UTF-8', 'utf-8'],
  ['latin1', 'iso-8859-1'],
  ['cp1252', 'windows-1252'],
  ['ANSI', 'windows-1252'],
  ['UTF-16', 'auto'],
  ['Shift-JIS', 'shift_jis'],
  ['latin', 'latin'],
])('encoding %s is %s', (given, name) => {
  expect(encodingNamed(given)).toBe(name);
});
