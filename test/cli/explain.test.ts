import {afterAll, beforeEach, expect, test} from 'vitest';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

let box: Sandbox;
beforeEach(() => {
  box?.[Symbol.dispose]();
  box = createSandbox();
  // The second record can't be read: the rows behind it keep their numbers.
  box.write('in.csv', 'ip,amount\n192.0.2.1,5\n192.0.2.2,5,6\n8.8.8.8,a lot\n192.0.2.3,700\n');
  box.write(
    'rules.yaml',
    'rules:\n  - {when: ip.is_bogon, add: 60, reason: bogon}\n  - {when: double(row.amount) > 100, add: 70, reason: much}\n  - {when: ip.is_threat, add: 5, reason: threat}\n',
  );
});
afterAll(() => box[Symbol.dispose]());

const explain = async (...args: string[]) => {
  const {code, stdout, stderr} = await runHere(box, ['explain', ...args]);
  return {code, said: stdout + stderr};
};
const enrich = (output: string, ...more: string[]) =>
  runHere(box, [
    'run',
    'in.csv',
    '--ip',
    'ip',
    '-o',
    output,
    '--endpoint',
    'embedded',
    '--score',
    'rules.yaml',
    ...more,
  ]);

test.each(['out.csv', 'out.ndjson', 'flat.ndjson'])(
  '%s: the points of a row with their rules, and what was missing',
  async output => {
    await enrich(output, ...(output.startsWith('flat') ? ['--flatten'] : []));
    const both = await explain(output, '--row', '4');
    expect(both.code).toBe(0);
    expect(both.said).toMatch(/^Row 4: 100 \(130, kept between 0 and 100\), high\.$/m);
    expect(both.said).toMatch(/^bogon +\+60 +ip\.is_bogon$/m);
    expect(both.said).toMatch(/^much +\+70 +double\(row\.amount\) > 100$/m);
    expect(both.said).toContain('Missing or of no use to a rule: ip.is_threat.');
    const none = await explain(output, '--row', '3');
    expect(none.said).toMatch(
      /^Row 3: 0, low\.\nNo rule held\.\nMissing or of no use to a rule: row\.amount, ip\.is_threat\.$/m,
    );
  },
);

test.each(['out.csv', 'out.ndjson', 'flat.ndjson'])(
  '%s: the rows of a level, by the numbers that the summary has',
  async output => {
    await enrich(output, ...(output.startsWith('flat') ? ['--flatten'] : []));
    const high = await explain(output, '--level', 'high');
    expect(high).toEqual({
      code: 0,
      said: `      row  score  reasons
        1     60  bogon
        4    100  bogon, much
2 rows of high risk. To see why one of them is: bulk-enrich explain ${output} --row N
`,
    });
    expect(box.summary(output.replace(/\.\w+$/, '.summary.json')).risk?.high_rows).toEqual([1, 4]);
    expect((await explain(output, '--level', 'medium')).said).toBe('0 rows of medium risk.\n');
  },
);

test.each([
  [['--level', 'hihg'], /--level <LEVEL>.*hihg.*Did you mean high\?/s],
  [[], /--row N, or --level/],
  [['--row', '1', '--level', 'high'], /--row N, or --level/],
])('explain with %j says what it needs', async (args, message) => {
  await enrich('out.csv');
  const {code, said} = await explain('out.csv', ...args);
  expect([code, said]).toEqual([2, expect.stringMatching(message)]);
});

test.each([
  ['2', 'Row 2 could not be read: see out.rejects.ndjson.'],
  ['5', 'out.csv has no row 5'],
  ['x', '--row: expected the number of a row'],
])('row %s is none', async (row, message) => {
  await enrich('out.csv');
  const {code, said} = await explain('out.csv', '--row', row);
  expect(code).toBe(2);
  expect(said).toContain(message);
});

test('an output without points says so', async () => {
  await enrich('out.csv', '--fields', 'ip.country');
  const {code, said} = await explain('out.csv', '--row', '1');
  expect(code).toBe(2);
  expect(said).toContain('Row 1 of out.csv has no points of a score');
});
