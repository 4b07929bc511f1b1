import {expect, test} from 'vitest';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import {newEntry, noAttempts} from '../../src/ledger/run/ledger-entry.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

const open = () => new Ledger(within('ledger.db'), {scope: 'here'});
let dispatch = 0;

/** Sends values together, and books their ends in this order: an answer (`+a`) or a rejection (`-b`). */
function send(ledger: Ledger, sent: readonly string[], ends: readonly string[]): void {
  const calls = sent.map(key => {
    dispatch += 1;
    const call = {operation: 'ip', key, cost: 1, dispatch} as const;
    return {...call, entry: newEntry(call)};
  });
  ledger.reserve(calls);
  for (const end of ends) {
    const call = calls.find(({key}) => key === end.slice(1)) ?? expect.fail(end);
    const boughtAt = 1_000;
    const [attempt, outcome] = end.startsWith('+')
      ? ([
          {
            kind: 'answered',
            status: 200,
            latencyMs: 5,
            pace: {limits: {}},
            data: {},
            unknownFields: [],
            wrongTypes: [],
            boughtAt,
          },
          {status: 'ok', data: '{}', boughtAt},
        ] as const)
      : ([
          {kind: 'rejected', code: 'odd', status: 400, latencyMs: 5, pace: {limits: {}}, boughtAt},
          {status: 'failed', error: 'odd', rejected: true, boughtAt},
        ] as const);
    ledger.record({...call, attempt, charge: 'maybe', history: noAttempts, retry: false, outcome});
  }
}

function judged(ledger: Ledger) {
  const kept: string[] = [];
  const failures = ledger.judgeRejections(4, ({key}) => void kept.push(key));
  return {kept: kept.sort(), failures: [...failures]};
}

test.each([
  ['a call that was sent later was answered', ['a', 'b', 'c'], ['-a', '-b', '+c'], ['a', 'b']],
  ['an answer arrived first, of a call that was sent later', ['a', 'b'], ['+b', '-a'], ['a']],
  ['an answer arrived later, of a call that was sent before', ['a', 'b'], ['-b', '+a'], []],
  ['nothing was answered', ['a', 'b'], ['-a', '-b'], []],
  ['only those before the last answer', ['a', 'b', 'c', 'd'], ['-a', '+b', '-c', '-d'], ['a']],
])('rejections are answers where %s', (_, sent, ends, expected) => {
  const ledger = open();
  send(ledger, sent, ends);
  const {kept, failures} = judged(ledger);
  const rejected = ends.filter(end => end.startsWith('-')).map(end => end.slice(1));
  const failed = rejected.length - expected.length;
  expect([kept, failures]).toEqual([expected, failed === 0 ? [] : [['ip', failed]]]);
  for (const key of rejected) {
    const {outcome} = ledger.find([key]).get(key) ?? {};
    expect(outcome).toMatchObject({status: 'failed', error: 'odd'});
    expect('rejected' in (outcome ?? {})).toBe(expected.includes(key));
  }
  // They are judged once.
  expect(judged(ledger)).toEqual({kept: [], failures: []});
  expect([...ledger.answersAfter(0)].flatMap(({answers}) => answers.map(({key}) => key)).sort()).toEqual(
    [...expected, ...ends.filter(end => end.startsWith('+')).map(end => end.slice(1))].sort(),
  );
  ledger.close();
});

test('a series without an answered call between is the account’s, whatever came before and after', async () => {
  const ledger = open();
  const sent = async (...ends: string[]) => {
    for (const end of ends) send(ledger, [end.slice(1)], [end]);
  };
  await sent('+a', '-b', '-c', '-d', '+e', '-f', '-g', '-h', '-i', '-j', '+k', '-l', '+m');
  expect(judged(ledger)).toEqual({kept: ['b', 'c', 'd', 'l'], failures: [['ip', 5]]});
  ledger.close();
});

test('a later session judges what a killed one left; a rejection from the store stays one', () => {
  const killed = open();
  send(killed, ['a', 'b'], ['-a', '-b']);
  const rejected = {status: 'failed', error: 'odd', rejected: true, boughtAt: 1} as const;
  killed.adopt(newEntry({operation: 'ip', key: 'of another run'}), rejected);
  killed.close();
  const next = open();
  send(next, ['c'], ['+c']);
  expect(judged(next)).toEqual({kept: ['a', 'b'], failures: []});
  expect(next.find(['of another run']).get('of another run')?.outcome).toEqual(rejected);
  next.close();
});
