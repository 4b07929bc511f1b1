import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {checkSettings, createSettingLocator, readJobFile} from '../../src/job/parse.ts';
import {rejectionAgeMs} from '../../src/job/setting-types.ts';
import {encodingNamed} from '../../src/job/settings/row-settings.ts';
import {describeSettings, type jobSchema} from '../../src/job/settings.ts';
import {parseYaml} from '../../src/job/yaml.ts';
import {newDirectory} from '../support/new-directory.ts';
import {casesOf, complaintOf, toldIn} from '../support/told.ts';

const within = newDirectory();

function fromFile(text: string | Buffer, flags = {}) {
  writeFileSync(within('job.yaml'), text);
  return checkSettings(readJobFile(within('job.yaml')), flags);
}

const complaintOfFile = (text: string | Buffer) =>
  complaintOf(() => fromFile(text)).replaceAll(within('job.yaml'), 'job.yaml');

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
  .reduce((all, name, n, names) => `${all}\n${name}: &${name} [${`*${names[n - 1] ?? ''}, `.repeat(9)}]`, '')
  .replace('*, '.repeat(9), 'lol');

/** Wrong values of every setting, as a flag gives them or as a job file does; lines of job files; and whole ones. */
const complaints = join(import.meta.dirname, 'complaints.txt');
const [values = [], lines = [], wholes = []] = casesOf(complaints);
const expectTold = toldIn(complaints);

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

  test.each(values)('%s: the complaint names the flag, or file, line and key', given => {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(given) ?? [];
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const [flag, said] = [`--${name.replaceAll('_', '-')}: `, `job.yaml:3: ${name}: `];
    const ofFlag = complaintOf(() => checkSettings(undefined, {[camel]: JSON.parse(value)}));
    const ofFile = complaintOfFile(`input: a.csv\n\n${given}\n`);
    expect([ofFlag.startsWith(flag), ofFile.startsWith(said)], ofFile).toEqual([true, true]);
    expect(ofFlag.slice(flag.length)).toBe(ofFile.slice(said.length));
    expectTold(given, ofFlag.slice(flag.length));
  });

  test('every setting has such a case', () => {
    const names = describeSettings().map(({name}) =>
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    );
    expect(names.filter(name => !values.some(given => given.startsWith(`${name}: `)))).toEqual([]);
  });

  test.each(lines)('job file "%s" names the line and the key', line => {
    const said = complaintOfFile(`input: a.csv\n# note\n${line}\n`);
    const key = /^\w+(?:-\w+)*/.exec(line)?.[0].replaceAll('-', '.');
    expect(said).toMatch(new RegExp(`^job\\.yaml:3: ${key}`));
    expectTold(line, said.replace('job.yaml:3: ', ''));
  });

  test.each(wholes)('no YAML mapping: %s', text => {
    const said = complaintOfFile(JSON.parse(text));
    expect(said).toMatch(/^job\.yaml:(?:[123]:)? /);
    expectTold(text, said);
  });

  test('a job file that is missing, or is a directory', () => {
    for (const path of [within('none.yaml'), within(), '/dev/null'])
      expect(() => readJobFile(path)).toThrow(expect.objectContaining({code: 'job_file'}));
  });
});

test('flags go before the job file, and its complaints name them', () => {
  const given = fromFile('concurrency: 4\ntimeout: 5s\n', {concurrency: '8'});
  expect(given).toMatchObject({concurrency: 8, timeout: 5_000});
  expect(complaintOf(() => fromFile('concurrency: 4\n', {concurrency: 'x'}))).toMatch(/^--concurrency: /);
});

test('keys of a job file may have dashes, too; NO is a country', () => {
  const given = fromFile('max-credits: 5\ndefault_country: NO\n');
  expect(given).toMatchObject({maxCredits: 5, defaultCountry: 'NO'});
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
  ['UTF-16', Buffer.from('ip: ip\n', 'utf16le'), /^job\.yaml: it is UTF-16 or binary\. Save it as UTF-8\.$/],
])('a job file with %s is a usage error', (_, text, expected) => {
  expect(complaintOfFile(text).slice(0, 200)).toMatch(expected);
});
test.each(['0.0005', 0.1234, '1e300', '-1', 'ip=0.33333'])('a cost of %j can not be counted exactly', cost =>
  expect(() => checkSettings(undefined, {cost})).toThrow(/three decimals/),
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
