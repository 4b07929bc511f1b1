import {parse} from 'csv-parse/sync';
import {expect} from 'vitest';
import {startApiProcess} from '../support/api-process.ts';
import {createSandbox} from '../support/command.ts';
import {header, repeatedList} from './repeated-list.ts';

const KEY = 'pay-once-key-0123456789';

/** The main promise, with so many rows: every value is paid for once, every row comes back, the books balance. */
export async function expectPaidOnce(rows: number): Promise<void> {
  const list = repeatedList(rows);
  expect(list.distinct.size).toBe(0.6 * rows);
  await using server = await startApiProcess({key: KEY});
  using sandbox = createSandbox();
  sandbox.write('list.csv', list.csv);
  const outcome = await sandbox.run(
    ['run', 'list.csv', '--rate', 'unlimited', '--concurrency', '64', '--score', 'none'],
    {
      env: {BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: KEY},
    },
  );
  expect(outcome).toMatchObject({code: 0, stdout: ''});

  const asked = await server.values();
  expect(new Set(asked.keys())).toEqual(list.distinct);
  expect([...asked.values()].every(times => times === 1)).toBe(true);
  expect(await server.ledger()).toMatchObject({
    calls: list.distinct.size,
    credits: list.distinct.size,
    violations: 0,
    wrong_key: 0,
    key_elsewhere: 0,
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
