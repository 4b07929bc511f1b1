import {describe, expect, test} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import {newEntry} from '../../src/ledger/entry.ts';
import {intelligenceLookup} from '../../src/ledger/lookup.ts';
import {noAttempts} from '../../src/ledger/value-history.ts';
import {Pending, type Waiter} from '../../src/lookup/pending.ts';
import {counted, isKnownRejection, renews, taskState, withoutAsking} from '../../src/lookup/task-state.ts';
import type {KnownAnswer} from '../../src/store/validity.ts';
import {simulated, unwaited} from './simulation.ts';

const policy = {resends: 2, cost: {rejected: 'maybe', throttled: 'free'}} as const;
const boughtAt = 9;
const old = {status: 'ok', data: '{"of":1}', boughtAt: 1} as const;
const refusal = (error: string) => ({status: 'failed', error, rejected: true, boughtAt: 1}) as const;
const validities = ['fresh', 'stale', 'past'] as const;

const stateOf = ({before, cost = 1_000, carriedOut = false}: Given = {}) =>
  taskState({
    ...unwaited,
    ...{lookup: intelligenceLookup('ip', '192.0.2.1'), cost, before},
    entry: newEntry(intelligenceLookup('ip', '192.0.2.1'), {...noAttempts, mayBeCarriedOut: carriedOut}),
    ended() {},
  });
interface Given {
  readonly before?: KnownAnswer;
  readonly cost?: number;
  readonly carriedOut?: boolean;
}

describe('an attempt, as it is booked', () => {
  const book = (state: ReturnType<typeof stateOf>, attempt: Attempt) => {
    const timed = {...attempt, boughtAt};
    return counted(state, timed, policy.cost);
  };

  test('is a retry after one that may have reached the service, in this session or before; not after one that was not sent', () => {
    const retries = (carriedOut: boolean, ...attempts: readonly Attempt[]) => {
      const state = stateOf({carriedOut});
      return attempts.map(attempt => book(state, attempt).retry);
    };
    const {refused, reset, ok, throttled} = simulated;
    expect(retries(false, refused, refused, ok)).toEqual([false, false, false]);
    expect(retries(false, reset, refused, ok)).toEqual([false, true, true]);
    expect(retries(false, throttled(), ok)).toEqual([false, true]);
    expect(retries(true, refused, ok)).toEqual([true, true]);
  });

  test('in doubt names the failure, also after a later one that was not sent', () => {
    const state = stateOf();
    for (const attempt of [simulated.reset, simulated.refused]) book(state, attempt);
    expect(state).toMatchObject({
      history: {doubts: 1, lastCode: 'econnreset', mayBeCarriedOut: true},
      calls: 1,
    });
  });

  test('a free call costs nothing, and still leaves its doubt', () => {
    expect(book(stateOf({cost: 0}), simulated.reset)).toMatchObject({charge: 'free', doubt: true, cost: 0});
    expect(book(stateOf(), simulated.reset)).toMatchObject({charge: 'maybe', doubt: true, cost: 1_000});
  });
});

describe('an earlier answer', () => {
  test('serves without a call, and is marked once its term is over; an expired rejection does not', () => {
    const results = validities.map(validity => withoutAsking({outcome: old, validity}, 'outage'));
    const skipped = {status: 'skipped', error: 'outage'};
    expect(results.slice(1)).toEqual([{...old, stale: 'outage'}, skipped]);
    expect(withoutAsking(undefined, 'outage')).toEqual(skipped);
  });

  test('lets values without one go first at the credit limit, if the run is published there', () => {
    const atLimit = validities.map(validity =>
      renews(stateOf({before: {outcome: old, validity}}), ['outage', 'budget']),
    );
    expect(atLimit).toEqual([true, true, false]);
    expect(renews(stateOf(), ['budget'])).toBe(false);
    expect(renews(stateOf({before: {outcome: old, validity: 'stale'}}), ['outage'])).toBe(false);
  });

  test('makes a rejection a known one only if that has the same code', () => {
    const state = stateOf({before: {outcome: refusal('not_found'), validity: 'past'}});
    const {rejected, status} = simulated;
    expect(isKnownRejection(state, rejected(404, 'not_found'))).toBe(true);
    expect(isKnownRejection(state, rejected(400, 'quota_exceeded'))).toBe(false);
    expect(isKnownRejection(state, status(500))).toBe(false);
    expect(isKnownRejection(stateOf(), rejected(404, 'not_found'))).toBe(false);
  });
});

describe('rows that wait for one call', () => {
  const waiting = (...rows: readonly Partial<Waiter>[]) => {
    const told: unknown[] = [];
    const lookup = intelligenceLookup('ip', '192.0.2.1');
    const waiters = rows.map((row, index) => ({
      ...{lookup, row: index + 1, tell: (result: unknown) => told.push([row.row ?? index + 1, result])},
      ...row,
    }));
    const pending = new Pending(waiters[0] as Waiter);
    for (const waiter of waiters.slice(1)) pending.add(waiter);
    return {pending, told};
  };

  test('are each named once, though two columns of a row have the value', () => {
    expect(waiting({row: 4}, {row: 4}, {row: 7}).pending.rows).toEqual([4, 7]);
  });

  test('the first one is the first row, and stays it', () => {
    const {pending} = waiting({row: 4}, {row: 7});
    expect([pending.chooseFirstRow(), pending.chooseFirstRow()]).toEqual([4, 4]);
  });
});
