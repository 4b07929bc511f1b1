import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {BulkEnrichError} from '../../src/errors.ts';
import type {JobInput} from '../../src/library/job-input.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import type {Sandbox} from '../support/command.ts';
import {type Arena, openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {casesOf, toldIn} from '../support/told.ts';

const TOR = '192.0.2.66';
const CLEAN = '192.0.2.1';

let api: Arena['api'];
let box: Sandbox;
let env: Readonly<Record<string, string>>;

/** Tor is at one address, one e-mail address fails, one phone number is disposable. */
function script({operation, value}: Call) {
  if (operation === 'ip')
    return reply.json({success: true, data: {is_tor_node: value === TOR, is_vpn: false, country: 'DE'}});
  if (value.startsWith('fails')) return reply.json({success: false, message: 'no_mailbox'}, 400);
  if (operation === 'email') return reply.json({success: true, data: {is_valid: true, is_trusted: true}});
  return reply.json({success: true, data: {is_valid: true, is_disposable: value.endsWith('99')}});
}

beforeEach(async () => {
  const arena = await openArena({script});
  ({api, sandbox: box} = arena);
  env = {...arena.env, HOME: box.home, XDG_CACHE_HOME: box.home};
  box.write('in.csv', csv);
  return () => arena[Symbol.asyncDispose]();
});

const ownRules = {
  rules: [
    {when: 'ip.is_tor_node', add: 40, reason: 'tor'},
    {when: 'phone.is_disposable', add: 50, reason: 'disposable'},
    {when: 'ip.is_threat', add: 50, reason: 'threat'},
  ],
};

const rows = [
  ['1', 'US', TOR, 'a@example.com', '+12025550199'],
  ['2', 'US', CLEAN, 'b@example.com', '+12025550199'],
  ['3', 'DE', TOR, 'fails@example.com', '+12025550142'],
  ['4', 'DE', CLEAN, 'fails@example.com', '+12025550143'],
  ['5', 'DE', TOR, 'd@example.com', 'nonsense'],
];
const csv = `id,country,ip,email,phone\n${rows.map(row => row.join()).join('\n')}\n`;

/** Runs in this process: as the command does, but for its flags. What went wrong is in `text`. */
async function run(given: JobInput): Promise<{code: number; errorCode?: string; text: string}> {
  const warnings: string[] = [];
  const settings = {rate: 'unlimited', store: box.path('answers'), force: true, ...given} as JobInput;
  const paths = {input: box.path(String(given.input)), ...(given.output && {output: box.path(given.output)})};
  const score = typeof given.score === 'string' &&
    given.score.endsWith('.yaml') && {score: box.path(given.score)};
  const options = {env, onWarning: (sentence: string) => warnings.push(sentence)};
  try {
    const {exitCode, message} = await runJob({...settings, ...paths, ...score}, options);
    return {code: exitCode, text: [...warnings, message].join('\n')};
  } catch (error) {
    if (!(error instanceof BulkEnrichError)) throw error;
    return {code: error.exitCode, errorCode: error.code, text: error.message};
  }
}

type Told = Record<string, {status: string; error: string | null} & Record<string, unknown>>;
const linesOf = (name: string) => box.read(name).trim().split('\n');
/** The rows of the output as objects. */
const output = (name = 'out.ndjson') => linesOf(name).map((line): Told => JSON.parse(line).enrichment);
const levels = () => output().map(({risk}) => risk?.level);

/** The status and the error of each row's lookup. */
const told = (lookup: string, name = 'out.ndjson') =>
  output(name).map(({[lookup]: found}) => `${found?.status} ${found?.error ?? ''}`.trim());

const FILTERED = 'skipped filter,skipped filter';

/** The calls by operation. */
const calls = () => Object.fromEntries(Object.entries(api.ledger.byOperation).filter(([, n]) => n > 0));

const ndjson = {input: 'in.csv', output: 'out.ndjson', outputFormat: 'ndjson'} as const;
const job = {...ndjson, ip: 'ip', email: 'email'} as const;

describe('risk', () => {
  test('comes after all other columns in CSV, under enrichment in NDJSON, and in the summary', async () => {
    box.write('rules.yaml', JSON.stringify(ownRules));
    const settings = {input: 'in.csv', ip: 'ip', phone: 'phone', score: 'rules.yaml'};
    expect((await run(settings)).code).toBe(0);
    const [head, ...lines] = linesOf('in.enriched.csv');
    const added = 'risk_score,risk_level,risk_reasons,risk_points,risk_missing,input_repairs';
    expect(head?.endsWith(`,phone_risk_score,${added}`)).toBe(true);
    const risks = lines.map(line => line.split(/,(?=\d*,(?:low|medium|high|unknown),)/)[1]);
    expect(risks.map(risk => risk?.replace(/,$/, ''))).toEqual([
      '90,high,"[""tor"",""disposable""]","{""tor"":40,""disposable"":50}","[""ip.is_threat""]"',
      '50,medium,"[""disposable""]","{""disposable"":50}","[""ip.is_threat""]"',
      '40,medium,"[""tor""]","{""tor"":40}","[""ip.is_threat""]"',
      '0,low,[],{},"[""ip.is_threat""]"',
      '40,medium,"[""tor""]","{""tor"":40}","[""phone"",""ip.is_threat""]"',
    ]);
    expect(box.summary('in.enriched.summary.json').risk).toMatchObject({
      ...{scored: 5, unknown: 0, low: 1, medium: 3, high: 1, mean: 44},
      histogram: [1, 0, 0, 0, 2, 1, 0, 0, 0, 1],
      high_rows: [1],
      reasons: {tor: 3, disposable: 2},
      missing: {'ip.is_threat': 5, phone: 1},
    });
    expect((await run({...settings, output: 'out.ndjson', outputFormat: 'ndjson'})).code).toBe(0);
    const [, , , , last] = output();
    const why = {reasons: ['tor'], points: {tor: 40}, missing: ['phone', 'ip.is_threat']};
    expect(last?.risk).toEqual({score: 40, level: 'medium', ...why});
  });

  test('is left out with --score none, and none of it is in the summary', async () => {
    await run({input: 'in.csv', ip: 'ip', score: 'none'});
    expect(box.read('in.enriched.csv')).not.toContain('risk_');
    expect(box.summary('in.enriched.summary.json').risk).toBeNull();
  });

  test('of a row whose lookup failed is no number', async () => {
    await run({...job, output: 'o.ndjson'});
    const [, , torAndFailed, failed] = output('o.ndjson');
    expect(torAndFailed?.risk).toMatchObject({score: 45, level: 'medium', reasons: ['tor']});
    expect(failed?.risk).toMatchObject({score: null, level: 'unknown', reasons: []});
    expect(failed?.risk?.missing).toContain('email');
    expect(box.summary('o.summary.json').risk).toMatchObject({scored: 4, unknown: 1});
  });

  test('the share of each field, and of the true ones, is in the summary', async () => {
    await run({input: 'in.csv', ip: 'ip'});
    expect(box.summary('in.enriched.summary.json').fields.ip).toMatchObject({
      is_tor_node: {present: 1, true: 0.6},
      is_vpn: {present: 1, true: 0},
      is_threat: {present: 0, true: 0},
      country: {present: 1},
    });
  });
});

describe('a lookup with a condition', () => {
  const phone = (when: string): JobInput => ({...job, score: ownRules, phone: {column: 'phone', when}});

  test('is asked only where it holds; the rest is skipped and saved', async () => {
    const settings = {...phone('risk.score >= 40'), maxAge: 'rejected=0s' as const};
    expect((await run(settings)).code).toBe(3);
    expect(told('phone').join()).toBe('ok,skipped condition,ok,skipped condition,invalid phone_malformed');
    expect(output().map(({risk}) => risk?.score)).toEqual([90, 0, 40, 0, 40]);
    expect(calls()).toEqual({ip: 2, email: 4, phone: 2});
    const {lookups, credits} = box.summary('out.summary.json');
    expect(lookups.phone).toMatchObject({values: 5, answered: 2, skipped: 2, invalid: 1, calls: 2});
    expect(credits.saved).toMatchObject({prefilter: 3, by_condition: 2});
  });

  test.each([
    ['row.country == "US"', [1, 2]],
    ['email.is_trusted && ip.is_tor_node', [1]],
    ['status.email == "failed"', [3, 4]],
    ['ip.is_threat', []],
    ['!ip.is_threat', []],
    ['risk.level != "low"', [1, 3]],
  ])('%s', async (when, asked) => {
    await run(phone(when));
    expect(told('phone').flatMap((found, index) => (found === 'ok' ? [index + 1] : []))).toEqual(asked);
  });

  test('plan shows the possible cost; an error names the job file’s line', async () => {
    const lines = [
      'input: in.csv',
      'endpoint: live',
      'ip: ip',
      'email: email',
      'phone: {column: phone, when: ',
    ];
    const file = (when: string) => box.write('job.yaml', `${lines.join('\n')}${when}}\n`);
    file('risk.score >= 40');
    const {stdout} = await runHere(box, ['plan', '--job', 'job.yaml', '--json'], {env});
    const plan = JSON.parse(stdout) as {lookups: {phone: object}; credits: object};
    expect(plan.lookups.phone).toMatchObject({distinct: 3, calls: 3, conditional: 3});
    expect(plan.credits).toEqual({at_least: 6, all_sent_once: 9, at_most: 27});
    file('phone.is_valid');
    const {errorCode, message} = await runHere(box, ['run', '--job', 'job.yaml'], {env});
    expect([errorCode, calls()]).toEqual(['circular_when', {}]);
    expect(message).toContain('job.yaml:5: phone.when: ');
  });
});

describe('lookups that wait for one another', () => {
  const waterfall: JobInput = {
    ...job,
    score: ownRules,
    email: {column: 'email', when: 'ip.is_tor_node'},
    phone: {column: 'phone', when: 'status.email == "ok" && risk.score >= 40'},
  };

  test('each stage reads the results before it, and unwanted values are not looked up', async () => {
    await run(waterfall);
    const skipped = 'skipped condition';
    expect(told('email')).toEqual(['ok', skipped, 'failed no_mailbox', skipped, 'ok']);
    expect(told('phone')).toEqual(['ok', skipped, skipped, skipped, 'invalid phone_malformed']);
    expect(calls()).toEqual({ip: 2, email: 3, phone: 1});
  });

  test('a stage reads nothing of its own or later lookups, though an invalid value is known before any call', async () => {
    const list = `id,ip,email,phone\n1,${CLEAN},a@example.com,12\n2,${CLEAN},b@example.com,+12125550199\n`;
    box.write('in.csv', list);
    const score = {rules: [{when: 'status.phone == "invalid"', add: 50, reason: 'no_phone'}]};
    await run({...waterfall, score, email: {column: 'email', when: 'risk.score >= 40'}});
    expect(told('email').join()).toBe('skipped condition,skipped condition');
    expect(told('phone').join()).toBe('invalid country_unknown,skipped condition');
    expect(calls()).toEqual({ip: 1});
  });

  test.each([
    ['one stage', {phone: {column: 'phone', when: 'risk.score >= 40'}, email: 'email'}],
    ['two stages', {}],
  ] as const)(
    '%s: the output is the same after a stop in the middle, and nothing is asked twice',
    async (_, more) => {
      const rows = Array.from({length: 70}, (_, n) => {
        const phone = `+1202555${String(n).padStart(4, '0')}`;
        return `${n},US,${n % 2 === 0 ? TOR : CLEAN},x${n % 20}@example.com,${phone}\n`;
      });
      box.write('in.csv', `id,country,ip,email,phone\n${rows.join('')}`);
      const settings = {...waterfall, ...more, store: false} as const;
      expect((await run(settings)).code).toBe(0);
      const whole = box.read('out.ndjson');
      const first = calls();
      expect(first.phone).toBe(35);
      api.newLedger();
      const codes: number[] = [];
      for (let maxCredits = 40; codes.at(-1) !== 0; maxCredits += 40)
        codes.push((await run({...settings, maxCredits})).code);
      expect(codes.slice(0, -1)).toEqual(codes.slice(1).map(() => 7));
      expect(codes.length).toBeGreaterThan(1);
      expect(box.read('out.ndjson')).toBe(whole);
      expect(calls()).toEqual(first);
    },
  );
});

describe('constants, lists and the time in rules', () => {
  const rule = (when: string) => ({when, add: 50, reason: 'held'});
  const score = (given: object, ...whens: string[]) =>
    ({...given, rules: whens.map(rule)}) as JobInput['score'];

  test('lists of a file are looked up by hash, in rules, in conditions of lookups and in --where', async () => {
    const entries = Array.from({length: 5_000}, (_, n) => `n${n}.example`);
    box.write('list.txt', `# kept by hand\r\n\r\n${entries.join('\r\n')}\r\n  US  \r\n`);
    const given = {lists: {known: {file: box.path('list.txt')}, rows: ['1', '4']}};
    await run({...job, score: score(given, 'row.country in list.known && row.id.trim() in list.rows')});
    expect(levels()).toEqual(['medium', 'low', 'low', 'low', 'low']);
    const phone = {column: 'phone', when: 'row.id in list.rows'};
    await run({...job, score: score(given, 'ip.is_vpn'), phone, where: '!(row.country in list.known)'});
    expect(told('phone').join()).toBe(`${FILTERED},skipped condition,ok,invalid phone_malformed`);
  });

  test('an entry that is a network matches its addresses', async () => {
    box.write('in.csv', 'ip\n8.8.8.8\n8.8.9.8\n9.9.9.9\n10.1.2.3\n1.1.1.1\n');
    box.write('nets.txt', '8.8.8.77/24\n10.0.0.0/9\n9.9.9.9\n2001:db8::/32\n');
    const given = {lists: {nets: {file: box.path('nets.txt')}}};
    const expected = ['medium', 'low', 'medium', 'medium', 'low'];
    // By our own evaluation, and through the condition engine alone.
    for (const when of ['row.ip in list.nets', '[row.ip].exists(a, a in list.nets)']) {
      await run({...ndjson, ip: 'ip', score: score(given, when)});
      expect(levels()).toEqual(expected);
    }
  });

  test('constants and the time of the run’s first start', async () => {
    box.write('in.csv', 'ip,seen\n192.0.2.1,2020-01-01T00:00:00Z\n192.0.2.2,2120-01-01T00:00:00Z\n');
    const constants = {days: 30, form: '^2\\d{3}-', on: true, zone: 'Z'};
    const whens = [
      'constant.on && row.seen.matches(constant.form) && row.seen.endsWith(constant.zone) && timestamp(row.seen) < now',
      'constant.days + 1 == 31 && constant.days >= 30 && now - duration("24h") > timestamp("2020-01-01T00:00:00Z")',
    ];
    for (const when of whens) {
      await run({...ndjson, ip: 'ip', score: score({constants}, when)});
      expect(levels()).toEqual(when.includes('row') ? ['medium', 'low'] : ['medium', 'medium']);
    }
  });

  test('a run is done before only with the same lists', async () => {
    box.write('list.txt', 'US\n');
    const lists = {lists: {a: {file: box.path('list.txt')}}};
    const settings = {...job, force: false, score: score(lists, 'row.country in list.a')};
    await run(settings);
    expect((await run(settings)).text).not.toContain('exists');
    box.write('list.txt', 'DE\n');
    expect((await run(settings)).text).toContain('out.ndjson exists');
  });
});

describe('which rows', () => {
  test('--where: other rows are written without calls', async () => {
    const where = 'row.country == "DE" && int(row.id) > 3';
    await run({...ndjson, phone: 'phone', where});
    expect(told('phone').join()).toBe(`${FILTERED},skipped filter,ok,invalid phone_malformed`);
    expect(calls()).toEqual({phone: 1});
    expect(output()[0]?.risk).toMatchObject({score: null, level: 'unknown'});
  });

  test('--where: rows that it leaves out still say which of their values are empty or invalid', async () => {
    box.write('in.csv', 'id,ip\n1,192.0.2.1\n2,\n3,nonsense\n');
    await run({...ndjson, ip: 'ip', where: 'row.id == "4"'});
    expect(told('ip')).toEqual(['skipped filter', 'empty', 'invalid ip_malformed']);
    expect(calls()).toEqual({});
  });

  test('--where over NDJSON reads values with their types, and a missing one decides nothing', async () => {
    const rows = [{n: 5}, {n: 4}, {}, {n: '5'}].map((own, at) => ({ip: `192.0.2.${at + 1}`, ...own}));
    box.write('in.ndjson', rows.map(row => `${JSON.stringify(row)}\n`).join(''));
    await run({input: 'in.ndjson', ip: 'ip', where: '10 - row.n == 5'});
    expect(told('ip', 'in.enriched.ndjson').join()).toBe(`ok,${FILTERED},skipped filter`);
  });

  test('--limit: no more than that is read, asked or written', async () => {
    expect((await run({input: 'in.csv', ip: 'ip', email: 'email', limit: 2})).code).toBe(0);
    expect(linesOf('in.enriched.csv')).toHaveLength(3);
    expect(box.summary('in.enriched.summary.json').rows).toMatchObject({read: 2, written: 2});
    expect(calls()).toEqual({ip: 2, email: 2});
  });
});

describe('fail_if', () => {
  test('exit 4 with the conditions that hold, and the output in its place', async () => {
    const held = [
      'lookups.email.failed / lookups.email.values > 0.01',
      'risk.high + risk.medium >= 3',
      'risk.reasons.tor > 2 && risk.reasons.ip_bogon == 0',
      'calls.by_status["400"] >= 1',
      'rows.written == 5',
      'fields.ip.is_tor_node["true"] > 0.5',
    ];
    const failIf = ['risk.high > 500', ...held, 'rows.written == 4'];
    const {code, text: said} = await run({input: 'in.csv', ip: 'ip', email: 'email', failIf});
    expect(code).toBe(4);
    for (const text of held) expect(said).toContain(text);
    expect(linesOf('in.enriched.csv')).toHaveLength(6);
    const summary = box.summary('in.enriched.summary.json');
    expect(summary).toMatchObject({exit_code: 4, reason: 'fail_if', failed_if: held});
    // A count that a condition takes for 0 is not written.
    expect(summary.risk?.reasons).not.toHaveProperty('ip_bogon');
  });

  test('an unmet condition does not change the exit code', async () => {
    const failIf = ['risk.high > 500', 'calls.by_status["500"] > 0'];
    expect((await run({input: 'in.csv', ip: 'ip', failIf})).code).toBe(0);
  });

  test('of an input without rows nothing is passed', async () => {
    box.write('in.csv', 'ip\n');
    const failIf = ['lookups.ip.failed / lookups.ip.values > 0.01', 'risk.mean > 50'];
    const {code, text: said} = await run({input: 'in.csv', ip: 'ip', failIf});
    expect(code).toBe(0);
    expect(said).toContain('failIf "risk.mean > 50" could not be decided');
    expect(said).toContain('0.01" could not be decided: the condition reads a number that the summary lacks');
  });
});

test.each(['rule', 'where', 'when'])(
  'a row whose list takes a %s too many steps ends the run',
  async kind => {
    const tags = Array.from({length: 1_100}, (_, n) => `t${n}`);
    const rows = [[], tags].map(own => `${JSON.stringify({ip: '192.0.2.1', tags: own})}\n`);
    box.write('in.ndjson', rows.join(''));
    const long = 'row.tags.exists(a, row.tags.exists(b, a + b == "no"))';
    const rule = {when: kind === 'rule' ? long : 'ip.is_vpn', add: 1, reason: 'r'};
    box.write('r.yaml', JSON.stringify({rules: [rule]}));
    const ip = kind === 'when' ? {column: 'ip', when: long} : 'ip';
    const where = kind === 'where' ? {where: long} : {};
    const {code, text} = await run({input: 'in.ndjson', ip, score: 'r.yaml', ...where});
    expect(code, text).toBe(2);
    expect(text).toMatch(/^Row 2: it takes more than 1,000,000 steps/);
  },
);

describe('a job is refused before a call', () => {
  const file = join(import.meta.dirname, 'refused-jobs.txt');
  const expectTold = toldIn(file);

  test.each(casesOf(file).flat())('%s', async about => {
    const {rulesFile, ...settings} = parse(about);
    box.write('r.yaml', String(rulesFile));
    const own = rulesFile ? {score: 'r.yaml', ...settings} : settings;
    const {code, errorCode, text} = await run({input: 'in.csv', ip: 'ip', email: 'email', ...own});
    expect([code, calls()], text).toEqual([2, {}]);
    expect(text.length).toBeLessThan(700);
    expectTold(about, `${errorCode}: ${text.replaceAll(box.path('/'), '')}`);
  });
});
