import {appendFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';
import {expect, test} from 'vitest';
import {scoreRules} from '../../src/job/settings/score-rules.ts';
import {rescoreOutput} from '../../src/output/earlier/score-again.ts';
import {loadRules} from '../../src/score/rules.ts';
import {openStage} from '../support/stage.ts';

type Written = Record<string, string>;
const ROWS = 60;
const settings = {email: 'email', concurrency: 4, store: false};
/** Every third row is an alias of one mailbox; the others have one each. */
const mail = (n: number) => (n % 3 === 0 ? `jane+${n}@gmail.com` : `person${n}@gmail.com`);
const LIST = `id,email\n${Array.from({length: ROWS}, (_, n) => `${n},${mail(n)}\n`).join('')}`;
const counted = (text: string) => {
  const rows = parse(text, {columns: true}) as Written[];
  return rows.map(({risk_shared: shared = ''}) => JSON.parse(shared).email?.mailbox);
};
const fields = ['normalized_email', 'risk.points', 'risk.shared'];
const EXPECTED = Array.from({length: ROWS}, (_, n) => (n % 3 === 0 ? ROWS / 3 : 1));

test('a run that is killed and resumed, and a run that is repeated, write the same facts, byte for byte', async () => {
  await using stage = await openStage();
  stage.write('list.csv', LIST);
  expect((await stage.run({...settings, fields})).code).toBe(0);
  const whole = stage.read('out.csv');
  expect(counted(whole)).toEqual(EXPECTED);
  expect((await stage.run({...settings, fields, force: true})).code).toBe(0);
  expect(stage.read('out.csv')).toBe(whole);
  await using other = await openStage();
  other.write('list.csv', LIST);
  await other.killAt(ROWS / 2, {...settings, fields});
  const ended = await other.run({...settings, fields});
  expect(ended).toMatchObject({code: 0, summary: {resumed: {times: 1}, shared: {mailbox: {rows: 20}}}});
  expect(other.read('out.csv')).toBe(whole);
});

test('a list that grows while it is read is counted again, with what it gained', async () => {
  await using stage = await openStage();
  stage.write('list.csv', LIST);
  const first = stage.api.ledger.calls;
  stage.api.setScript(call => {
    if (call.call === first + 10) appendFileSync(stage.path('list.csv'), '60,jane+60@gmail.com\n');
    return undefined;
  });
  const ended = await stage.run({...settings, fields}, {stillMs: {least: 30, most: 30}});
  expect(ended).toMatchObject({code: 0, summary: {rows: {written: ROWS + 1}}});
  expect(ended.summary?.shared).toEqual({mailbox: {rows: 21, largest: [21]}});
  expect(counted(stage.read('out.csv'))).toEqual([...EXPECTED.map(count => (count === 20 ? 21 : 1)), 21]);
});

test('risk.shared among the fields is a column of CSV, a member of NDJSON, and kept by score', async () => {
  await using stage = await openStage();
  const list = '{"email":"a+1@gmail.com","ip":"192.0.2.1"}\n{"email":"a@gmail.com"}\n{"ip":"198.51.100.1"}\n';
  stage.write('list.ndjson', list);
  const columns = {email: 'email', ip: 'ip', store: false, force: true, input: 'list.ndjson'};
  await stage.run({...columns, output: 'out.ndjson', fields: ['risk.shared']});
  const lines = stage.read('out.ndjson').trim().split('\n');
  const shared = {email: {mailbox: 2}};
  expect(lines.map(line => JSON.parse(line).enrichment.risk.shared)).toEqual([shared, shared, {}]);
  await stage.run({...columns, output: 'plain.ndjson', fields: ['risk.points']});
  expect(stage.read('plain.ndjson')).not.toContain('shared":{');
  await stage.run({...columns, output: 'flat.ndjson', flatten: true, fields: ['risk.shared']});
  expect(stage.read('flat.ndjson')).toContain('"risk_shared":{"email":{"mailbox":2}}');
  await stage.run({...columns, output: 'out.csv', fields: ['risk.shared']});
  const [header, row] = stage.read('out.csv').split('\n');
  expect(header).toMatch(/risk_reasons,risk_shared$/);
  expect(row).toMatch(/,"\{""email"":\{""mailbox"":2\}\}"$/);
  const own = {base: 'none', rules: [{when: 'shared.mailbox > 1', add: 9, reason: 'two'}]};
  const rules = loadRules(scoreRules.parse(own), () => '');
  if (rules === undefined) throw new Error('no rules');
  const again = {path: stage.path('out.csv'), rules, now: 0, bad: undefined, to: stage.path('again.csv')};
  expect(await rescoreOutput(again)).toMatchObject({reasons: {came: {two: 2}}});
  expect(stage.read('again.csv').split('\n')[1]).toMatch(/two.*,"\{""email"":\{""mailbox"":2\}\}"$/);
  await stage.run({...columns, output: 'none.csv', fields: ['risk.missing']});
  expect(stage.read('none.csv')).not.toContain('shared');
});
