import {parse} from 'csv-parse/sync';
import {stringify} from 'csv-stringify/sync';
import {parsePhoneNumber} from 'libphonenumber-js';
import {expect, test} from 'vitest';
import {operationNames} from '../../src/operations/table.ts';
import {createSandbox} from '../support/command.ts';
import {ips} from '../support/stage.ts';
import {FAST, startService} from './service.ts';

const header = ['id', 'contact ip', 'e-mail', 'phone', 'country', 'note'] as const;

/**
 * `rows` rows with one value each: an IP, an e-mail address or a phone number in turn; one in 50 can be none, and 40%
 * repeat an earlier one in another spelling. `distinct`: `<operation> <canonical value>` of each that can be one.
 */
function repeatedList(rows: number) {
  const distinct = new Set<string>();
  const table: string[][] = [];
  for (let n = 0; n < rows; n++) {
    // Of five rows the first three have values of their own, and two have one of up to three fives ago.
    const fivesAgo = Math.min((n * 7) % 3, Math.floor(n / 5));
    const value = n % 5 < 3 ? n : n - 3 - 5 * fivesAgo;
    const [operation, make] = kinds[value % 3] as (typeof kinds)[number];
    const column = 1 + (value % 3);
    const spellings = make(value);
    const row = [String(n).padStart(7, '0'), '', '', '', '', `=note ${n}, "quoted"`];
    if (n % 50 === 49) row[column] = 'not one of them';
    else {
      distinct.add(`${operation} ${spellings[0]}`);
      row[column] = spellings[n % spellings.length] as string;
    }
    row[4] = 'US';
    table.push(row);
  }
  return {csv: stringify([[...header], ...table]), rows: table, distinct};
}

/** Area codes in use in the United States. */
const areas = Array.from({length: 700}, (_, n) => 201 + n).filter(area =>
  parsePhoneNumber(`+1${area}5550100`).isValid(),
);

/** The n-th value in its spellings, the canonical one first. */
const ipOf = (n: number) => {
  const ip = `198.${n < 65_536 ? 18 : 19}.${Math.floor(n / 256) % 256}.${n % 256}`;
  return [ip, ` ${ip}`, `::ffff:${ip}`, `${ip}\t`];
};
const emailOf = (n: number) =>
  ['User.N@example.com', 'User.N@EXAMPLE.com', '  User.N@example.COM.'].map(text =>
    text.replace('N', String(n)),
  );
const phoneOf = (n: number) => {
  // 555-0100 to 555-0199 are for fiction, in every area.
  const [block, last] = [Math.floor(n / 300), Math.floor(n / 3) % 100];
  const area = areas[block % areas.length];
  const exchange = `${2 + ((3 + Math.floor(block / areas.length)) % 8)}55`;
  const line = `01${String(last).padStart(2, '0')}`;
  const canonical = `+1${area}${exchange}${line}`;
  const [local, spaced] = [`${exchange}-${line}`, `+1 ${area} ${exchange} ${line}`];
  return [canonical, `(${area}) ${local}`, `1-${area}-${local}`, spaced, `tel:${canonical}`];
};
const kinds = [['ip', ipOf] as const, ['email', emailOf] as const, ['phone', phoneOf] as const];

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
  const {size} = list.distinct;
  expect(ledger).toMatchObject({calls: size, credits: size, violations: [], wrongKey: 0, keyElsewhere: []});

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
    calls: {total: size, by_status: {200: size}, retries: 0},
    credits: {spent: size, maybe_spent: 0, saved: {dedupe: answered - size, store: 0, prefilter: invalid}},
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
