import {parse} from 'csv-parse/sync';
import {expect, test} from 'vitest';
import {operationNames} from '../../src/operations/table.ts';
import {createSandbox} from '../support/command.ts';
import {ips} from '../support/stage.ts';
import {header, repeatedList} from './repeated-list.ts';
import {FAST, startService} from './service.ts';

const rows = process.env.SOAK === undefined ? 300 : Number(process.env.SOAK_ROWS ?? 100_000);

test(`${rows} rows with 40% repeated values in varied spelling: each distinct value is one call`, async () => {
  const list = repeatedList(rows);
  expect(list.distinct.size).toBe(0.6 * rows);
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', list.csv);
  const outcome = await sandbox.run(['run', 'list.csv', '--concurrency', '64', ...FAST], {env: service.env});
  expect(outcome).toMatchObject({code: 0, stdout: ''});

  const {ledger} = service;
  const asked = operationNames.flatMap(name =>
    [...ledger.values[name].keys()].map(value => `${name} ${value}`),
  );
  expect(new Set(asked)).toEqual(list.distinct);
  expect(ledger.repeated()).toEqual([]);
  expect(ledger).toMatchObject({
    calls: list.distinct.size,
    credits: list.distinct.size,
    violations: [],
    wrongKey: 0,
    keyElsewhere: [],
  });

  const [names = [], ...written] = parse(sandbox.read('list.enriched.csv')) as string[][];
  expect(names.slice(0, header.length)).toEqual(header);
  expect(written.map(row => row.slice(0, header.length))).toEqual(list.rows);
  const statuses = ['ip', 'email', 'phone'].map(name => names.indexOf(`${name}_status`));
  const answered = written.filter(row => statuses.some(at => row[at] === 'ok')).length;
  const invalid = written.filter(row => statuses.some(at => row[at] === 'invalid')).length;
  expect([answered, invalid]).toEqual([rows - Math.floor(rows / 50), Math.floor(rows / 50)]);

  const summary = sandbox.summary('list.enriched.summary.json');
  expect(summary).toMatchObject({
    status: 'completed',
    exit_code: 0,
    rows: {read: rows, written: rows, rejected: 0, ok: rows},
    calls: {total: list.distinct.size, by_status: {200: list.distinct.size}, retries: 0},
    credits: {
      spent: list.distinct.size,
      maybe_spent: 0,
      saved: {dedupe: answered - list.distinct.size, store: 0, prefilter: invalid},
    },
  });
});

test('two commands over one list in one moment pay once for each value', async () => {
  await using service = await startService({latencyMs: 20});
  using sandbox = createSandbox({'list.csv': ips(200)});
  const run = (output: string) => sandbox.run(['run', 'list.csv', '-o', output, ...FAST], service);
  const ends = await Promise.all(['a.csv', 'b.csv'].map(run));
  expect(ends).toMatchObject([{code: 0}, {code: 0}]);
  expect(service.ledger.calls).toBe(200);
  expect(sandbox.read('a.csv')).toBe(sandbox.read('b.csv'));
});
