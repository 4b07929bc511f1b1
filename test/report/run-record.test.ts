import {expect, test} from 'vitest';
import {isOwn, merged, type RunRecord, recordOfCutOff} from '../../src/report/run-record.ts';

const facts = {
  run_id: 'run',
  started_at: '2031-05-06T02:00:00.000Z',
  job: 'nightly',
  list: 'list.csv',
  account: {endpoint: 'https://api.example.com', label: 'default'},
};
const cutOff = (spent: number) =>
  recordOfCutOff(facts, '2031-05-06T02:10:00.000Z', {ip: {calls: spent, spent, maybe_spent: 1}});
const own = (spent: number): RunRecord => ({
  ...cutOff(spent),
  ended_at: '2031-05-06T02:11:00.000Z',
  reason: 'signal',
  exit_code: 143,
  rows: 7,
  saved: 0,
});

test('a session that was cut off is told of by its money alone', () => {
  expect(cutOff(5)).toMatchObject({
    reason: 'cut_off',
    exit_code: null,
    rows: null,
    calls: 5,
    credits: {spent: 5, maybe_spent: 1, by_operation: {ip: {calls: 5, spent: 5, maybe_spent: 1}}},
  });
  expect([isOwn(cutOff(5)), isOwn(own(5))]).toEqual([false, true]);
});

test('told by itself and by its ledger, in whichever order, a session is one line: its own, with the ledger’s money', () => {
  const both = {...own(5), calls: 6, credits: cutOff(6).credits};
  expect(merged(own(5), cutOff(6))).toEqual(both);
  expect(merged(cutOff(6), own(5))).toEqual(both);
  expect(merged(cutOff(5), cutOff(6))).toEqual(cutOff(6));
  expect(merged(own(5), own(6))).toEqual(own(6));
});
