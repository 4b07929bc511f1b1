import {parse} from 'csv-parse/sync';
import {expect} from 'vitest';
import {operationNames} from '../../src/operations/table.ts';
import {createSandbox} from '../support/command.ts';
import {header, repeatedList} from './repeated-list.ts';
import {FAST, startService} from './service.ts';

/** The main promise, with so many rows: every value is paid for once, every row comes back, the books balance. */
export async function expectPaidOnce(rows: number): Promise<void> {
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
}
