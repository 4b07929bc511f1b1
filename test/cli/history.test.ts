import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {z} from 'zod';
import {type RunRecord, type Spend, UNFINISHED_REASON} from '../../src/report/run-record.ts';
import type {Summary} from '../../src/report/summary.ts';
import {saveRunInHistory} from '../../src/run/end/history.ts';
import type {PlanReport as Plan} from '../../src/run/plan.ts';
import {startService} from '../e2e/service.ts';
import {fullSummary} from '../report/summaries.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

type Runs = {readonly runs: readonly RunRecord[]};

const service = opened(startService, beforeAll);
const sandbox = opened(createSandbox, beforeAll);

const at = (box: Sandbox, args: readonly string[]) => runHere(box, args, {env: service.env});
const here = (...args: string[]) => at(sandbox, args);

/** Runs a command and returns what it writes, once it fits its schema in docs. */
async function checked<T>(schema: string, ...args: string[]): Promise<T> {
  return readChecked(schema, await here(...args));
}

function readChecked<T>(schema: string, {code, stdout, stderr}: Awaited<ReturnType<typeof here>>): T {
  expect(code, stderr).toBe(0);
  const written = JSON.parse(
    readFileSync(new URL(`../../docs/${schema}.schema.json`, import.meta.url), 'utf8'),
  );
  const found: unknown = JSON.parse(stdout);
  expect(z.fromJSONSchema(written).safeParse(found)).toMatchObject({success: true});
  expect(z.fromJSONSchema(written).safeParse({}).success).toBe(schema === 'lookup');
  return found as T;
}

const filesOfHistory = ({home}: Sandbox) => {
  const directory = join(home, 'state', 'bulk-enrich', 'runs');
  return readdirSync(directory).map(name => join(directory, name));
};

const list = (rows: number) =>
  `ip,email\n${Array.from({length: rows}, (_, n) => `203.0.113.${n},person${n}@example.com\n`).join('')}`;

test('before any run there is nothing to say, and nothing is made', async () => {
  // Another user, or another environment, has another history.
  using fresh = createSandbox();
  const here = (...args: string[]) => at(fresh, args);
  expect((await here('runs')).stdout).toMatch(
    /^No run has ended in the last 30d, by the history in \/.*bulk-enrich\/runs\.\n$/,
  );
  expect((await here('spend', '--since', '7d')).stdout).toBe(
    'No run of a service that charges has ended in the last 7d.\n',
  );
  expect(readChecked<Runs>('runs', await here('runs', '--json')).runs).toEqual([]);
  expect(await here('runs', '--since', '99999999999d')).toMatchObject({code: 0});
  expect(await here('runs', '--since', 'soon')).toMatchObject({code: 2});
  expect(await here('spend', '--json', '--csv')).toMatchObject({code: 2});
  expect(await here('spend', '--by', 'hour')).toMatchObject({code: 2});
});

describe('after some runs, named and unnamed, killed and resumed', () => {
  let calls = 0;
  beforeAll(async () => {
    sandbox.write('secret-place/list.csv', list(30));
    const args = ['run', 'secret-place/list.csv', '--score', 'none', '--rate', 'unlimited'];
    const before = service.ledger.calls;
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
    calls = service.ledger.calls - before;
  });

  test('runs has a line for each run, which add up to what the service counted', async () => {
    const {runs} = await checked<Runs>('runs', 'runs', '--json');
    expect(JSON.stringify(runs)).not.toContain('secret-place');
    expect(runs).toMatchObject([
      {job: null, list: 'list.csv', reason: 'done', exit_code: 0, rows: 30, calls: 60, hit_rate: 0},
      {job: null, account: {endpoint: 'embedded'}, calls: 60},
      {job: 'nightly', reason: 'lookups_failed', exit_code: 3, rows: 33, calls: 6, hit_rate: 0.909091},
    ]);
    expect(runs[2]?.credits).toEqual({
      spent: 4.1,
      maybe_spent: 1,
      by_operation: {ip: {calls: 3, spent: 2, maybe_spent: 1}, email: {calls: 3, spent: 2.1, maybe_spent: 0}},
    });
    expect(runs.reduce((sum, run) => sum + run.calls, 0)).toBe(60 + calls);
    expect((await checked<Runs>('runs', 'runs', '--json', '--job', 'nightly')).runs).toHaveLength(1);
    const {stdout} = await here('runs');
    expect(stdout.split('\n')[0]).toMatch(
      /^run +ended \(UTC\) +job or list +why +exit +rows +calls +credits +maybe +saved +known$/,
    );
    expect(stdout).toMatch(/ \d\d-\d\d \d\d:\d\d +nightly +lookups failed +3 +33 +6 +4\.1 +1 +/);
    // The embedded service charges nothing.
    expect(stdout).toMatch(/list\.csv +done +0 +30 +60 +free +/);
    expect((await here('runs', '--csv')).stdout.split('\n')[0]).toMatch(
      /^run_id,.*,drift,credits_email,credits_ip$/,
    );
  });

  test('a summary is kept of each, without its directories', async () => {
    const {runs} = await checked<Runs>('runs', 'runs', '--json');
    const {stdout} = await here('runs', runs[0]?.run_id.slice(0, 8) ?? '');
    const kept = {exit_code: 0, input: {paths: ['list.csv']}, rows: {written: 30}};
    expect(JSON.parse(stdout)).toMatchObject(kept);
    const nobody = await here('runs', 'nobody');
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('There is no run "nobody"')]);
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
    expect(stdout).toMatch(/^Credits of runs \(lookup, verify and doctor --call are not counted\):\n/);
    expect(stdout).toMatch(/^ip +32 +1 +33 +2 {2}█{40}$/m);
    expect(stdout).toContain('64.1 credits spent and 1 perhaps in the last 30d, by 66 calls of 2 runs.');
    expect((await here('spend', '--by', 'operation', '--csv')).stdout).toBe(
      'operation,runs,calls,credits_spent,credits_maybe_spent,money\nip,2,33,32,1,\nemail,2,33,32.1,0,\n',
    );
  });

  test('plan shows the last cost of the job', async () => {
    const named = await checked<Plan>('plan', 'plan', '--job', 'night.yaml', '--json');
    expect(named.last).toMatchObject({rows: 33, calls: 6, credits: 5.1});
    expect((await here('plan', '--job', 'night.yaml')).stdout).toMatch(
      /^Last time \(.*UTC\): 5\.1 credits for 33 rows, 91% of the values known\.$/m,
    );
    // A list without a job's name may be another one.
    expect((await checked<Plan>('plan', 'plan', 'secret-place/list.csv', '--json')).last).toBeNull();
  });

  test('nothing in the history is a value, a key or a directory', () => {
    const kept = filesOfHistory(sandbox)
      .map(path => readFileSync(path, 'utf8'))
      .join();
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

  test('a damaged file is named, and left out', async () => {
    const {length} = (await checked<Runs>('runs', 'runs', '--json')).runs;
    const [path = ''] = filesOfHistory(sandbox);
    const before = readFileSync(path);
    onTestFinished(() => writeFileSync(path, before));
    writeFileSync(path, '{');
    const {code, stdout, stderr} = await here('runs', '--json');
    expect([code, (JSON.parse(stdout) as Runs).runs.length]).toEqual([0, length - 1]);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`${path} is damaged, so that run is left out.`);
  });
});

test('runs of two years and two accounts are told apart, and a killed one has no exit code', async () => {
  using other = createSandbox();
  const env = {XDG_STATE_HOME: join(other.home, 'state')};
  const keep = (of: Partial<Summary>, label: string, spent: number, maybe_spent: number, dedupe: number) => {
    const {rows, lookups, calls, credits} = fullSummary();
    const summary = fullSummary({
      ...{started_at: '2025-12-31T22:00:00.000Z', job: 'nightly', drift: []},
      endpoint: {kind: 'live', base_url: 'https://api.example.com'},
      rows: {...rows, written: 7},
      lookups: {ip: {...lookups.ip, distinct: 4, from_store: 1, calls: 5}} as typeof lookups,
      calls: {...calls, total: 7},
      credits: {
        ...{...credits, spent, maybe_spent, by_operation: {ip: {spent, maybe_spent}}},
        account: {label, price: {per_credit: 0.5, currency: 'EUR'}},
        saved: {dedupe, store: 0, prefilter: 0, by_condition: 9},
      },
      ...of,
    });
    saveRunInHistory(summary, {env, now: Date.now, warn: sentence => expect.fail(String(sentence))});
  };
  keep(
    {
      ...{run_id: 'aaaaaaaa-1', finished_at: '2025-12-31T23:00:00.000Z', exit_code: 3},
      ...({status: 'partial', reason: 'lookups_failed'} as const),
      store: {trouble: 'ENOSPC', not_looked_up: 0, perhaps_paid_again: 0, not_stored: 0},
      drift: ['rows', 'failed'].map(what => ({what, now: 1, usual: 2, runs: 3})),
    },
    ...(['default', 6.4, 0.7, 4] as const),
  );
  keep(
    {
      ...{run_id: 'bbbbbbbb-2', finished_at: '2026-01-01T02:00:00.000Z', exit_code: 130},
      ...({status: 'interrupted', reason: UNFINISHED_REASON} as const),
    },
    ...(['shop', 2, 0.5, 0] as const),
  );
  const listed = async (...args: string[]) =>
    (await runHere(other, [...args, '--since', '36500d'])).stdout.trimEnd().split('\n');
  expect((await listed('runs')).map(line => line.replaceAll(/ {2,}/g, '|'))).toEqual([
    'run|ended (UTC)|job or list|why|account|exit|rows|calls|credits|money|maybe|saved|known',
    'aaaaaaaa|2025-12-31 23:00|nightly|lookups failed; without the store; unlike: rows, failed|default|3|7|7|6.4|3.20 EUR|0.7|4|25%',
    'bbbbbbbb|2026-01-01 02:00|nightly|unfinished|shop|–|7|7|2|1.00 EUR|0.5|0|25%',
  ]);
  expect((await listed('runs', '--csv')).slice(1)).toEqual([
    'aaaaaaaa-1,2025-12-31T22:00:00.000Z,2025-12-31T23:00:00.000Z,nightly,signups-2026-01-05.csv,https://api.example.com,default,partial,lookups_failed,3,7,7,6.4,0.7,4,0.25,true,rows failed,7.1',
    'bbbbbbbb-2,2025-12-31T22:00:00.000Z,2026-01-01T02:00:00.000Z,nightly,signups-2026-01-05.csv,https://api.example.com,shop,interrupted,unfinished,,7,7,2,0.5,0,0.25,false,,2.5',
  ]);
  expect((await listed('spend', '--by', 'job', '--csv')).slice(1)).toEqual(['nightly,2,14,8.4,1.2,4.20 EUR']);
});
