import {createHash, createHmac} from 'node:crypto';
import {existsSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {Summary} from '../../src/report/summary.ts';
import {reply} from '../support/api-server-reply.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

interface Line {
  readonly run: string;
  readonly operation: string;
  readonly rows?: readonly number[];
  readonly value?: string;
  readonly attempt?: number;
  readonly outcome: string;
  readonly status?: number | null;
  readonly code?: string | null;
  readonly request_id?: string | null;
  readonly booked: 'spent' | 'maybe' | 'free';
  readonly credits: number;
}

const plain = {ip: 'ip', concurrency: 1, store: false};
const recorded = (stage: Stage) => ({...plain, calls: stage.path('calls.ndjson')});

const linesOf = (stage: Stage) =>
  stage
    .read('calls.ndjson')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Line);

/** An IP address's hash by a key, as docs/decisions.md describes it. */
function hashOf(value: string, key: string): string {
  const known = createHash('sha256').update(`ip\0${value}`).digest('base64url').slice(0, 22);
  return createHmac('sha256', key).update(known).digest('base64url').slice(0, 22);
}

/** All texts in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The lines add up to the summary's credits, to the last one. */
function expectSum(lines: readonly Line[], summary: Summary | undefined): void {
  expect(lines.filter(({credits}) => credits < 0)).toEqual([]);
  const sum = (booked: Line['booked']) =>
    lines
      .filter(line => line.booked === booked)
      .reduce((all, {credits}) => all + Math.round(credits * 1_000), 0) / 1_000;
  expect({spent: sum('spent'), maybe_spent: sum('maybe')}).toEqual({
    spent: summary?.credits.spent,
    maybe_spent: summary?.credits.maybe_spent,
  });
}

test('a line for each attempt has its outcome, rows and charge, but no value and no key', async () => {
  await using stage = await openStage();
  const one = recorded(stage);
  stage.write('list.csv', 'ip\n203.0.113.1\n203.0.113.2\n203.0.113.1\n');
  const script = [
    reply.throttle(0),
    reply.ok({headers: {'X-Request-Id': 'req-000017'}}),
    reply.unavailable(),
    reply.ok({headers: {'X-Request-Id': 'r-203-0-113-1'}}),
  ];
  stage.api.setScript(({call}) => script[call - 1]);
  const env = {BULK_ENRICH_CALLS_KEY: 'auditor'};
  const {summary, code} = await stage.run({...one, cost: 0.7}, {env});
  expect(code).toBe(0);
  const lines = linesOf(stage);
  const first = {
    run: summary?.run_id,
    operation: 'ip',
    rows: [1, 3],
    value: hashOf('203.0.113.1', 'auditor'),
  };
  const second = {...first, rows: [2], value: hashOf('203.0.113.2', 'auditor')};
  const times = {sent_at: expect.stringMatching(/Z$/), ended_at: expect.stringMatching(/Z$/)};
  const answered = {outcome: 'answered', status: 200, code: null, booked: 'spent', credits: 0.7};
  const nothing = {request_id: null, booked: 'free', credits: 0};
  expect(lines).toEqual([
    {...times, ...first, attempt: 1, outcome: 'throttled', status: 429, code: 'http_429', ...nothing},
    {...times, ...second, attempt: 1, ...answered, request_id: 'req-000017'},
    {
      ...times,
      ...first,
      ...{attempt: 2, outcome: 'ambiguous', status: 503, code: 'http_503'},
      ...{request_id: null, booked: 'maybe', credits: 0.7},
    },
    {...times, ...first, attempt: 3, ...answered, request_id: null},
  ]);
  expectSum(lines, summary);
  expect(stage.read('calls.ndjson')).not.toMatch(/203\D0\D113|stage-key/);
});

test('over kills and resumes the lines add up to the counts, calls in flight included', async () => {
  await using stage = await openStage();
  const one = recorded(stage);
  stage.write('list.csv', ips(10));
  await stage.killAt(4, one);
  expect(existsSync(stage.path('calls.ndjson'))).toBe(false);
  await stage.killAt(3, one);
  const {summary} = await stage.run(one);
  const lines = linesOf(stage);
  expectSum(lines, summary);
  expect(lines.filter(({outcome}) => outcome === 'interrupted')).toMatchObject([
    {attempt: 1, booked: 'maybe', credits: 1, ended_at: null, rows: [4]},
    {attempt: 1, booked: 'maybe', credits: 1, ended_at: null, rows: [6]},
  ]);
  expect(lines).toHaveLength(12);
  expect(lines.filter(({attempt}) => attempt === 2).map(({rows}) => rows)).toEqual([[4], [6]]);
  // By a key of each run's own, which is in no file: otherwise all addresses could be tried.
  const values = lines.map(({value}) => value);
  for (const text of textsIn([summary, lines])) expect(values).not.toContain(hashOf('203.0.113.1', text));
  await stage.run({...one, force: true});
  expect(linesOf(stage).some(({value}) => values.includes(value))).toBe(false);
});

test('spending of sessions without a record has its own line; spending before a fresh budget has none', async () => {
  await using stage = await openStage();
  const one = recorded(stage);
  stage.write('list.csv', ips(10));
  await stage.killAt(4, plain);
  await stage.killAt(3, one);
  const resumed = await stage.run(one);
  expectSum(linesOf(stage), resumed.summary);
  expect(linesOf(stage).filter(({outcome}) => outcome === 'not_recorded')).toMatchObject([
    {booked: 'spent', credits: 3},
    {booked: 'maybe', credits: 1},
  ]);
  await stage.killAt(4, {...one, force: true});
  const restarted = await stage.run({...one, force: true, restart: true});
  expect(restarted.summary?.credits.earlier.counted.spent).toBe(3);
  expectSum(linesOf(stage), restarted.summary);
  expect(new Set(linesOf(stage).map(({run}) => run)).size).toBe(2);
  await stage.killAt(4, {...one, force: true});
  const fresh = await stage.run({...one, force: true, restart: 'fresh'});
  expect(fresh.summary?.credits.earlier.not_counted.spent).toBe(3);
  expectSum(linesOf(stage), fresh.summary);
});

test('a run that stops writes its lines, and one that can not start keeps them', async () => {
  await using stage = await openStage();
  const one = recorded(stage);
  stage.write('list.csv', ips(10));
  const stopped = await stage.run({...one, maxCredits: 3});
  expect(stopped.code).toBe(7);
  expect(linesOf(stage)).toHaveLength(3);
  expectSum(linesOf(stage), stopped.summary);
  stage.write('list.csv', ips(10, 5));
  const refused = await stage.run(one);
  expect(refused.code).toBe(8);
  expectSum(linesOf(stage), refused.summary);
  // A killed run wrote no lines, and its ledger has them.
  stage.write('list.csv', ips(10));
  await stage.killAt(4, one);
  stage.write('list.csv', ips(10, 5));
  const afterKill = await stage.run(one);
  expect([afterKill.code, linesOf(stage).length]).toEqual([8, 7]);
  expectSum(linesOf(stage), afterKill.summary);
});

test('a value has one hash in all records of a run: those of before a stop compare with those of its end', async () => {
  await using stage = await openStage();
  const one = recorded(stage);
  stage.write('list.csv', ips(5));
  await stage.run({...one, maxCredits: 3});
  const before = linesOf(stage).map(({value}) => value);
  await stage.run(one);
  const after = linesOf(stage).map(({value}) => value);
  expect([after.length, after.slice(0, 3)]).toEqual([5, before]);
});

test('a record of many calls lacks none', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(210));
  const {code} = await stage.run({...recorded(stage), rate: 'unlimited', concurrency: 32});
  const rows = linesOf(stage).flatMap(line => line.rows ?? []);
  expect([code, rows.length, new Set(rows).size]).toEqual([0, 210, 210]);
});

test('a row with the same value in two columns is named once', async () => {
  await using stage = await openStage();
  stage.write('list.csv', 'first,last\n203.0.113.1,203.0.113.1\n203.0.113.1,203.0.113.2\n');
  const {code} = await stage.run({...recorded(stage), ip: ['first', 'last']});
  expect([code, linesOf(stage).map(({rows}) => rows)]).toEqual([0, [[1, 2], [2]]]);
});
