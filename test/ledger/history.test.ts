import {readdirSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {type HistoryEntry, leaveForHistory, RunHistory} from '../../src/ledger/history.ts';
import {newDirectory} from '../support/new-directory.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2031-05-06T02:00:00Z');

const within = newDirectory();

function tell(...entries: readonly HistoryEntry[]): RunHistory {
  const history = new RunHistory(within(), (known, told) => (known === told ? known : `${known}+${told}`));
  for (const entry of entries) history.add([entry], entry.endedAt);
  return history;
}

const night = (n: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  bill: `bill${n}`,
  runId: `run${n}`,
  endedAt: START + n * DAY_MS,
  job: 'nightly',
  list: 'job nightly',
  isComplete: true,
  line: `line${n}`,
  summary: `summary${n}`,
  ...more,
});

test('a year of lines is kept, and of each job the last thirty summaries, whatever else fails', () => {
  const history = tell(
    ...Array.from({length: 40}, (_, n) => night(10 * n)),
    night(391, {job: null, list: 'x', summary: 'unnamed'}),
    ...Array.from({length: 40}, (_, n) => night(400 + n, {isComplete: false, summary: `broken${400 + n}`})),
  );
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

test('a bill told twice is one line; a killed run consists of all its lines', () => {
  const end = night(1, {bill: 'end', endedAt: START + 2 * DAY_MS, line: 'end'});
  const history = tell(night(1, {isComplete: false, summary: null}), end, end);
  expect(history.lines(0)).toEqual(['line1', 'end']);
  expect(history.lastOver('job nightly')).toEqual(['line1', 'end']);
  expect(history.lastOver('job other')).toEqual([]);
  history.close();
});

test('a bill told again is merged into its line, with its summary', () => {
  const cutOff = night(1, {isComplete: false, summary: null});
  tell(cutOff).close();
  const history = tell(night(1, {line: 'end'}));
  expect(history.lines(0)).toEqual(['line1+end']);
  expect(history.summaries('nightly')).toEqual(['summary1']);
  history.close();
  const again = tell({...cutOff, line: 'more'});
  expect([again.lines(0), again.summaries('nightly')]).toEqual([['line1+end+more'], ['summary1']]);
  again.close();
});

test('lines left while the file is locked are added by the next process that opens it', () => {
  const locked = new RunHistory(within());
  const db = new Sqlite(within('runs.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec('BEGIN EXCLUSIVE');
  leaveForHistory(within(), [night(1), night(2)]);
  expect(() => new RunHistory(within(), undefined, 'adding')).toThrow(
    expect.objectContaining({code: 'SQLITE_BUSY'}),
  );
  db.exec('ROLLBACK');
  db.close();
  expect(locked.lines(0)).toEqual([]);
  const history = new RunHistory(within());
  expect(history.lines(0)).toEqual(['line1', 'line2']);
  expect(readdirSync(within('runs.waiting'))).toEqual([]);
  for (const one of [locked, history]) one.close();
});

test('lines that several runs left are added in the order in which their sessions ended', () => {
  for (const nights of [[4, 3], [1], [2]])
    leaveForHistory(
      within(),
      nights.map(n => night(n)),
    );
  const history = new RunHistory(within());
  expect(history.lines(0)).toEqual(['line1', 'line2', 'line3', 'line4']);
  expect(history.summaryOf('run')).toBe('summary4');
  history.close();
});

test('of more than 20,000 lines the latest are kept', () => {
  tell(night(1)).close();
  const db = new Sqlite(within('runs.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  // As if lines had been added since.
  db.exec('UPDATE sqlite_sequence SET seq = 19999');
  db.close();
  const full = tell(night(2));
  expect(full.lines(0)).toEqual(['line1', 'line2']);
  full.close();
  const history = tell(night(3));
  expect(history.lines(0)).toEqual(['line2', 'line3']);
  history.close();
});

test('a line that was left and is damaged keeps no other from being taken in', () => {
  leaveForHistory(within(), [night(1)]);
  writeFileSync(within('runs.waiting', 'torn.json'), '[{"bill":');
  const history = new RunHistory(within());
  expect(history.lines(0)).toEqual(['line1']);
  history.close();
});

test('a history of a later version is left alone', () => {
  const db = new Sqlite(within('runs.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec('PRAGMA user_version = 9');
  db.close();
  expect(() => new RunHistory(within())).toThrow('runs.db has version 9');
});
