import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {type HistoryEntry, RunHistory} from '../../src/ledger/history.ts';
import {SharedDate} from '../../src/ledger/shared-date.ts';
import {Sqlite} from '../../src/ledger/sqlite.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2031-05-06T02:00:00Z');

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-history-'));
});
afterEach(() => rmSync(directory, {recursive: true, force: true}));

const night = (n: number, more = {}) => ({
  runId: `run${n}`,
  endedAt: START + n * DAY_MS,
  job: 'nightly',
  list: 'job nightly',
  isComplete: true,
  line: `line${n}`,
  summary: `summary${n}`,
  ...more,
});

/** By a clock that is right. */
const add = (history: RunHistory, entry: HistoryEntry) =>
  history.add(
    entry,
    new SharedDate(
      () => entry.endedAt,
      () => {},
    ),
  );

test('a year of lines is kept, and of each job the last thirty summaries, whatever else fails', () => {
  const history = new RunHistory(directory);
  for (let n = 0; n < 400; n += 10) add(history, night(n));
  add(history, night(391, {job: null, list: 'x', summary: 'unnamed'}));
  for (let n = 400; n < 440; n += 1) add(history, night(n, {isComplete: false, summary: `broken${n}`}));
  const lines = history.lines(0);
  expect([lines.length, lines[0]]).toEqual([32 + 1 + 40, 'line80']);
  expect(history.lines(START + 430 * DAY_MS)).toHaveLength(10);
  const kept = history.summaries('nightly');
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([30, 'summary100', 'summary390']);
  expect([history.summaryOf('run409'), history.summaryOf('run41')]).toEqual([undefined, 'broken419']);
  expect(history.summaryOf('run391')).toBe('unnamed');
  expect(history.lastOver('job nightly')).toEqual(['line390']);
  history.close();
});

test('what is told twice is there once; a run that was cut off is all its lines', () => {
  const history = new RunHistory(directory);
  add(history, night(1, {isComplete: false}));
  for (const _ of [1, 2]) add(history, night(1, {endedAt: START + 5, line: 'end'}));
  expect(history.lines(0)).toEqual(['line1', 'end']);
  expect(history.lastOver('job nightly')).toEqual(['line1', 'end']);
  expect(history.lastOver('job other')).toEqual([]);
  history.close();
});

test('a history of a later version is left alone', () => {
  const db = new Sqlite(join(directory, 'runs.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec('PRAGMA user_version = 9');
  db.close();
  expect(() => new RunHistory(directory)).toThrow('runs.db is of version 9');
});
