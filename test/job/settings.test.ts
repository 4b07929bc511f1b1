import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {UsageError} from '../../src/errors.ts';
import {METRICS_TARGET} from '../../src/job/monitoring/metrics-address.ts';
import {checkSettings, placeIn, readJobFile} from '../../src/job/parse.ts';
import {encodingNamed} from '../../src/job/settings/row-settings.ts';
import {describeSettings, type jobSchema} from '../../src/job/settings.ts';
import {operationNames} from '../../src/operations/table.ts';

const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-job-'));
const path = join(folder, 'job.yaml');
afterAll(() => rmSync(folder, {recursive: true}));

function fromFile(text: string, flags = {}) {
  writeFileSync(path, text);
  return checkSettings(readJobFile(path), flags);
}

function complaintOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message.replace(path, 'job.yaml');
    throw error;
  }
  return 'no complaint';
}

describe('defaults, as the contract has them', () => {
  test('of all settings', () => {
    expect(checkSettings(undefined, {input: 'a.csv'})).toMatchObject({
      input: ['a.csv'],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1_048_576,
      escapeFormulas: 'answers',
      timeout: 30_000,
      resends: 2,
      maxOutage: 900_000,
      publishOn: [],
      cost: {all: 1, rejected: 'maybe', throttled: 'free'},
      store: true,
      maxAge: {
        ip: 86_400_000,
        phone: 90 * 86_400_000,
        email: 30 * 86_400_000,
        rejected: 7 * 86_400_000,
      },
      offline: false,
      account: 'default',
      requireStore: false,
      force: false,
      score: 'default',
      drift: {share: 0.1, fails: false},
      progress: 'auto',
      quiet: false,
    });
  });

  test('each setting has one sentence of description', () => {
    for (const {name, description} of describeSettings())
      expect(`${name}: ${description}`).toMatch(/^\w+: [A-Z].*[.…]$/);
  });
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
    ['only', 'ip,email', ['ip', 'email']],
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

const EACH = `for all operations or as ${operationNames.map(name => `${name}=…`).join(',')}.`;
const RATE = `expected a rate such as 20/s, 300/m, 1000/h or unlimited, ${EACH}`;
const AGE = `expected a duration such as 1d or 12h, ${EACH.replace('.', ',rejected=….')}`;
const CHARGES = {rejected: 'maybe', throttled: 'free'};
const DRIFT = 'expected off, a share such as 10%, or fail 10%.';
const UNTIL = 'expected a length of time such as 2h, or a time of day such as 06:00 or 06:00 Europe/Berlin';
const COST = `expected a number of credits, 0 or more, with three decimals at most, ${EACH.replace('.', '; rejected=…,throttled=… are free, maybe or spent.')}`;
const TIME = 'expected a duration such as 500ms, 30s, 15m, 2h or 7d.';
const SHARE = 'expected a number such as 100, or a share such as 1%.';
const COLUMN = 'expected a column such as signup_ip or {column: signup_ip, prefix: ip_}, or a list of them.';
const ENDPOINT = 'expected embedded, live, or a base URL such as https://api.example.com.';
const VERDICT = 'expected the column of session tokens, or token=COL,action=ID,id=COL,email=COL,phone=COL.';
const whole = (minimum: number) => `expected a whole number, ${minimum} or more.`;
const oneOf = (...names: string[]) => `expected one of ${names.map(name => `"${name}"`).join(', ')}.`;

/** Lists of lists of lists, which make a billion words of some lines. */
const yamlBomb = [...'abcdefghi']
  .reduce(
    (text, name, n, names) => `${text}\n${name}: &${name} [${`*${names[n - 1] ?? ''}, `.repeat(9)}]`,
    '',
  )
  .replace('*, '.repeat(9), 'lol');

/** A wrong value of every setting, as a flag gives it or as a job file does, and what is said of it. */
const wrong: readonly (readonly [string, unknown, string])[] = [
  ['endpoint', 'example', ENDPOINT],
  ['ip', 5, COLUMN],
  ['phone', 5, COLUMN],
  ['email', 5, COLUMN],
  ['verdict', 5, VERDICT],
  ['verdict', 'token=t,user=u', VERDICT],
  ['verdict', 'action=a', VERDICT],
  ['only', 5, 'expected a text or a list of texts.'],
  ['country', 5, 'expected a text or a list of texts.'],
  ['default_country', 'Germanny', 'expected a country, by name or code such as DE (is "Germany" meant?).'],
  ['fields', 5, 'expected a text or a list of texts.'],
  ['header', 'maybe', 'expected true or false.'],
  ['input_format', 'xml', oneOf('csv', 'tsv', 'ndjson')],
  ['output_format', 'xml', oneOf('csv', 'tsv', 'ndjson')],
  ['delimiter', ';;', 'expected one character, or tab.'],
  ['bom', 'maybe', 'expected true or false.'],
  ['flatten', 'maybe', 'expected true or false.'],
  [
    'encoding',
    'latin',
    'expected an encoding such as utf-8, windows-1252 or shift_jis (docs/formats.md lists all).',
  ],
  ['max_record_size', '1', whole(1_024)],
  ['skip_lines', '0', whole(1)],
  ['pad_short_rows', 'maybe', 'expected true or false.'],
  ['ip_from_list', 'second', oneOf('first', 'last', 'only')],
  ['empty', 5, 'expected a text or a list of texts.'],
  ['escape_formulas', 'some', oneOf('answers', 'all', 'none')],
  ['rate', 'fast', RATE],
  ['rate', '0/s', RATE],
  ['rate', 'ipp=5/s', RATE],
  ['rate', '0.001/h', 'expected a rate from one call a day to 1000000 in the unit.'],
  ['rate', 'ip=99999999999/s', 'expected a rate from one call a day to 1000000 in the unit.'],
  ['timeout', '0s', 'expected a duration from 100ms to 1h.'],
  ['timeout', '30d', 'expected a duration from 100ms to 1h.'],
  ['max_outage', '31d', 'expected a duration from 0s to 30d.'],
  ['until', '0s', 'expected a length of time from 100ms to 365d.'],
  ['max_age', 'ip=99999d', 'expected an age up to 36500d.'],
  ['concurrency', '10001', 'expected a whole number, 10000 or less.'],
  ['max_credits', '1e30', 'expected a whole number, 9007199254740991 or less.'],
  ['concurrency', '0', whole(1)],
  ['fleet', 'localhost:6379', 'expected redis://HOST:PORT, rediss:// with TLS, or none.'],
  ['timeout', '30', TIME],
  ['resends', '-1', whole(0)],
  ['max_outage', 'long', TIME],
  ['cost', '-1', COST],
  ['cost', '', COST],
  ['cost', '0x10', COST],
  ['cost', 'ip=1,rejected=no', COST],
  ['cost', 'ipp=1', COST],
  ['max_credits', '1.5', whole(0)],
  ['max_credits', '', whole(0)],
  ['max_credits', '0x10', whole(0)],
  ['max_credits', '0b11', whole(0)],
  ['publish_on', 5, 'expected a text or a list of texts.'],
  ['until', '5', `${UNTIL}.`],
  ['until', '24:00', `${UNTIL}.`],
  ['until', '06:00 Mars/Base', `there is no time zone "Mars/Base"; ${UNTIL}.`],
  ['max_errors', '-1', SHARE],
  ['max_rejects', 'few', SHARE],
  ['store', 5, 'expected a directory, or false.'],
  ['max_age', '5', AGE],
  ['stale', 'old', TIME],
  ['offline', 'maybe', 'expected true or false.'],
  ['account', 'a b', 'expected 1 to 64 letters, digits, or . _ @ -.'],
  ['max_store_size', 'large', 'expected a size such as 500mb or 2gb.'],
  ['max_store_size', '10kb', 'expected a size of 1mb or more.'],
  ['state', 5, 'expected string, received number.'],
  ['restart', 'maybe', 'expected fresh or nothing after --restart; true, false or fresh in a job file.'],
  ['require_store', 'maybe', 'expected true or false.'],
  ['force', 'maybe', 'expected true or false.'],
  ['summary', 5, 'expected string, received number.'],
  ['date', 'yesterday', 'expected a day such as 2026-01-31.'],
  ['rejects', 5, 'expected string, received number.'],
  ['where', 5, 'expected string, received number.'],
  ['limit', '0', whole(1)],
  ['sample', '1.5', whole(1)],
  ['fail_if', 5, 'expected a text or a list of texts.'],
  ['score', 5, 'expected default, none, a file, or rules.'],
  ['report', 'report.pdf', 'expected a file that ends in .html or .md.'],
  ['calls', 5, 'expected string, received number.'],
  ['changes', 5, 'expected a file, or {file: FILE, key: COLUMN}.'],
  ['metrics', 5, 'expected string, received number.'],
  ['metrics', 'https://name:password@push.example.com', `${METRICS_TARGET}.`],
  ['ping_url', 'ftp://example.com', 'expected a URL with http:// or https://.'],
  ['drift', 'fail', DRIFT],
  ['drift', '1000%', DRIFT],
  ['drift', 'fail10%', DRIFT],
  ['progress', 'line', oneOf('auto', 'bar', 'plain', 'none')],
  ['log', 5, 'expected a text or a list of texts.'],
  ['log', 'json,text', 'expected one format and one level at most, such as json,debug.'],
  ['quiet', 'maybe', 'expected true or false.'],
];

/** The end of messages: the given value. */
const NOT = /, not (?:"[^"]*"|[\d.-]+|true|false)\.$/;

describe('impossible values', () => {
  test.each([
    ['max_credits: five', 'job.yaml:1: max_credits: expected a whole number, 0 or more, not "five".'],
    ['rate: 20', `job.yaml:1: rate: ${RATE.slice(0, -1)}, not 20.`],
    ['offline: maybe', 'job.yaml:1: offline: expected true or false, not "maybe".'],
    ['cost: {ip: dear}', `job.yaml:1: cost: ${COST}`],
  ])('%s: the message names what was given', (line, expected) => {
    expect(complaintOf(() => fromFile(`${line}\n`))).toBe(expected);
  });

  test.each([
    ['fleet', 'hunter2'],
    ['endpoint', 'https//key@example.com'],
    ['report', 5],
    ['max_credits', 'x'.repeat(41)],
  ])('%s: what may be an address with a secret, or long, is not repeated', (name, value) => {
    const said = complaintOf(() => checkSettings(undefined, {[name]: value}));
    expect(said).not.toContain(String(value));
  });

  test.each(wrong)('%s: %j names the flag, or file, line and key', (name, value, expected) => {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const flag = complaintOf(() => checkSettings(undefined, {[camel]: value}));
    expect(flag.replace(NOT, '.')).toBe(`--${name.replaceAll('_', '-')}: ${expected}`);
    const file = complaintOf(() => fromFile(`input: a.csv\n\n${name}: ${JSON.stringify(value)}\n`));
    expect(file.replace(NOT, '.')).toBe(`job.yaml:3: ${name}: ${expected}`);
  });

  test('every setting has such a case', () => {
    const cases = new Set(wrong.map(([name]) => name));
    const names = describeSettings().map(({name}) =>
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    );
    expect(names.filter(name => !cases.has(name))).toEqual([]);
  });

  test.each([
    ['max_credit: 5', 'max_credit: this setting does not exist. Did you mean "max_credits"?'],
    ['max-credit: 5', 'max_credit: this setting does not exist. Did you mean "max_credits"?'],
    ['emial: x', 'emial: this setting does not exist. Did you mean "email"?'],
    ['colour: red', 'colour: this setting does not exist.'],
    [
      'threads: 4',
      'threads: this setting no longer exists. Leave it out: one process makes 3,500 to 5,000 calls a second. For more, start workers on other machines (docs/fleet.md).',
    ],
    [
      'cost: {ipp: 1}',
      'cost.ipp: this key does not exist (known: all, ip, phone, email, verify, rejected, throttled).',
    ],
    ['cost: {rejected: no}', `cost: ${COST}`],
    [
      'rejected_charge: free',
      'rejected_charge: this setting no longer exists. Write cost: {rejected: free} (--cost rejected=free).',
    ],
    [
      'throttled_charge: maybe',
      'throttled_charge: this setting no longer exists. Write cost: {throttled: maybe} (--cost throttled=maybe).',
    ],
    [
      'drift_threshold: 20%',
      'drift_threshold: this setting no longer exists. Write the share as drift: 10%, or fail 10% (--drift "fail 10%").',
    ],
    [
      'max_duration: 2h',
      'max_duration: this setting no longer exists. Write until: 2h (--until 2h), which counts from the start of the command.',
    ],
    [
      'max_credits_per_day: 5',
      'max_credits_per_day: this setting no longer exists. A day has one limit for all runs of an account: write max_credits_per_day below the endpoint in a file for the account, such as ~/.config/bulk-enrich/accounts/main.yaml.',
    ],
    ['max_resends: 3', 'max_resends: this setting no longer exists. Write resends: N (--resends N).'],
    [
      'max_attempts: 3',
      'max_attempts: this setting no longer exists. Write resends: N (--resends N), which is one less.',
    ],
    [
      'resend: never',
      'resend: this setting no longer exists. Write resends: 0 (--resends 0) for never, and nothing for always.',
    ],
    [
      'on_budget: publish',
      'on_budget: this setting no longer exists. Write publish_on: [budget] (--publish-on budget) for publish, and nothing for stop.',
    ],
    [
      'fresh_budget: true',
      'fresh_budget: this setting no longer exists. Write restart: fresh (--restart fresh).',
    ],
    [
      'on_stale_state: stop',
      'on_stale_state: this setting no longer exists. Write restart: false for stop in a job file, and nothing for restart. A command stops unless it has --restart.',
    ],
    ['token: session', 'token: this setting no longer exists. Write verdict: COLUMN (--verdict COLUMN).'],
    [
      'verdict_id: user',
      'verdict_id: this setting no longer exists. Write verdict: {token: COLUMN, id: COLUMN} (--verdict token=COLUMN,id=COLUMN).',
    ],
    [
      'action_id: login',
      'action_id: this setting no longer exists. Write verdict: {token: COLUMN, action: ID} (--verdict token=COLUMN,action=ID), or set BULK_ENRICH_ACTION_ID. The command verify has --action ID.',
    ],
    ['verdict: {tokn: a}', 'verdict.tokn: this key does not exist (known: token, action, id, email, phone).'],
    [
      'cache: kept',
      'cache: this setting no longer exists. Write store: DIR, or store: false (--store DIR, --no-store).',
    ],
    ['log_format: json', 'log_format: this setting no longer exists. Write log: json (--log json).'],
    [
      'publish_on: [never]',
      `publish_on.0: ${oneOf('budget', 'outage', 'deadline').slice(0, -1)}, not "never".`,
    ],
    ['ip: {colum: a}', 'ip.colum: this key does not exist (known: column, prefix, when).'],
    ['ip: [a, {column: b, prefx: c}]', 'ip.1.prefx: this key does not exist (known: column, prefix, when).'],
    ['ip: [a, 5]', `ip.1: ${COLUMN}`],
    ['rate: {ipp: 5/s}', 'rate.ipp: this key does not exist.'],
    ['rate: {ip: fast}', `rate: ${RATE}`],
    ['rate: [5]', `rate: ${RATE}`],
    ['timeout: [5]', `timeout: ${TIME}`],
    ['only: [ipp]', `only.0: ${oneOf(...operationNames).slice(0, -1)}, not "ipp".`],
    ['endpoint: {base_url: https://api.example.com}', `endpoint: ${ENDPOINT}`],
    ['ip: [{column: 5}]', 'ip.0.column: expected string, received number.'],
    ['name: a b', 'name: expected 1 to 64 letters, digits, or . _ -, no . or - first, not "a b".'],
    ['output: [a]', 'output: expected string, received array.'],
  ])('job file %j', (line, expected) => {
    expect(complaintOf(() => fromFile(`input: a.csv\n# note\n${line}\n`))).toBe(`job.yaml:3: ${expected}`);
  });

  test.each([
    ['a: 1\nb: [1\n', /^job\.yaml:[23]: this is not valid YAML \(Flow sequence/],
    ['rate: 5/s\nrate: 6/s\n', /^job\.yaml:2: this is not valid YAML \(Map keys must be unique\)\. /],
    ['- a\n', /^job\.yaml: expected settings such as "input: signups.csv", one a line\.$/],
    ['', /^job\.yaml: expected settings/],
  ])('no YAML mapping: %j', (text, expected) => {
    expect(complaintOf(() => fromFile(text))).toMatch(expected);
  });

  test('a job file that is not there, or no file', () => {
    expect(complaintOf(() => readJobFile(join(folder, 'none.yaml')))).toMatch(
      /^The job file .*none\.yaml does not exist \(looked for in .*\)\.$/,
    );
    expect(complaintOf(() => readJobFile(folder))).toMatch(/can't be read: EISDIR, a directory\.$/);
  });
});

test('flags go before the job file, and its complaints name them', () => {
  expect(fromFile('concurrency: 4\ntimeout: 5s\n', {concurrency: '8'})).toMatchObject({
    concurrency: 8,
    timeout: 5_000,
  });
  expect(complaintOf(() => fromFile('concurrency: 4\n', {concurrency: 'x'}))).toBe(
    `--concurrency: ${whole(1).slice(0, -1)}, not "x".`,
  );
});

test('keys of a job file may have dashes, too; NO is a country', () => {
  expect(fromFile('max-credits: 5\ndefault_country: NO\n')).toMatchObject({
    maxCredits: 5,
    defaultCountry: 'NO',
  });
});

test('of a flag that was given more than once a complaint says which it means', () => {
  const thresholds = (...failIf: string[]) => placeIn(undefined, {failIf})(['failIf', failIf.length - 1]);
  expect(thresholds('risk.hgh > 1')).toBe('--fail-if');
  expect(thresholds('risk.high > 1', 'risk.hgh > 1')).toBe('--fail-if (number 2)');
  expect(placeIn(undefined, {})(['ip', 0, 'prefix'])).toBe('--ip (0.prefix)');
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
    `a0: &a0 [1]\n${Array.from({length: 2_000}, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`).join('')}`,
    /^job\.yaml: .*Excessive alias count/,
  ],
  ['an alias of nothing', 'ip: *nobody\n', /^job\.yaml: .*nobody/],
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
