import {parse} from 'csv-parse/sync';
import {expect, test, vi} from 'vitest';
import {enrich, enrichStream} from '../../src/library/enrich.ts';
import type {PlanReport} from '../../src/run/plan.ts';
import {ListFacts} from '../../src/score/list-facts.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const box = opened(createSandbox);

const run = (...args: string[]) =>
  runHere(box, ['run', ...args, '--endpoint', 'embedded', '--no-store', '--force']);
type Written = Record<string, string>;
const written = (name = 'list.enriched.csv'): Written[] => parse(box.read(name), {columns: true});
const aliases = (count: number) => Array.from({length: count}, (_, n) => `jane.doe+${n}@gmail.com`);
const list = (header: string, rows: readonly string[]) =>
  box.write('list.csv', `${header}\n${rows.join('\n')}\n`);
const rulesFile = (rules: string) => box.write('rules.yaml', rules);
const reasonsOf = (rows: Written[]) =>
  rows.map(({risk_reasons: reasons = '[]'}) => JSON.parse(reasons) as string[]);
const levelsOf = (name?: string) => written(name).map(({risk_level: level}) => level);

test('thirty aliases of one mailbox are of high risk, three are of medium risk, two gain nothing', async () => {
  const three = ['john.q@gmail.com', 'johnq+a@googlemail.com', 'JohnQ@gmail.com'];
  const two = ['ann+1@gmail.com', 'ANN+1@gmail.com', 'ann@gmail.com'];
  list('email', [...aliases(30), ...three, ...two]);
  expect((await run('list.csv')).code).toBe(0);
  expect(levelsOf()).toEqual([
    ...Array(30).fill('high'),
    ...Array(3).fill('medium'),
    ...Array(3).fill('low'),
  ]);
  const {shared} = box.summary('list.enriched.summary.json');
  expect(shared).toEqual({mailbox: {rows: 36, largest: [30, 3, 2]}});
});

test('a list of events counts persons, not rows', async () => {
  const rows = Array.from({length: 1_500}, (_, n) => `${n},person${n % 300}@gmail.com`);
  list('event,email', rows);
  await run('list.csv');
  expect(reasonsOf(written()).flat()).toEqual([]);
  expect(box.summary('list.enriched.summary.json').shared).toEqual({mailbox: {rows: 0, largest: []}});
});

const RULES = `rules:
  - {when: shared.phone >= 2, add: 1, reason: phone}
  - {when: shared.ip >= 2, add: 2, reason: ip}
  - {when: shared.network >= 3, add: 4, reason: network}
`;

test('phone, address and network count mailboxes, or the persons of same_by', async () => {
  const rows = [
    'a,x+1@gmail.com,+12025550101,8.8.8.1',
    'a,x+2@gmail.com,(202) 555-0101,8.8.8.1',
    'b,y@gmail.com,+12025550102,8.8.8.2',
    'b,z@gmail.com,+12025550102,8.8.8.3',
    ',,+12025550103,9.9.9.9',
  ];
  list('customer,email,phone,ip', rows);
  rulesFile(RULES);
  const args = ['list.csv', '--default-country', 'US', '--score', 'rules.yaml'];
  await run(...args);
  const network = ['network'];
  expect(reasonsOf(written())).toEqual([network, network, ['phone', 'network'], ['phone', 'network'], []]);
  rulesFile(`same_by: customer\n${RULES}`);
  await run(...args);
  expect(reasonsOf(written()).flat()).toEqual([]);
  await run('list.csv', '--phone', 'phone', '--default-country', 'US', '--score', 'rules.yaml');
  expect(written()[2]?.['risk_missing']).toBe('[]');
  rulesFile(`same_by: custmer\n${RULES}`);
  expect((await run(...args)).message).toContain('same_by: there is no column "custmer"');
  rulesFile(RULES);
  await run('list.csv', '--phone', 'phone', '--default-country', 'US', '--score', 'rules.yaml');
  expect(written()[2]?.['risk_missing']).toBe('["shared.phone"]');
});

test('several columns of a kind each have their own facts, and a plain name is tried on each', async () => {
  const rows = [
    'a@gmail.com,8.8.8.1,9.9.9.1',
    'b@gmail.com,8.8.8.2,9.9.9.2',
    'c@gmail.com,7.7.7.7,8.8.8.2',
    'd@gmail.com,,',
  ];
  list('email,signup_ip,login_ip', rows);
  rulesFile(`rules:
  - {when: shared.signup_ip.network >= 3, add: 1, reason: signup}
  - {when: shared.login_ip.ip >= 2, add: 1, reason: login}
  - {when: shared.network >= 3, add: 1, reason: any}
  - {when: shared.network == 1, add: 1, reason: none}
`);
  await run('list.csv', '--score', 'rules.yaml');
  expect(reasonsOf(written())).toEqual([['signup', 'any'], ['signup', 'any'], ['login', 'any', 'none'], []]);
  expect(written()[3]?.['risk_missing']).toBe('["signup_ip","login_ip"]');
});

test('rows of where and of limit: the whole list counts, up to its limit', async () => {
  list('email', aliases(12));
  await run('list.csv', '--limit', '9', '--where', 'row.email == "jane.doe+1@gmail.com"');
  const points = written().map(({risk_points: points = ''}) => JSON.parse(points).mailbox_shared);
  expect(points).toEqual(Array(9).fill(30));
});

test('a list that comes once has no facts, and the run says so once', async () => {
  const stdin = `email\n${aliases(12).join('\n')}\n`;
  const args = ['run', '-', '-o', '-', '--email', 'email', '--endpoint', 'embedded'];
  const {stdout, stderr} = await runHere(box, args, {stdin});
  expect(stderr.match(/comes only once/g)).toHaveLength(1);
  const rows = parse(stdout, {columns: true}) as Written[];
  expect(rows.map(({risk_missing: missing}) => missing)).toEqual(Array(12).fill('["shared.mailbox"]'));
});

test('without a rule that reads the list, nothing is counted and nothing is said', async () => {
  rulesFile('rules: [{when: email.has_aliasing, add: 1, reason: alias}]\n');
  const args = ['run', '-', '-o', '-', '--email', 'email', '--endpoint', 'embedded', '--score', 'rules.yaml'];
  const {stderr} = await runHere(box, args, {stdin: 'email\na@example.com\n'});
  expect(stderr).not.toContain('comes only once');
});

const library = {endpoint: 'embedded', email: 'email', store: false} as const;

test('an array that a program gives is counted, a stream is not', async () => {
  const rows = aliases(10).map(email => ({email}));
  const env = {HOME: box.home};
  const levels: (string | undefined)[] = [];
  for await (const {enrichment} of enrich(rows, library, {env})) levels.push(enrichment.risk?.level);
  expect(levels).toEqual(Array(10).fill('high'));
  const warnings: string[] = [];
  const stream = enrichStream(library, {env, onWarning: sentence => warnings.push(sentence)});
  for (const row of rows) stream.write(row);
  stream.end();
  for await (const row of stream) expect(row).toMatchObject({enrichment: {risk: {level: 'low'}}});
  expect(warnings).toEqual([expect.stringContaining('comes only once')]);
});

test('plan, report, explain and score show the facts, and no values', async () => {
  const rows = aliases(12).map((email, n) => `${email},${n}`);
  list('mail,id', rows);
  const planned = ['plan', 'list.csv', '--email', 'mail', '--endpoint', 'embedded'];
  const plan = await runHere(box, planned);
  expect(plan.stdout).toContain('12 rows share their mailbox with others. The most shared: 12.');
  const {stdout: json} = await runHere(box, [...planned, '--json']);
  expect((JSON.parse(json) as PlanReport).shared).toEqual({mailbox: {rows: 12, largest: [12]}});
  await run('list.csv', '--email', 'mail', '--report', 'report.md');
  expect(box.read('report.md')).toContain('| mailbox | 12 | 12 |');
  expect(box.read('report.md')).not.toContain('jane');
  const {stdout} = await runHere(box, ['explain', 'list.enriched.csv', '--row', '3', '--json']);
  const reads = JSON.parse(stdout).rules.map(({reads}: {reads: unknown}) => reads);
  expect(reads).toContainEqual(['shared.mailbox']);
  await run('list.csv', '--email', 'mail', '--score', 'none', '-o', 'plain.csv');
  await runHere(box, ['score', 'plain.csv', '--rules', 'default', '-o', 'scored.csv']);
  expect(levelsOf('scored.csv')).toEqual(Array(12).fill('high'));
});

test('explain names of the rules with one reason those that held', async () => {
  list('email', aliases(4));
  await run('list.csv');
  const {stdout} = await runHere(box, ['explain', 'list.enriched.csv', '--row', '1', '--json']);
  const held = JSON.parse(stdout).rules.map(({when}: {when: string}) => when);
  expect(held).toEqual(['email.has_aliasing', 'shared.mailbox >= 3']);
});

test('a run at a terminal counts the list once: with the calls for its bar', async () => {
  list('email', aliases(12));
  const count = vi.spyOn(ListFacts.prototype, 'count');
  await runHere(box, 'run list.csv --endpoint embedded --no-store', {isTerminal: true});
  expect(count).toHaveBeenCalledTimes(1);
  count.mockRestore();
  expect(levelsOf()).toEqual(Array(12).fill('high'));
});

test('a list that is another one since its calls were counted is counted again', async () => {
  list('email', aliases(12));
  const isCurrent = vi.spyOn(ListFacts.prototype, 'count').mockImplementationOnce(() => {});
  await runHere(box, ['run', 'list.csv', '--endpoint', 'embedded', '--no-store'], {isTerminal: true});
  expect(isCurrent).toHaveBeenCalledTimes(2);
  isCurrent.mockRestore();
  expect(levelsOf()).toEqual(Array(12).fill('high'));
});

test('tests of rules give the facts of the list', async () => {
  rulesFile(`rules:
  - {when: shared.mailbox >= 3, add: 30, reason: mailbox}
  - {when: shared.signup_ip.network > 10, add: 5, reason: network}
  - {when: shared.ip > 5, add: 1, reason: ip}
tests:
  - {shared: {mailbox: 30, signup_ip: {network: 11}}, score: 35, reasons: [mailbox, network]}
  - {shared: {ip: 6, mailbox: 2}, score: 1, level: low, reasons: [ip]}
`);
  const {stdout} = await runHere(box, ['rules', 'test', 'rules.yaml']);
  expect(stdout).toBe('rules.yaml: 2 of 2 tests passed.\n');
});
