import {resolve} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {resolveJob} from '../../src/job/job.ts';
import {checkSettings, placeIn} from '../../src/job/parse.ts';
import {nothingSpent} from '../../src/ledger/books.ts';
import {RunHistory} from '../../src/ledger/history.ts';
import type {RunRecord} from '../../src/report/run-record.ts';
import {tellBills} from '../../src/run/end/bills.ts';
import {
  findDrift,
  lastOverSameList,
  listKey,
  ownEntry,
  remember,
  rememberRun,
} from '../../src/run/end/history.ts';
import type {World} from '../../src/run/io.ts';
import {fullSummary} from '../report/summaries.ts';
import {newDirectory} from '../support/new-directory.ts';

const HERE = {endpoint: 'https://api.example.com/v1', label: 'default'};

const within = newDirectory();
let warnings: string[];
let io: World;

beforeEach(() => {
  warnings = [];
  const warn = (sentence: unknown) => void warnings.push(String(sentence));
  io = {env: {XDG_STATE_HOME: within()}, now: () => Date.parse('2026-01-06T00:00:00.000Z'), warn};
});

function jobOf(inputs: readonly string[], name?: string, url = HERE.endpoint) {
  const {name: _, input: __, output: ___, ...settings} = checkSettings(undefined, {endpoint: 'live'});
  const env = {BULK_ENRICH_API_KEY: 'a-key', BULK_ENRICH_BASE_URL: url};
  const source = {name, inputs, output: 'out.csv', settings, fromFile: false};
  return resolveJob({...source, placeOf: placeIn(undefined, {})}, env, false);
}

const nightly = jobOf(['list.csv'], 'nightly');

/** A run of which this share of the addresses are proxies. */
function run(run_id: string, share: number) {
  const summary = fullSummary({run_id, job: 'nightly', drift: []});
  const {id: _, ...session} = summary.session ?? {id: ''};
  return {
    ...summary,
    session: {...session, id: `bill of ${run_id}`} as typeof summary.session,
    fields: {ip: {is_vpn: {present: 1, true: share}}},
  };
}

const jumps = (run_id: string, share: number) =>
  findDrift(nightly, run(run_id, share), io).map(({what, usual, runs}) => ({what, usual, runs}));

test('a run is compared with the other runs of its job, never with itself', () => {
  expect(jumps('a', 0.9)).toEqual([]);
  rememberRun(nightly, run('a', 0.1), io);
  // Its publishing was cut off, and another session completes it.
  expect(jumps('a', 0.9)).toEqual([]);
  rememberRun(nightly, run('b', 0.2), io);
  expect(jumps('a', 0.9)).toEqual([{what: 'ip.is_vpn', usual: 0.2, runs: 1}]);
  expect(jumps('c', 0.9)).toEqual([{what: 'ip.is_vpn', usual: expect.closeTo(0.15), runs: 2}]);
  expect(warnings).toHaveLength(2);
});

test('a list is known by its job’s name, also on stdin, else by the paths of its files; each account has its own', () => {
  const other = [
    {...HERE, label: 'second'},
    {...HERE, endpoint: 'https://api.example.org/v1'},
  ];
  const keys = [HERE, ...other].flatMap(scope => [
    listKey(jobOf(['-'], 'nightly'), scope),
    listKey(jobOf(['a.csv']), scope),
    listKey(jobOf(['b.csv']), scope),
    listKey(jobOf(['a.csv', 'b.csv']), scope),
    listKey(jobOf(['a.csv'], 'weekly'), scope),
  ]);
  expect(keys).not.toContain(undefined);
  expect(new Set(keys).size).toBe(keys.length);
  expect(listKey(jobOf(['-'], 'nightly'), HERE)).toBe(listKey(jobOf(['/data/monday.csv'], 'nightly'), HERE));
  expect(listKey(jobOf(['a.csv']), HERE)).toBe(listKey(jobOf([resolve('a.csv')]), HERE));
  expect(listKey(jobOf(['-']), HERE)).toBeUndefined();
});

test('who completes the publishing of another account’s run tells it as that account’s', () => {
  const elsewhere = jobOf(['list.csv'], 'nightly', 'https://api.example.org/v1');
  const summary = run('a', 0.1);
  const {list, line} = ownEntry(elsewhere, summary);
  expect(list).toBe(listKey(nightly, HERE));
  expect((JSON.parse(line) as RunRecord).account).toEqual(HERE);
  // A run that could not start does not know the service's address.
  const unknown = {...summary, endpoint: {kind: 'live' as const, base_url: null}};
  expect(ownEntry(elsewhere, unknown).list).toBe(
    listKey(nightly, {...HERE, endpoint: 'https://api.example.org/v1'}),
  );
});

test('what a list cost the last time is that of its last complete run, with all its sessions', () => {
  rememberRun(nightly, run('a', 0.1), io);
  const stopped = {...run('b', 0.1), status: 'interrupted' as const};
  rememberRun(nightly, stopped, io);
  const ids = () => lastOverSameList(nightly, io.env)?.map(({run_id}) => run_id);
  expect(ids()).toEqual(['a']);
  const session = {...stopped.session, id: 'the next bill'} as typeof stopped.session;
  rememberRun(nightly, {...run('b', 0.1), session}, io);
  expect(ids()).toEqual(['b', 'b']);
  expect(lastOverSameList(jobOf(['-']), io.env)).toBeUndefined();
});

test('a killed session is no last time of its list; its credits count once its run is complete', () => {
  rememberRun(nightly, run('a', 0.1), io);
  const about = {
    ...{run_id: 'b', started_at: '2026-01-05T02:00:00.000Z', job: 'nightly', list: 'list.csv'},
    ...{account: HERE, list_key: listKey(nightly, HERE), opened_at: Date.parse('2026-01-05T03:00:00.000Z')},
  };
  const by = {...nothingSpent(), ip: {spent: 2_500, maybeSpent: 0, calls: 1}};
  tellBills([{id: 'killed', about, at: 0, by}], io);
  const last = () => lastOverSameList(nightly, io.env)?.map(({run_id, reason}) => [run_id, reason]);
  expect(last()).toEqual([['a', 'lookups_failed']]);
  rememberRun(nightly, run('b', 0.1), io);
  expect(last()).toEqual([
    ['b', 'cut_off'],
    ['b', 'lookups_failed'],
  ]);
});

test('a line that is damaged gives way to the one of the same session', () => {
  const entry = ownEntry(nightly, run('a', 0.1));
  for (const line of ['damaged', entry.line]) remember(io, () => [{...entry, line}]);
  const history = new RunHistory(within('bulk-enrich'));
  expect(history.lines(0)).toEqual([entry.line]);
  history.close();
});
