import {expect, test} from 'vitest';
import type {Outcome} from '../../src/ledger/lookup-outcome.ts';
import {failureOf, newEntry} from '../../src/ledger/run/ledger-entry.ts';

test('a bought outcome has its time, and one without a time is not an answer', () => {
  const outcomes: Outcome[] = [
    {status: 'failed', error: 'odd', rejected: 'twice', boughtAt: 1_000},
    {status: 'unknown', error: 'verdict_replay_uncertain', data: '{}', boughtAt: 1_000},
    {status: 'failed', error: 'odd'},
    // @ts-expect-error a rejection without its time
    {status: 'failed', error: 'odd', rejected: 'twice'},
    // @ts-expect-error a verdict without its time
    {status: 'unknown', error: 'verdict_replay_uncertain', data: '{}'},
    // @ts-expect-error a time of nothing that was bought
    {status: 'failed', error: 'odd', boughtAt: 1_000},
  ];
  expect(outcomes.slice(0, 3).map(({boughtAt}) => boughtAt)).toEqual([1_000, 1_000, undefined]);
});

test('a rejection for which the account may be the reason stays the service’s word', () => {
  const of = (error: string) =>
    failureOf({
      ...newEntry({operation: 'ip', key: 'key'}),
      outcome: {status: 'failed', error, rejected: 'once', boughtAt: 1_000},
    });
  expect(['odd', 'bad_response'].map(of)).toEqual([
    {status: 'failed', error: 'odd', said: 'service'},
    {status: 'failed', error: 'bad_response'},
  ]);
});
