import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {z} from 'zod';
import {Sqlite} from '../../src/disk/sqlite.ts';
import type {PlanReport as Plan} from '../../src/estimate/estimate.ts';
import {RunHistory} from '../../src/ledger/history.ts';
import {type RunRecord, recordOfCutOff} from '../../src/report/run-record.ts';
import type {Spend} from '../../src/report/spend.ts';
import {type Service, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

interface Runs {
  readonly runs: readonly RunRecord[];
}

let service: Service;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startService();
  sandbox = createSandbox();
});
afterAll(async () => {
  await service.close();
  sandbox[Symbol.dispose]();
});

const here = (...args: string[]) => runHere(sandbox, args, {env: service.env});

/** Runs a command and returns what it writes, once it fits its schema in docs. */
async function checked<T>(schema: string, ...args: string[]): Promise<T> {
  const {code, stdout, stderr} = await here(...args);
  expect(code, stderr).toBe(0);
  const written = JSON.parse(
    readFileSync(new URL(`../../docs/${schema}.schema.json`, import.meta.url), 'utf8'),
  );
  const found: unknown = JSON.parse(stdout);
  expect(z.fromJSONSchema(written).safeParse(found)).toMatchObject({success: true});
  expect(z.fromJSONSchema(written).safeParse({}).success).toBe(schema === 'lookup');
  return found as T;
}

const list = (rows: number) =>
  `ip,email\n${Array.from({length: rows}, (_, n) => `203.0.113.${n},person${n}@example.com\n`).join('')}`;

test('before any run there is nothing to say, and nothing is made', async () => {
  // Another user, or another environment, has another history.
  expect((await here('runs')).stdout).toMatch(
    /^No run has ended in the last 30d, by the history in \/.*bulk-enrich\.\n$/,
  );
  expect((await here('spend', '--since', '7d')).stdout).toBe(
    'No run of a service that charges has ended in the last 7d.\n',
  );
  expect((await checked<Runs>('runs', 'runs', '--json')).runs).toEqual([]);
  expect(await here('runs', '--since', 'soon')).toMatchObject({code: 2});
  expect(await here('spend', '--json', '--csv')).toMatchObject({code: 2});
  expect(await here('spend', '--by', 'hour')).toMatchObject({code: 2});
});

describe('after some runs, named and unnamed, killed and resumed', () => {
  beforeAll(async () => {
    sandbox.write('secret-place/list.csv', list(30));
    const args = ['run', 'secret-place/list.csv', '--score', 'none', '--rate', 'unlimited'];
    await here(...args, '--max-credits', '20');
    await here(...args, '--max-credits', '100');
    sandbox.write(
      'night.yaml',
      'name: nightly\ninput: secret-place/list.csv\noutput: night.csv\nendpoint: live\nip: ip\nemail: email\nforce: true\ncost: email=0.7\nrate: unlimited\n',
    );
    await here(...args, '--endpoint', 'embedded', '-o', 'practice.csv');
    sandbox.write('secret-place/list.csv', list(33));
    service.setScript(call => (call.value === '203.0.113.32' ? reply.error(422, 'odd') : undefined));
    await here('run', '--job', 'night.yaml');
    service.setScript(undefined);
  });

  test('runs has a line for each end, which add up to what the service counted', async () => {
    const {runs} = await checked<Runs>('runs', 'runs', '--json');
    expect(runs).toMatchObject([
      {job: null, list: 'list.csv', reason: 'budget', exit_code: 7, calls: 20, saved: expect.any(Number)},
      {job: null, list: 'list.csv', reason: 'done', exit_code: 0, rows: 30, calls: 40, hit_rate: 0},
      {job: null, account: {endpoint: 'embedded'}, calls: 60},
      {job: 'nightly', reason: 'done', exit_code: 0, rows: 33, calls: 6, hit_rate: 0.909091},
    ]);
    expect(runs[0]?.run_id).toBe(runs[1]?.run_id);
    expect(runs[3]?.credits).toEqual({
      spent: 4.1,
      maybe_spent: 1,
      by_operation: {ip: {calls: 3, spent: 2, maybe_spent: 1}, email: {calls: 3, spent: 2.1, maybe_spent: 0}},
    });
    expect(runs.reduce((sum, {calls}) => sum + calls, 0)).toBe(60 + service.ledger.calls);
    expect((await checked<Runs>('runs', 'runs', '--json', '--job', 'nightly')).runs).toHaveLength(1);
    const {stdout} = await here('runs');
    expect(stdout.split('\n')[0]).toMatch(
      /^run +ended \(UTC\) +job or list +why +exit +rows +calls +credits +maybe +saved +known$/,
    );
    expect(stdout).toMatch(/ \d\d-\d\d \d\d:\d\d +nightly +done +0 +33 +6 +4\.1 +1 +/);
    expect(stdout).toMatch(/list\.csv +budget +7 +/);
    // The embedded service charges nothing.
    expect(stdout).toMatch(/list\.csv +done +0 +30 +60 +free +/);
    expect((await here('runs', '--csv')).stdout.split('\n')[0]).toMatch(
      /^run_id,.*,drift,credits_email,credits_ip$/,
    );
  });

  test('a summary is kept of each, without its directories', async () => {
    const {runs} = await checked<Runs>('runs', 'runs', '--json');
    const {stdout} = await here('runs', runs[0]?.run_id.slice(0, 8) ?? '');
    expect(JSON.parse(stdout)).toMatchObject({
      exit_code: 0,
      input: {paths: ['list.csv']},
      rows: {written: 30},
    });
    expect(await here('runs', 'nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no summary'),
    });
  });

  test('spend sums up by day, job and operation', async () => {
    const {groups, total} = await checked<Spend>('spend', 'spend', '--json');
    expect(total).toEqual({runs: 2, calls: 66, spent: 64.1, maybe_spent: 1, money: {}});
    expect(groups.reduce((sum, {spent}) => sum + spent, 0)).toBeCloseTo(64.1, 6);
    expect((await checked<Spend>('spend', 'spend', '--json', '--by', 'job')).groups).toEqual([
      {name: 'list.csv', runs: 1, calls: 60, spent: 60, maybe_spent: 0, money: {}},
      {name: 'nightly', runs: 1, calls: 6, spent: 4.1, maybe_spent: 1, money: {}},
    ]);
    const {stdout} = await here('spend', '--by', 'operation');
    expect(stdout).toMatch(/^ip +32 +1 +33 +2 {2}█{40}$/m);
    expect(stdout).toContain('64.1 credits spent and 1 perhaps in the last 30d, by 66 calls of 2 runs.');
    expect((await here('spend', '--by', 'operation', '--csv')).stdout).toBe(
      'operation,runs,calls,credits_spent,credits_maybe_spent,money\nip,2,33,32,1,\nemail,2,33,32.1,0,\n',
    );
  });

  test('plan shows the last cost of the same list', async () => {
    const named = await checked<Plan>('plan', 'plan', '--job', 'night.yaml', '--json');
    expect(named.last).toMatchObject({rows: 33, calls: 6, credits: 5.1});
    const unnamed = await checked<Plan>('plan', 'plan', 'secret-place/list.csv', '--json');
    expect(unnamed.last).toMatchObject({rows: 30, calls: 60, credits: 60, hit_rate: 0});
    expect((await here('plan', 'secret-place/list.csv')).stdout).toMatch(
      /^Last time \(.*UTC\): 60 credits for 30 rows, 0% of the values known\.$/m,
    );
    sandbox.write('other.csv', list(2));
    expect((await checked<Plan>('plan', 'plan', 'other.csv', '--json')).last).toBeNull();
  });

  test('nothing in the history is a value, a key or a directory', () => {
    const kept = readFileSync(join(sandbox.home, 'state', 'bulk-enrich', 'runs.db'), 'latin1');
    expect(kept).toContain('nightly');
    expect(kept).not.toMatch(/person|203\.0|secret-place|canary-key/);
  });

  test('doctor, store stats and lookup write what their schemas say', async () => {
    await checked('doctor', 'doctor', '--json');
    const stats = await checked<{answers: unknown}>('store-stats', 'store', 'stats', '--json');
    expect(stats.answers).toMatchObject([
      {operation: 'email', answers: 63},
      {operation: 'ip', answers: 63},
    ]);
    expect(await checked('store-stats', 'store', 'stats', '--json', '--store', 'nowhere')).toMatchObject({
      bytes: 0,
    });
    await checked('lookup', 'lookup', 'ip', '203.0.113.7', '--json');
  });

  test('a damaged line is skipped; a damaged summary is an error with advice', async () => {
    const {length} = (await checked<Runs>('runs', 'runs', '--json')).runs;
    const db = new Sqlite(join(sandbox.home, 'state', 'bulk-enrich', 'runs.db'), {
      synchronous: 'OFF',
      busyTimeoutMs: 5_000,
    });
    const [run] = db.query(['run_id'], 'FROM run ORDER BY id LIMIT 1').all();
    db.exec("UPDATE run SET summary = '{'; UPDATE run SET line = '{' WHERE id = 1");
    expect((await checked<Runs>('runs', 'runs', '--json')).runs).toHaveLength(length - 1);
    const unusable = {code: 9, stderr: expect.stringContaining('Move the file runs.db')};
    expect(await here('runs', String(run?.run_id))).toMatchObject(unusable);
    db.exec("UPDATE run SET line = CAST(x'ff' AS TEXT) WHERE id = 1");
    db.close();
    expect(await here('spend')).toMatchObject(unusable);
  });
});

test('a run of a job without a name is known by its list, and not by a path', async () => {
  using other = createSandbox();
  other.write('list.csv', list(12));
  const {env} = service;
  const args = ['run', 'list.csv', '--ip', 'ip', '--only', 'ip', '--limit', '3'];
  expect((await runHere(other, args, {env})).code).toBe(0);
  const {stdout} = await runHere(other, ['runs', '--json'], {env});
  expect((JSON.parse(stdout) as Runs).runs).toMatchObject([{job: null, list: 'list.csv'}]);
  expect(stdout).not.toContain(other.path(''));
});

test('sessions of two years and two accounts are told apart, and a killed one has no exit code', async () => {
  using other = createSandbox();
  const facts = {
    ...{run_id: 'aaaaaaaa-1', started_at: '2025-12-31T22:00:00.000Z', job: 'nightly', list: 'list.csv'},
    ...{account: {endpoint: 'https://api.example.com', label: 'default'}},
    price: {per_credit: 0.5, currency: 'EUR'},
  };
  const spent = {
    ip: {calls: 5, spent: 5, maybe_spent: 0},
    email: {calls: 2, spent: 1.4, maybe_spent: 0.7},
  };
  const own: RunRecord = {
    ...recordOfCutOff(facts, '2025-12-31T23:00:00.000Z', spent),
    ...({
      status: 'partial',
      reason: 'lookups_failed',
      exit_code: 3,
      rows: 7,
      saved: 4,
      hit_rate: 0.25,
    } as const),
    ...{store_trouble: true, drift: ['rows', 'failed']},
  };
  const account = {...facts.account, label: 'shop'};
  const doubtful = {ip: {calls: 3, spent: 2, maybe_spent: 0.5}};
  const killed = recordOfCutOff(
    {...facts, run_id: 'bbbbbbbb-2', account},
    '2026-01-01T02:00:00.000Z',
    doubtful,
  );
  const history = new RunHistory(join(other.home, 'state', 'bulk-enrich'));
  history.add(
    [own, killed].map(record => ({
      ...{bill: record.run_id, runId: record.run_id, endedAt: Date.parse(record.ended_at), job: 'nightly'},
      ...{list: null, isComplete: false, line: JSON.stringify(record), summary: null},
    })),
  );
  history.close();
  const listed = async (...args: string[]) =>
    (await runHere(other, [...args, '--since', '36500d'])).stdout.trimEnd().split('\n');
  expect((await listed('runs')).map(line => line.replaceAll(/ {2,}/g, '|'))).toEqual([
    'run|ended (UTC)|job or list|why|account|exit|rows|calls|credits|money|maybe|saved|known',
    'aaaaaaaa|2025-12-31 23:00|nightly|lookups failed; without the store; unlike: rows, failed|default|3|7|7|6.4|3.20 EUR|0.7|4|25%',
    'bbbbbbbb|2026-01-01 02:00|nightly|cut off|shop|–|–|3|2|1.00 EUR|0.5|–|–',
  ]);
  expect((await listed('runs', '--csv')).slice(1)).toEqual([
    'aaaaaaaa-1,2025-12-31T22:00:00.000Z,2025-12-31T23:00:00.000Z,nightly,list.csv,https://api.example.com,default,partial,lookups_failed,3,7,7,6.4,0.7,4,0.25,true,rows failed,2.1,5',
    'bbbbbbbb-2,2025-12-31T22:00:00.000Z,2026-01-01T02:00:00.000Z,nightly,list.csv,https://api.example.com,shop,interrupted,cut_off,,,3,2,0.5,,,false,,0,2.5',
  ]);
  expect((await listed('spend', '--by', 'job', '--csv')).slice(1)).toEqual(['nightly,2,10,8.4,1.2,4.20 EUR']);
});
