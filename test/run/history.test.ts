import {chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync} from 'node:fs';
import {beforeEach, expect, test} from 'vitest';
import {resolveJob} from '../../src/job/job.ts';
import {checkSettings, createSettingLocator} from '../../src/job/parse.ts';
import type {Summary} from '../../src/report/summary.ts';
import {
  findDrift,
  historyDirectory,
  pruneHistory,
  readLastRunOfJob,
  readRunSummaries,
  saveRunInHistory,
} from '../../src/run/end/history.ts';
import type {World} from '../../src/run/io.ts';
import {fullSummary} from '../report/summaries.ts';
import {newDirectory} from '../support/new-directory.ts';

const ENDPOINT = 'https://api.example.com/v1';
const DAY = 86_400_000;

const within = newDirectory();
let warnings: string[];
let io: World;

beforeEach(() => {
  warnings = [];
  const warn = (sentence: unknown) => void warnings.push(String(sentence));
  io = {env: {XDG_STATE_HOME: within()}, now: () => Date.parse('2026-01-06T00:00:00.000Z'), warn};
});

function jobOf(inputs: readonly string[], name?: string, account = 'default') {
  const {
    name: _,
    input: __,
    output: ___,
    ...settings
  } = checkSettings(undefined, {endpoint: 'live', account});
  const env = {BULK_ENRICH_API_KEY: 'a-key', BULK_ENRICH_BASE_URL: ENDPOINT};
  const source = {name, inputs, output: 'out.csv', settings, fromFile: false};
  return resolveJob({...source, placeOf: createSettingLocator(undefined, {})}, env, false);
}

const nightly = jobOf(['list.csv'], 'nightly');

/** A run of which this share of the addresses are proxies. */
function run(run_id: string, share: number, more: Partial<Summary> = {}) {
  return fullSummary({
    ...{run_id, job: 'nightly', drift: [], endpoint: {kind: 'live', base_url: ENDPOINT}},
    finished_at: `2026-01-05T02:0${run_id.charCodeAt(0) - 96}:00.000Z`,
    new_fields: {ip: {is_vpn: {present: 1, true: share}}},
    new_answers: {ip: 1_000},
    ...more,
  });
}

const jumps = (run_id: string, share: number) =>
  findDrift(nightly, run(run_id, share), io).map(({what, usual, runs}) => ({what, usual, runs}));
const ids = () => readRunSummaries(io).map(({run_id}) => run_id);
const path = (name: string) => within('bulk-enrich', 'runs', name);
const isLeftOut = (id: string) => `${path(`${id}.json`)} is damaged, so that run is left out.`;

test('a run is compared with the other complete runs of its job, never with itself', () => {
  expect(jumps('a', 0.9)).toEqual([]);
  saveRunInHistory(run('a', 0.1), io);
  // Its publishing was cut off, and another session completes it.
  expect(jumps('a', 0.9)).toEqual([]);
  saveRunInHistory(run('b', 0.2), io);
  saveRunInHistory(run('d', 0.9, {status: 'interrupted'}), io);
  saveRunInHistory(run('e', 0.9, {job: 'another'}), io);
  expect(jumps('a', 0.9)).toEqual([{what: 'ip.is_vpn', usual: 0.2, runs: 1}]);
  expect(jumps('c', 0.9)).toEqual([{what: 'ip.is_vpn', usual: expect.closeTo(0.15), runs: 2}]);
  expect(warnings).toHaveLength(2);
});

test('what a job cost the last time is that of its last complete run with this account', () => {
  saveRunInHistory(run('a', 0.1), io);
  saveRunInHistory(run('b', 0.1, {status: 'interrupted'}), io);
  saveRunInHistory(run('c', 0.1, {endpoint: {kind: 'live', base_url: 'https://api.example.org/v1'}}), io);
  const last = (job = nightly) => readLastRunOfJob(job, io.env)?.run_id;
  expect(last()).toBe('a');
  saveRunInHistory(run('b', 0.1), io);
  expect(last()).toBe('b');
  const names: [string?, string?][] = [[], ['weekly'], ['nightly', 'second']];
  const others = names.map(more => jobOf(['list.csv'], ...more));
  expect(others.map(last)).toEqual([undefined, undefined, undefined]);
});

test('a run has one file, which only its owner can read, and which it replaces', () => {
  for (const reason of ['unfinished', 'done'])
    expect(saveRunInHistory(run('a', 0.1, {reason}), io)).toBe(true);
  expect(readdirSync(historyDirectory(io.env))).toEqual(['a.json']);
  expect(JSON.parse(readFileSync(path('a.json'), 'utf8'))).toMatchObject({run_id: 'a', reason: 'done'});
  expect((statSync(path('a.json')).mode & 0o777).toString(8)).toBe('600');
});

test('a damaged file is named and left out, and so is a file with the name of another run', () => {
  for (const id of ['a', 'b', 'c']) saveRunInHistory(run(id, 0.1), io);
  const whole = readFileSync(path('a.json'));
  writeFileSync(path('a.json'), whole.subarray(0, 100));
  writeFileSync(path('b.json'), '{}');
  writeFileSync(path('x.json'), readFileSync(path('c.json')));
  // What a kill leaves of a file that was to be replaced is no run.
  writeFileSync(path('c.json.new'), '{');
  expect(ids()).toEqual(['c']);
  expect(warnings).toEqual(['a', 'b', 'x'].map(isLeftOut));
});

test('only the runs that are compared are checked: a damaged one of another job says nothing', () => {
  saveRunInHistory(run('a', 0.1), io);
  writeFileSync(path('x.json'), '{"run_id": "x", "job": "another"}');
  expect(jumps('b', 0.1)).toEqual([]);
  expect(warnings).toEqual([]);
  expect(ids()).toEqual(['a']);
  expect(warnings).toEqual([isLeftOut('x')]);
});

test('a run whose name leads out of the directory is not written', () => {
  expect(saveRunInHistory(run('../../a', 0.1), io)).toBe(false);
  const told = "The history can't keep this run (the name of the run is damaged)";
  expect(warnings).toEqual([expect.stringContaining(told)]);
  expect(readdirSync(within())).toEqual(['bulk-enrich']);
});

test('a run is kept until a hundred are a year younger, also what a kill left of one, whatever the clock says', () => {
  pruneHistory(io.env);
  const dated = (name: string, days: number) => {
    writeFileSync(path(name), '{');
    utimesSync(path(name), 1e9, (Date.now() - days * DAY) / 1_000);
  };
  saveRunInHistory(run('a', 0.1), io);
  for (const name of ['a.json', 'a.json.new']) dated(name, 467);
  dated('b.json', 465);
  // The clock is ahead of the newest runs by a hundred days.
  for (let n = 0; n < 99; n++) dated(`n${n}.json`, 100);
  pruneHistory(io.env);
  expect(readdirSync(historyDirectory(io.env))).toHaveLength(102);
  dated('n99.json', 100);
  pruneHistory(io.env);
  const kept = readdirSync(historyDirectory(io.env));
  expect([kept.length, kept.includes('b.json'), kept.includes('a.json')]).toEqual([101, true, false]);
});

test('of more than 10,000 runs the latest are kept', () => {
  saveRunInHistory(run('a', 0.1), io);
  utimesSync(path('a.json'), 1e9, Date.now() / 1_000 - 9);
  for (let n = 0; n < 10_000; n++) writeFileSync(path(`n${n}.json`), '');
  pruneHistory(io.env);
  const kept = readdirSync(historyDirectory(io.env));
  expect([kept.length, kept.includes('a.json')]).toEqual([10_000, false]);
});

test.skipIf(process.getuid?.() === 0)(
  'a directory that can not be read is a warning, and compares nothing',
  () => {
    saveRunInHistory(run('a', 0.1), io);
    chmodSync(path(''), 0);
    expect([jumps('b', 0.9), readLastRunOfJob(nightly, io.env)]).toEqual([[], undefined]);
    chmodSync(path(''), 0o700);
    expect(warnings).toEqual([expect.stringContaining('not compared with them (EACCES')]);
  },
);
