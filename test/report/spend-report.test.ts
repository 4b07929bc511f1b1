import {afterEach, expect, test, vi} from 'vitest';
import {makeRunRecord, type RunRecord, sumSpending} from '../../src/report/run-record.ts';
import {fullSummary} from './summaries.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const spent = (spent: number, maybe_spent = 0): Pick<RunRecord, 'calls' | 'credits'> => ({
  calls: 1,
  credits: {spent, maybe_spent, by_operation: {ip: {calls: 1, spent, maybe_spent}}},
});

const ended = (ended_at: string): RunRecord => ({
  ...makeRunRecord(fullSummary()),
  ...{ended_at, job: null, list: 'list.csv'},
  ...spent(1),
});

test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC'])('days of spend are UTC days in %s', zone => {
  vi.stubEnv('TZ', zone);
  const records = ['2031-05-06T00:30:00.000Z', '2031-05-06T23:30:00.000Z', '2031-05-08T12:00:00.000Z'];
  const {groups} = sumSpending(records.map(ended), '2031-05-01', 'day');
  expect(groups.map(({name, spent}) => [name, spent])).toEqual([
    ['2031-05-06', 2],
    ['2031-05-07', 0],
    ['2031-05-08', 1],
  ]);
});

test('credits that cost less than a cent add up to money', () => {
  const price = {per_credit: 0.004, currency: 'EUR'};
  const records = Array.from({length: 100}, () => ({...ended('2031-05-06T00:30:00.000Z'), price}));
  const {groups, total} = sumSpending(records, '2031-05-01', 'job');
  expect(groups.map(({money}) => money)).toEqual([{EUR: 0.4}]);
  expect(total.money).toEqual({EUR: 0.4});
});

test('the largest come first, with credits that are perhaps spent; money is only of those that are', () => {
  const price = {per_credit: 0.5, currency: 'EUR'};
  const of = (job: string, certain: number, maybe: number, more = {}) => ({
    ...ended('2031-05-06T00:30:00.000Z'),
    ...spent(certain, maybe),
    ...{job, ...more},
  });
  const records = [of('certain', 3, 0, {price}), of('doubtful', 2, 4, {price}), of('unpriced', 4, 0)];
  const {groups, total} = sumSpending(records, '2031-05-01', 'job');
  expect(groups.map(({name, money}) => [name, money])).toEqual([
    ['doubtful', {EUR: 1}],
    ['unpriced', {}],
    ['certain', {EUR: 1.5}],
  ]);
  expect(total).toEqual({runs: 3, calls: 3, spent: 9, maybe_spent: 4, money: {EUR: 2.5}});
});

test('each currency has a sum of its own', () => {
  const of = (ended_at: string, currency: string) => ({...ended(ended_at), price: {per_credit: 2, currency}});
  const records = [
    of('2031-05-06T23:40:00.000Z', 'EUR'),
    of('2031-05-07T00:10:00.000Z', 'USD'),
    of('2031-05-07T00:20:00.000Z', 'EUR'),
  ];
  const {groups, total} = sumSpending(records, '2031-05-01', 'day');
  expect(groups.map(({name, runs, money}) => [name, runs, money])).toEqual([
    ['2031-05-06', 1, {EUR: 2}],
    ['2031-05-07', 2, {EUR: 2, USD: 2}],
  ]);
  expect(total).toEqual({runs: 3, calls: 3, spent: 3, maybe_spent: 0, money: {EUR: 4, USD: 2}});
  expect(sumSpending(records, '2031-05-01', 'job').groups).toMatchObject([
    {runs: 3, money: {EUR: 4, USD: 2}},
  ]);
});
