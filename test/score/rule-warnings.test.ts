import {beforeEach, expect, test} from 'vitest';
import type {JobInput} from '../../src/library/job-input.ts';
import {runJob} from '../../src/library/run-job.ts';
import {reply} from '../support/api-server-reply.ts';
import type {Sandbox} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';

let box: Sandbox;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  const script = () => reply.json({success: true, data: {is_vpn: false, country: 'DE'}});
  const arena = await openArena({script});
  box = arena.sandbox;
  env = {...arena.env, HOME: box.home, XDG_CACHE_HOME: box.home};
  box.write('in.ndjson', '{"ip":"192.0.2.1","amount":"12"}\n{"ip":"192.0.2.2","amount":"a lot"}\n');
  return () => arena[Symbol.asyncDispose]();
});

const rule = (when: string, reason: string) => ({when, add: 20, reason});

async function run(rules: ReturnType<typeof rule>[], more: Partial<JobInput> = {}) {
  const warnings: string[] = [];
  const settings = {input: box.path('in.ndjson'), ip: 'ip', force: true, rate: 'unlimited', score: {rules}};
  await runJob({...settings, ...more} as JobInput, {env, onWarning: said => warnings.push(said)});
  const summary = box.summary('in.enriched.summary.json');
  return {warnings, rules: summary.risk?.rules, told: summary.risk?.warnings};
}

test('each rule of the job is counted: rows in which it held, was undecided, or was wrong', async () => {
  const {rules} = await run([
    rule('double(row.amount) > 10', 'amount'),
    rule('row.amonut > 10', 'misspelt'),
    rule('ip.is_vpn', 'vpn'),
  ]);
  expect(rules).toEqual([
    {reason: 'amount', when: 'double(row.amount) > 10', add: 20, held: 1, undecided: 0, wrong: 1},
    {reason: 'misspelt', when: 'row.amonut > 10', add: 20, held: 0, undecided: 2, wrong: 0},
    {reason: 'vpn', when: 'ip.is_vpn', add: 20, held: 0, undecided: 0, wrong: 0},
  ]);
});

test('an empty cell is no number, and a missing answer has neither a field nor none', async () => {
  box.write('in.ndjson', '{"ip":"192.0.2.1","amount":""}\n{"ip":"not one","amount":"3"}\n');
  const {rules} = await run([rule('int(row.amount) < 7', 'small'), rule('!has(ip.city)', 'no_city')]);
  expect(rules?.map(({held, undecided, wrong}) => [held, undecided, wrong].join())).toEqual([
    '1,0,1',
    '1,1,0',
  ]);
});

test('one that no row could decide, whose values were of no use, or that never held, is a warning', async () => {
  const {warnings, told} = await run([
    rule('double(row.amount) > 10', 'fine'),
    rule('row.amonut > 10', 'misspelt'),
    rule('timestamp(row.amount) > timestamp("2026-01-01T00:00:00Z")', 'no_time'),
    rule('ip.is_vpn', 'vpn'),
    rule('ip.country == "XX"', 'nowhere'),
  ]);
  expect(warnings).toEqual(told);
  expect(warnings).toHaveLength(3);
  for (const said of [
    'The rule misspelt (score.rules.1.when) could not be decided in any of 2 rows, because something that it reads was always missing: row.amonut > 10',
    'The rule no_time (score.rules.2.when) could not use the values it reads in any of 2 rows',
    '2 rules never held in any of 2 rows: vpn, nowhere',
  ])
    expect(warnings.join('\n')).toContain(said);
});

test('the default rules are for any list: of them nothing is said', async () => {
  const {warnings, rules} = await run([], {score: 'default'});
  expect([warnings, rules]).toEqual([[], []]);
});

test('terminal and report show the warnings, with the line of a rules file', async () => {
  const file =
    'rules:\n  - {when: ip.country == "DE", add: 1, reason: de}\n  - {when: row.x, add: 1, reason: x}\n';
  box.write('rules.yaml', file);
  const line = 'run in.ndjson --ip ip --score rules.yaml --report report.md';
  const {code, stderr} = await runHere(box, line, {env});
  const warning = 'The rule x (rules.yaml:3: rules.1.when) could not be decided in any of 2 rows';
  expect(code).toBe(0);
  expect(stderr).toContain(warning);
  expect(box.read('report.md')).toContain(warning);
});

test('a resumed run counts each row once', async () => {
  const rules = [rule('row.amonut > 10', 'misspelt'), rule('ip.country == "DE"', 'de')];
  await run(rules, {maxCredits: 1});
  const {rules: counts} = await run(rules, {maxCredits: 2});
  expect(counts?.map(({held, undecided}) => `${held} ${undecided}`)).toEqual(['0 2', '2 0']);
});
