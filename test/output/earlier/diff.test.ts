import {symlinkSync} from 'node:fs';
import {expect, test} from 'vitest';
import {diffOutputs, RowMatcher} from '../../../src/output/earlier/diff.ts';
import {changesSchema} from '../../../src/report/changes.ts';
import {createSandbox} from '../../support/command.ts';
import {runHere} from '../../support/main.ts';
import {opened} from '../../support/opened.ts';

const box = opened(createSandbox);

const HEAD = 'id,ip,ip_status,ip_error,ip_is_vpn,ip_country,risk_score,risk_level,risk_reasons\n';
const row = (
  id: string,
  {vpn = false, score = 0, level = 'low', reasons = [] as string[], country = 'DE'} = {},
) =>
  `${id},192.0.2.1,ok,,${vpn},${country},${score},${level},${reasons.length === 0 ? '[]' : `"[""${reasons.join()}""]"`}\n`;

const diff = (line = 'old.csv new.csv --key id') => runHere(box, `diff ${line}`);
const compared = async (line = 'old.csv new.csv --key id') =>
  JSON.parse((await diff(`${line} --json`)).stdout);
/** Writes both outputs. */
function outputs(old = HEAD + row('a'), fresh = HEAD + row('a')): void {
  box.write('old.csv', old);
  box.write('new.csv', fresh);
}

test.each([
  ['new', HEAD + row('0')],
  ['gone', ''],
])('of two outputs, one of which is far longer, all rows are compared: %s', async (what, old) => {
  const long = HEAD + Array.from({length: 9_000}, (_, n) => row(String(n))).join('');
  if (what === 'new') outputs(old, long);
  else outputs(long, HEAD + row('0'));
  expect(await compared()).toMatchObject({[what]: 8_999, unchanged: 1});
});

test('rows are new, gone, changed or unchanged by their key, whatever their order', async () => {
  const worse = row('b', {vpn: true, score: 40, level: 'medium', reasons: ['vpn']});
  const fresh = HEAD + row('e') + worse + row('a', {country: 'FR'}) + row('d');
  outputs(HEAD + row('a') + row('b') + row('c') + row('d'), fresh);
  const {code, stdout} = await diff('old.csv new.csv --key id --json -o changes.csv');
  expect(code).toBe(0);
  expect(changesSchema.parse(JSON.parse(stdout))).toEqual({
    key: ['id'],
    rows: {old: 4, new: 4},
    ...{new: 1, gone: 1, changed: 2, unchanged: 1},
    without_key: {old: 0, new: 0},
    repeated: {old: 0, new: 0},
    levels: {low: {low: 2, medium: 1}},
    reasons: {came: {vpn: 1}, went: {}},
    answers: {ip_is_vpn: 1, ip_country: 1},
    columns: {old: [], new: []},
  });
  const lines = box.read('changes.csv').split('\n');
  expect(lines.map(line => line.slice(0, 2))).toEqual(['id', 'e,', 'b,', 'a,', '']);
  expect((await diff()).stdout).toBe(`1 new, 1 gone, 2 changed, 1 unchanged, matched by "id".

from \\ to  low  medium
low          2       1
medium       0       0

Reasons that came: vpn 1.

Answers that changed: ip_country 1, ip_is_vpn 1.
`);
});

test('CSV, flat and nested NDJSON of one list do not differ', async () => {
  box.write('in.csv', 'id,ip,mail\n1,8.8.8.8,user@example.com\n2,192.0.2.1,nonsense\n3,,\n');
  for (const output of ['a.csv', 'b.ndjson', 'c.ndjson --flatten'])
    await runHere(box, `run in.csv -o ${output} --endpoint embedded --ip ip --email mail`);
  const same = {key: ['id', 'ip', 'mail'], unchanged: 3, changed: 0, new: 0, gone: 0};
  expect(await compared('a.csv b.ndjson')).toMatchObject(same);
  expect(await compared('b.ndjson c.ndjson')).toMatchObject(same);
  expect(await compared('c.ndjson a.csv')).toMatchObject(same);
});

test('repeated and missing keys are told, and no such row is lost', async () => {
  const fresh = row('a', {vpn: true}) + row('a') + row('', {vpn: true}) + row('b');
  outputs(HEAD + row('a') + row('a') + row(''), HEAD + row('a') + fresh);
  const {stdout} = await diff('old.csv new.csv --key id -o changes.csv');
  expect(stdout).toContain('2 new, 0 gone, 1 changed, 1 unchanged, matched by "id".');
  expect(stdout).toContain('old.csv: 1 row without a key: not matched.');
  const matched =
    'with the key of an earlier row. Rows with one key are matched in the order of their files.';
  for (const rows of ['old.csv: 1 row', 'new.csv: 2 rows']) expect(stdout).toContain(`${rows} ${matched}`);
  expect(box.read('changes.csv')).toBe(HEAD + fresh);
});

test('a row without a key in the old output leaves the new row of its number unchanged', async () => {
  outputs(HEAD + row('a') + row('') + row('b'), HEAD + row('a') + row('b'));
  await diff('old.csv new.csv --key id -o changes.csv');
  expect(box.read('changes.csv')).toBe(HEAD);
});

test.each([
  ['ndjson', '\uFEFF{"id":1,"ip_status":"ok","ip_error":null}\r\n'],
  ['csv', '\uFEFFid,id,ip_status,ip_error\r\n1,2,ok,\r\n'],
])('changed rows of a %s file keep its byte order mark, its line ends and its header', async (kind, text) => {
  box.write(`old.${kind}`, text.replaceAll('1', '3'));
  box.write(`new.${kind}`, text);
  const [old, fresh, to] = ['old', 'new', 'changes'].map(name => box.path(`${name}.${kind}`));
  await diffOutputs({old: old as string, new: fresh as string, to});
  expect(box.read(`changes.${kind}`)).toBe(text);
});

test('NDJSON rows are matched by all their own members, also those that the first row lacks', async () => {
  const line = (own: object, city: string) =>
    `${JSON.stringify({...own, ip_status: 'ok', ip_error: null, ip_city: city})}\n`;
  const [none, one, two] = [{ip: '192.0.2.1'}, {ip: '192.0.2.1', id: 1}, {ip: '192.0.2.1', id: 2}];
  box.write('old.ndjson', line(none, 'Bonn') + line(one, 'Bonn') + line(two, 'Rome'));
  box.write('new.ndjson', line(none, 'Bonn') + line(two, 'Rome') + line(one, 'Bonn'));
  const same = {key: ['ip', 'id'], changed: 0, unchanged: 3};
  expect(await compared('old.ndjson new.ndjson')).toMatchObject(same);
});

const unscored = (id: string) => `${id},192.0.2.1,ok,,false,DE,,,\n`;
const more = (columns: string, cells: string) => `${HEAD.trim()},${columns}\n${row('a').trim()},${cells}\n`;
const lists = HEAD.replace('id,', 'list,id,');
const high = {score: 60, level: 'high'};

test.each<[name: string, old: string, fresh: string, expected: object, keys?: string[]]>([
  [
    'a key of several columns tells rows apart whose texts are the same one after the other',
    `${lists}a,${row('bc')}ab,${row('c')}`,
    `${lists}ab,${row('c')}a,${row('bc', {vpn: true})}`,
    {key: ['list', 'id'], new: 0, gone: 0, changed: 1, unchanged: 1, repeated: {old: 0, new: 0}},
    ['list', 'id'],
  ],
  [
    'without a key, rows are matched by the columns that both lists have',
    `was,${HEAD}x,${row('a')}x,${row('b')}`,
    HEAD.replace('id,', 'id,note,') + row('b,y') + row('a,y', {vpn: true}),
    {key: ['id', 'ip'], new: 0, gone: 0, changed: 1, unchanged: 1},
    [],
  ],
  [
    'a row without a score now, or before, has changed, and is counted under the level none',
    HEAD + row('a') + unscored('b') + unscored('c'),
    HEAD + unscored('a') + row('b') + unscored('c'),
    {changed: 2, unchanged: 1, levels: {low: {none: 1}, none: {low: 1, none: 1}}},
  ],
  [
    'a row whose score alone differs has changed',
    HEAD + row('a') + row('b'),
    HEAD + row('a', {score: 5}) + row('b'),
    {changed: 1, unchanged: 1, levels: {low: {low: 2}}, answers: {}},
  ],
  [
    'a reason in the place of another came, and the other went',
    HEAD + row('a', {...high, reasons: ['vpn']}) + row('b', {...high, reasons: ['tor']}),
    HEAD + row('a', {...high, reasons: ['tor']}) + row('b', {...high, reasons: ['tor']}),
    {changed: 1, unchanged: 1, reasons: {came: {tor: 1}, went: {vpn: 1}}},
  ],
  [
    'reasons and levels may have the names of what every object has',
    HEAD + row('a', {reasons: ['constructor']}),
    HEAD + row('a', {reasons: ['__proto__']}),
    {changed: 1, reasons: {came: JSON.parse('{"__proto__": 1}'), went: {constructor: 1}}},
  ],
  [
    'the points of the rules and the missing names explain a score: they change no row by themselves',
    more('risk_points,risk_missing', '"{""vpn"":5}",[]'),
    more('risk_points,risk_missing', '"{""vpn"":2,""proxy"":3}","[""ip.country""]"'),
    {changed: 0, unchanged: 1, answers: {}},
  ],
  [
    'the repairs of a row’s own cells change no row',
    more('input_repairs', ''),
    more('input_repairs', '"{""ip"":[""quoted""]}"'),
    {changed: 0, unchanged: 1, answers: {}, columns: {old: [], new: []}},
  ],
])('%s', async (_, old, fresh, expected, keys = ['id']) => {
  outputs(old, fresh);
  expect(await compared(['old.csv new.csv', ...keys].join(' --key '))).toMatchObject(expected);
});

test('outputs without a column in common can be matched by no key, which is said', async () => {
  outputs(HEAD.replace('id,ip,', 'nr,adresse,') + row('a'), HEAD + row('a'));
  const {code, stderr} = await diff('old.csv new.csv');
  const sentence = 'old.csv and new.csv have no column in common to match rows by.';
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

test('columns that only one output has are named, and the others are compared wherever they stand', async () => {
  outputs(
    'id,ip_status,ip_error,ip_is_vpn,ip_country,risk_score\na,ok,,true,DE,5\nb,ok,,true,DE,5\n',
    'id,ip_status,ip_error,ip_city,ip_country,risk_score\na,ok,,Bonn,DE,5\nb,ok,,Bonn,FR,5\n',
  );
  const same = {changed: 1, unchanged: 1, answers: {ip_country: 1}};
  expect(await compared()).toMatchObject({...same, columns: {old: ['ip_is_vpn'], new: ['ip_city']}});
  expect((await diff()).stdout).toMatch(/^Only old\.csv has ip_is_vpn: .*\nOnly new\.csv has ip_city: /m);
  // With a column fewer before it, the country is another column than before.
  box.write('new.csv', 'id,ip_status,ip_error,ip_country,risk_score\na,ok,,DE,5\nb,ok,,FR,6\n');
  expect(await compared()).toMatchObject({...same, columns: {old: ['ip_is_vpn'], new: []}});
});

test.each([
  ['csv', 'id,ip_status,ip_error,ip_stale,ip_city\n1,ok,,false,Bonn\n'],
  [
    'ndjson',
    '{"id":1,"enrichment":{"ip":{"status":"ok","error":null,"stale":false,"data":{"city":"Bonn"}}}}\n',
  ],
])('an answer that is stale now is another than before, in %s', async (kind, text) => {
  box.write(`old.${kind}`, text);
  box.write(`new.${kind}`, text.replace('false', 'true'));
  const changed = {key: ['id'], changed: 1, answers: {ip_stale: 1}};
  expect(await compared(`old.${kind} new.${kind}`)).toMatchObject(changed);
});

type Add = (pair: ReturnType<RowMatcher['match']>) => void;

/** The numbers of the rows that were matched, with so many of them in memory at most; `-` for none. */
function matchedBy(most: number, match: (pairs: RowMatcher, add: Add) => void): string[] {
  const pairs = new RowMatcher(most);
  const all: string[] = [];
  const add: Add = pair => pair && all.push(`${pair.old?.number ?? '-'} ${pair.new?.number ?? '-'}`);
  match(pairs, add);
  for (const pair of pairs.remaining()) add(pair);
  pairs.close();
  return all.sort();
}

test('rows that wait on disk are matched as those in memory, and repeated keys in their order', () => {
  const repeated = (pairs: RowMatcher, add: Add) => {
    for (const side of ['old', 'new'] as const)
      for (let n = 1; n <= 36; n++) add(pairs.match(side, `k${n % 10}`, {number: n, cells: []}));
  };
  const farApart = (pairs: RowMatcher, add: Add) => {
    for (let n = 1; n <= 1_300; n++) {
      add(pairs.match('old', `k${n % 650}`, {number: n, cells: ['x']}));
      if (n > 100) add(pairs.match('new', `k${(7 * n) % 800}`, {number: n, cells: ['"é']}));
    }
  };
  expect(matchedBy(7, repeated)).toEqual(Array.from({length: 36}, (_, at) => `${at + 1} ${at + 1}`).sort());
  for (const match of [repeated, farApart]) expect(matchedBy(7, match)).toEqual(matchedBy(1e9, match));
});

const OTHER = 'id,ip_status,ip_error,ip_country';
const SHORT = `${HEAD}${row('a')}b,8.8.8.8,ok`;

test.each([
  ['other.csv', 'id,name\n1,x\n', 2, 'other.csv is not an output of bulk-enrich'],
  ['short.csv', SHORT, 8, "short.csv:3 can't be read (expected 9 fields, found 3)"],
  ['empty.csv', '', 8, 'empty.csv is empty'],
  ['foreign.ndjson', '{"id":1,"enrichment":{"company":{"name":"x"}}}\n', 2, 'ndjson is not an output'],
  ['named.csv', `${OTHER}\n1,done,,US\n`, 2, 'named.csv is not an output'],
  ['second.csv', `${OTHER},email_status,email_error\n1,ok,,US,done,\n`, 2, 'second.csv is not an output'],
  ['level.csv', HEAD + row('a', {level: 'severe'}), 2, 'level.csv is not an output'],
])('%s is refused in one sentence, and nothing is written', async (name, text, expected, sentence) => {
  box.write('good.csv', HEAD + row('a'));
  box.write(name, text);
  for (const files of [`good.csv ${name}`, `${name} good.csv`]) {
    const {code, stdout, stderr} = await diff(`${files} --key id -o changes.csv`);
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
  expect(box.files()).toEqual(['good.csv', name].sort());
});

test('a file that ends between two rows is found to be cut off by its summary', async () => {
  box.write('in.csv', 'ip\n8.8.8.8\n192.0.2.1\n');
  await runHere(box, 'run in.csv -o out.csv --endpoint embedded --ip ip');
  box.write('whole.csv', box.read('out.csv'));
  box.write('out.csv', box.read('out.csv').replace(/[^\n]*\n$/, ''));
  expect(await diff('whole.csv out.csv')).toMatchObject({code: 8, errorCode: 'input_corrupt'});
  // Rows that were added by hand are no damage.
  box.write('out.csv', box.read('whole.csv') + (box.read('whole.csv').split('\n')[2] ?? ''));
  expect(await diff('whole.csv out.csv')).toMatchObject({code: 0});
});

test('an output is read back with rows over the length limit of lists, and with a broken summary beside it', async () => {
  const long = row('a').replace('192.0.2.1', 'x'.repeat(3_000_000));
  outputs(HEAD + long, HEAD + long);
  box.write('new.summary.json', '{"output":');
  expect(await compared()).toMatchObject({unchanged: 1});
});

test('a new file that changes before its rows are written is refused, and nothing is written', async () => {
  const [old, fresh] = [HEAD + row('a') + row('b'), HEAD + row('a', {vpn: true}) + row('b')];
  outputs(old, fresh);
  // The columns are read once for each file, and once more after the comparison.
  let read = 0;
  const key = Object.assign(['id'], {
    *[Symbol.iterator]() {
      read += 1;
      // As many bytes as before, but they are the rows of others.
      if (read === 3) box.write('new.csv', fresh.replace('\na,', '\nx,'));
      yield 'id';
    },
  });
  const [from, now, to] = [box.path('old.csv'), box.path('new.csv'), box.path('changes.csv')];
  const compares = diffOutputs({old: from, new: now, key, to});
  await expect(compares).rejects.toMatchObject({code: 'input_changed'});
  expect([read, box.files()]).toEqual([3, ['new.csv', 'old.csv']]);
});

test('an output that a spreadsheet saved with another delimiter is read by its text, not by its summary', async () => {
  const text = HEAD + row('a');
  box.write('old.csv', text);
  box.write('old.summary.json', JSON.stringify({output: {delimiter: ',', bytes: text.length}}));
  box.write('new.csv', `\uFEFF${text.replaceAll(',', ';')}`);
  box.write('new.summary.json', box.read('old.summary.json'));
  expect(await compared()).toMatchObject({changed: 0, unchanged: 1});
});

test.each(['old.csv', 'new.csv'])('a key that is empty in all rows of %s is refused', async name => {
  outputs();
  box.write(name, HEAD + row(''));
  const refused = await diff();
  expect(refused).toMatchObject({code: 2, errorCode: 'unknown_column'});
  expect(refused.stderr).toContain(`no row of ${name} has anything in id`);
});

test.each([
  ['- new.csv', 2, 'no_file'],
  ['old.csv new.csv --key nmae', 2, 'unknown_column'],
  ['old.csv new.csv --key id --key nmae', 2, 'unknown_column'],
  ['old.csv new.csv -o old.csv', 2, 'same_file'],
  ['old.csv new.csv -o new.csv --force', 2, 'same_file'],
  ['old.csv new.csv -o link.csv --force', 2, 'same_file'],
  ['old.csv new.csv -o there.csv', 2, 'output_exists'],
  ['old.csv new.csv -o x.csv.gz', 2, 'output_compressed'],
])('diff %s is refused', async (line, code, errorCode) => {
  outputs();
  box.write('there.csv', 'mine');
  symlinkSync(box.path('new.csv'), box.path('link.csv'));
  expect(await diff(line)).toMatchObject({code, errorCode});
  expect(box.read('there.csv')).toBe('mine');
});

test('outputs with any delimiter are compared, scored again and explained', async () => {
  const run = async (output: string, list: string) => {
    box.write('in.csv', list);
    const line = `run in.csv -o ${output} --ip ip --endpoint embedded --delimiter :`;
    const {code, stderr} = await runHere(box, line);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Warning')]);
  };
  await run('old.csv', 'id:ip\n1:192.0.2.1\n');
  await run('out.csv', 'id:ip\n1:192.0.2.1\n2:192.0.2.2\n');
  const [head, , second] = box.read('out.csv').split('\n');
  await diff('old.csv out.csv -o new.csv');
  expect(box.read('new.csv')).toBe(`${head}\n${second}\n`);
  box.write('rules.yaml', 'rules:\n  - {when: ip.is_bogon, add: 70, reason: bogon}\n');
  const again = await runHere(box, 'score out.csv --rules rules.yaml -o again.csv');
  expect([again.code, box.read('again.csv').split('\n')[0]]).toEqual([0, head]);
  expect((await runHere(box, ['explain', 'out.csv', '--row', '2'])).stdout).toContain('Row 2:');
  expect((await diff('out.csv out.csv')).stdout).toContain('2 unchanged');
});
