import {rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import {newEntry} from '../../src/ledger/entry.ts';
import {Ledger} from '../../src/ledger/ledger.ts';
import {Rejections} from '../../src/store/rejections.ts';
import {noStore} from '../../src/store/store.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

const KEYS = ['a', 'b', 'c'];

/** A ledger with rejections that were heard of, in a session that was killed before it judged any. */
async function leftByKill(): Promise<Ledger> {
  const path = within('ledger.db');
  const killed = new Ledger(path, {scope: 'here'});
  const attempt = {kind: 'rejected', code: 'odd', status: 400, latencyMs: 5, boughtAt: 1_000} as never;
  const outcome = {status: 'failed', error: 'odd', rejected: true, boughtAt: 1_000} as const;
  const calls = KEYS.map((key, n) => ({key, operation: 'ip', cost: 1, dispatch: n + 1}) as const);
  killed.reserve(calls.map(call => ({...call, entry: newEntry(call)})));
  for (const call of calls)
    await killed.record({...call, attempt, charge: 'maybe', doubt: true, retry: false, outcome});
  // Another run's rejection, taken over from the store, is judged.
  killed.adopt(newEntry({operation: 'ip', key: 'of another run'}), outcome);
  killed.close();
  return new Ledger(path, {scope: 'here'});
}

test('rejections that a killed session has not judged are judged by the next one', async () => {
  const ledger = await leftByKill();
  const put: string[] = [];
  const rejections = new Rejections({...noStore, put: ({key}) => void put.push(key)}, ledger);
  expect(KEYS.map(key => rejections.isRejected({operation: 'ip', key}))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  rejections.keep('ip');
  expect([put, ledger.bought]).toEqual([KEYS, 3]);
  ledger.setMeta('saved', true);
  expect(ledger.unjudged()).toEqual([]);
  ledger.close();
});

test('an answer to one operation says nothing of rejections of another', async () => {
  const ledger = await leftByKill();
  const rejections = new Rejections({...noStore, put: () => expect.fail('kept')}, ledger);
  rejections.keep('email');
  expect([rejections.drop('email'), rejections.isRejected({operation: 'ip', key: 'a'})]).toEqual([
    0,
    undefined,
  ]);
  expect(rejections.drop('ip')).toBe(3);
  ledger.close();
});

test('a streak takes them back, too', async () => {
  const ledger = await leftByKill();
  const rejections = new Rejections({...noStore, put: () => expect.fail('kept')}, ledger);
  expect(rejections.drop('ip')).toBe(3);
  ledger.setMeta('saved', true);
  for (const {outcome} of ledger.find(KEYS).values())
    expect(outcome).toEqual({status: 'failed', error: 'odd'});
  expect(ledger.find(['of another run']).get('of another run')?.outcome).toMatchObject({rejected: true});
  ledger.close();
});

test('at the end, rejections are kept where a value was answered; else they are dropped, and that is told', async () => {
  for (const isAnswered of [false, true]) {
    const ledger = await leftByKill();
    const put: string[] = [];
    const rejections = new Rejections({...noStore, put: ({key}) => void put.push(key)}, ledger);
    ledger.tally.operations.email.answered = 1;
    if (isAnswered) ledger.tally.operations.ip.answered = 1;
    const dropped: unknown[] = [];
    rejections.end((operation, count) => dropped.push([operation, count]));
    expect([put, dropped]).toEqual(isAnswered ? [KEYS, []] : [[], [['ip', 3]]]);
    expect(rejections.isRejected({operation: 'ip', key: 'a'})).toBe(isAnswered);
    ledger.close();
    rmSync(within('ledger.db'));
  }
});

test('a rejection that the value had before is kept for other runs at once, with its new time', async () => {
  const ledger = await leftByKill();
  const put: unknown[] = [];
  const rejections = new Rejections({...noStore, put: answer => void put.push(answer)}, ledger);
  const outcome = {status: 'failed', error: 'odd', rejected: true, boughtAt: 2_000} as const;
  const call = {operation: 'ip', key: 'd', cost: 1, dispatch: 9} as const;
  ledger.reserve([{...call, entry: newEntry(call)}]);
  const attempt = {kind: 'rejected', code: 'odd', status: 400, latencyMs: 5, boughtAt: 2_000} as never;
  await ledger.record({...call, attempt, charge: 'maybe', doubt: true, retry: false, outcome});
  rejections.add({operation: 'ip', key: 'd', outcome}, true);
  expect(put).toEqual([{operation: 'ip', key: 'd', outcome}]);
  expect([rejections.drop('ip'), ledger.bought]).toEqual([3, 1]);
  ledger.close();
});

test.each([
  ['kept', true],
  ['dropped', false],
])('a rejection is known as %s from the moment it is judged, before it is in the file', async (_, isKept) => {
  const ledger = new Ledger(within('ledger.db'), {scope: 'here'});
  const rejections = new Rejections(noStore, ledger);
  const call = {operation: 'ip', key: 'a', cost: 1, dispatch: 1} as const;
  const attempt = {kind: 'rejected', code: 'odd', status: 400, latencyMs: 5, boughtAt: 1_000} as never;
  const outcome = {status: 'failed', error: 'odd', rejected: true, boughtAt: 1_000} as const;
  ledger.reserve([{...call, entry: newEntry(call)}]);
  const booked = {...call, attempt, charge: 'maybe', doubt: true, retry: false, outcome} as const;
  const written = ledger.record(booked);
  rejections.add({...call, outcome}, false);
  expect(rejections.isRejected(call)).toBeUndefined();
  if (isKept) rejections.keep('ip');
  else expect(rejections.drop('ip')).toBe(1);
  expect(rejections.isRejected(call)).toBe(isKept);
  await written;
  expect(rejections.isRejected(call)).toBe(isKept);
  expect(ledger.bought).toBe(Number(isKept));
  ledger.close();
});
