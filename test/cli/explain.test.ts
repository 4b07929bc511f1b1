import {expect, test, vi} from 'vitest';
import {scoreExplanationSchema} from '../../src/report/changes.ts';
import {ListFacts} from '../../src/score/list-facts.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const FILES = {
  // The second record can't be read: the rows behind it keep their numbers.
  'in.csv': 'ip,amount\n192.0.2.1,5\n192.0.2.2,5,6\n8.8.8.8,a lot\n192.0.2.3,700\n',
  'rules.yaml':
    'rules:\n  - {when: ip.is_bogon, add: 60, reason: bogon}\n  - {when: double(row.amount) > 100, add: 70, reason: much}\n  - {when: ip.is_threat, add: 5, reason: threat}\n',
};
const box = opened(() => createSandbox(FILES));

const ruled = (...rules: string[]) =>
  box.write('rules.yaml', `rules:\n${rules.map(one => `  - {${one}}\n`).join('')}`);

const explain = async (...args: string[]) => {
  const {code, stdout, stderr} = await runHere(box, ['explain', ...args]);
  return {code, said: stdout + stderr};
};
const enrich = (output: string, more = '') =>
  runHere(box, `run in.csv --ip ip -o ${output} --endpoint embedded --score rules.yaml ${more}`);

test.each(['out.csv', 'out.ndjson', 'flat.ndjson'])(
  '%s: the points of a row with their rules, and what was missing; the rows of a level, by the numbers of the summary',
  async output => {
    await enrich(output, output.startsWith('flat') ? '--flatten' : '');
    const both = await explain(output, '--row', '4');
    expect(both.code).toBe(0);
    expect(both.said).toMatch(/^Row 4: 100 \(130, kept between 0 and 100\), high\.$/m);
    expect(both.said).toMatch(/^bogon +\+60 +ip\.is_bogon$/m);
    expect(both.said).toMatch(/^much +\+70 +double\(row\.amount\) > 100$/m);
    expect(both.said).toContain(
      'The rules could not use these fields, as they are missing or do not fit (no number, or a division by zero): ip.is_threat.',
    );
    const none = await explain(output, '--row', '3');
    expect(none.said).toMatch(
      /^Row 3: 0, low\.\nNo rule held\.\nThe rules could not use these fields, as they are missing or do not fit \(no number, or a division by zero\): row\.amount, ip\.is_threat\.$/m,
    );
    const high = await explain(output, '--level', 'high');
    expect(high).toEqual({
      code: 0,
      said: `      row  score  reasons
        1     60  bogon
        4    100  bogon, much
2 rows of high risk. To see why: bulk-enrich explain ${output} --row N
`,
    });
    expect(box.summary(output.replace(/\.\w+$/, '.summary.json')).risk?.high_rows).toEqual([1, 4]);
    expect((await explain(output, '--level', 'medium')).said).toBe('0 rows of medium risk.\n');
  },
);

test.each([
  [['--level', 'hihg'], /--level <LEVEL>.*hihg.*Did you mean high\?/s],
  [[], /--row N, --where EXPR, or --level/],
  [['--row', '1', '--level', 'high'], /--row N, --where EXPR, or --level/],
  [['--row', '1'], /Row 1 of out\.csv has no score to explain/],
])('explain with %j says what it needs', async (args, message) => {
  await enrich('out.csv', '--fields ip.country');
  const {code, said} = await explain('out.csv', ...args);
  expect([code, said]).toEqual([2, expect.stringMatching(message)]);
});

test('the counts of the whole list are closed once the row is explained', async () => {
  const people = Array.from({length: 9}, (_, n) => `192.0.2.${n % 2},jo${n}@example.com\n`).join('');
  box.write('in.csv', `ip,email\n${people}`);
  ruled('when: shared.ip > 1, add: 60, reason: several');
  await enrich('out.csv', '--email email');
  const close = vi.spyOn(ListFacts.prototype, 'close');
  expect((await explain('out.csv', '--row', '1')).said).toMatch(/^several +\+60/m);
  expect(close).toHaveBeenCalledOnce();
  close.mockRestore();
});

test('rows are found by their columns, and explain shows what the next level needs', async () => {
  await enrich('out.csv');
  const {said, code} = await explain('out.csv', '--where', 'row.amount == "a lot" || row.amount == "5"');
  expect(code).toBe(0);
  const found = said.split('\n').filter(line => line.startsWith('Row'));
  expect(found).toEqual(['Row 1: 60, high.', 'Row 3: 0, low.']);
  expect(said).toContain('To be medium: 1 point fewer (enough alone: bogon).');
  expect(said).toContain('To be medium: 30 points more (enough alone: bogon, much).');
  const told = async (...args: string[]) => (await explain('out.csv', ...args)).said;
  expect(await told('--row', '4')).toContain('To be medium: 71 points fewer (no rule is enough alone).');
  expect(await told('--where', 'row.amount == "none"')).toContain('has no row where this is true');
  expect(await told('--where', 'row.amuont == "5"')).toContain('Did you mean "amount"?');
});

test('values are shown to a terminal, and never to anything else', async () => {
  await enrich('out.csv');
  const shown = async (...more: string[]) => (await explain('out.csv', '--row', '4', ...more)).said;
  expect(await shown()).not.toContain('700');
  expect(await shown('--json')).not.toContain('700');
  const {isTTY} = process.stdout;
  process.stdout.isTTY = true;
  try {
    expect(await shown()).toContain('Went by: ip.is_bogon = true, row.amount = "700".');
  } finally {
    process.stdout.isTTY = isTTY;
  }
});

test('--json has a line for each row', async () => {
  await enrich('out.csv');
  const {said} = await explain('out.csv', '--level', 'high', '--json');
  const lines = said
    .trim()
    .split('\n')
    .map(line => scoreExplanationSchema.parse(JSON.parse(line)));
  expect(lines.map(({row, score}) => [row, score])).toEqual([
    [1, 60],
    [4, 100],
  ]);
  expect(lines[0]?.rules).toEqual([{reason: 'bogon', when: 'ip.is_bogon', add: 60, reads: ['ip.is_bogon']}]);
});

test('an owner, and a shadow rule that holds, are told', async () => {
  const told = 'when: ip.is_bogon, add: 60, reason: bogon, description: Of no network, owner: abuse team';
  ruled(told, 'when: ip.is_bogon, add: 5, reason: tried, shadow: true');
  await enrich('out.csv');
  const {said} = await explain('out.csv', '--row', '1');
  expect(said).toMatch(/^bogon +\+60 +ip\.is_bogon +Of no network \(abuse team\)$/m);
  expect(said).toMatch(/^tried \(shadow\) +not added +ip\.is_bogon$/m);
});

test('now is the start of the run that wrote the output, in shadow rules and in --where', async () => {
  const when = `'ip.is_bogon && now > timestamp("2020-01-01T00:00:00Z")'`;
  ruled(`when: ${when}, add: 5, reason: tried, shadow: true`);
  await enrich('out.csv');
  expect((await explain('out.csv', '--row', '1')).said).toMatch(/^tried \(shadow\)/m);
  const summary = JSON.parse(box.read('out.summary.json'));
  box.write('out.summary.json', JSON.stringify({...summary, started_at: '2019-01-01T00:00:00.000Z'}));
  expect((await explain('out.csv', '--row', '1')).said).not.toContain('tried');
  const before = 'row.ip == "192.0.2.1" && now < timestamp("2020-01-01T00:00:00Z")';
  expect((await explain('out.csv', '--where', before)).said).toContain('Row 1:');
});

test('the next levels are those of the run’s own rules, and no shadow rule leads to one', async () => {
  box.write(
    'rules.yaml',
    'levels: {medium: 50, high: 65}\nrules:\n  - {when: ip.is_bogon, add: 60, reason: bogon}\n  - {when: row.amount == "x", add: 5, reason: five}\n  - {when: row.amount == "y", add: 50, reason: tried, shadow: true}\n',
  );
  await enrich('out.csv');
  const {said} = await explain('out.csv', '--row', '1');
  expect(said).toContain('Row 1: 60, medium.');
  expect(said).toContain('To be high: 5 points more (enough alone: five).');
  expect(said).toContain('To be low: 11 points fewer (enough alone: bogon).');
});
