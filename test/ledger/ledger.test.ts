import {randomUUID} from 'node:crypto';
import {cpSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {giveBackBlocks, PeriodBudget} from '../../src/ledger/account/period-budget.ts';
import type {BookedAttempt} from '../../src/ledger/entry.ts';
import {Ledger} from '../../src/ledger/ledger.ts';
import type {LedgerOptions} from '../../src/ledger/ledger-options.ts';
import {Sqlite} from '../../src/ledger/sqlite.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-ledger-'));
});
afterEach(() => rmSync(directory, {recursive: true, force: true}));

const open = (options: Partial<LedgerOptions> = {}, name = 'ledger.db') =>
  new Ledger(join(directory, name), {resend: 'always', now: () => 1_000, ...options});

const call = (key: string, cost = 1) => ({key, operation: 'ip' as const, cost, known: false, dispatch: 7});
const answered = (key: string): BookedAttempt => ({
  ...call(key),
  attempt: {
    kind: 'answered',
    status: 200,
    latencyMs: 5,
    data: {},
    unknownFields: [],
    wrongTypes: [],
  } as never,
  charge: 'spent',
  retry: false,
  outcome: {status: 'ok', data: `{"of":"${key}"}`},
});

test('reserves in order what the limit allows, and credits of free calls again', async () => {
  const ledger = open({maxCredits: 3});
  expect(ledger.reserve(['a', 'b', 'c', 'd'].map(key => call(key)))).toBe(3);
  expect(ledger.reserve([call('d')])).toBe(0);
  const attempt = {kind: 'not_sent', code: 'ECONNREFUSED'} as never;
  await ledger.record({...call('a'), attempt, charge: 'free', retry: false});
  expect(ledger.budget.affords(1)).toBe(true);
  expect(ledger.reserve([call('d')])).toBe(1);
  expect(ledger.budget.committed).toBe(3);
  ledger.close();
});

test('what a killed session took of a shared budget and did not spend is given back by the next one', async () => {
  const day = (where: string) =>
    new PeriodBudget({
      directory: where,
      owner: 'account',
      holder: randomUUID(),
      period: 'day',
      limit: 'a limit',
      maxCredits: 1_000_000,
      now: () => Date.parse('2031-05-06T07:08:09Z'),
    });
  const first = open({shared: [day(directory)]});
  first.reserve([call('z', 50)]);
  await first.record({...answered('z'), cost: 50});
  first.close();
  const killed = open({shared: [day(directory)]});
  killed.reserve([call('a', 300), call('b', 40), call('c', 7)]);
  await killed.record({...answered('a'), cost: 300});
  const attempt = {kind: 'not_sent', code: 'ECONNREFUSED'} as never;
  await killed.record({...call('c', 7), attempt, charge: 'free', retry: false});
  const left = mkdtempSync(join(tmpdir(), 'bulk-enrich-ledger-'));
  cpSync(directory, left, {recursive: true});
  killed.close();
  for (const isOver of [false, true]) {
    const next = new Ledger(join(left, 'ledger.db'), {
      resend: 'always',
      now: () => 1_000,
      shared: [day(left)],
      giveBack: (holder, taken) => giveBackBlocks({directory: left, now: () => 1_000}, holder, taken),
    });
    if (isOver) next.restart('a scope');
    expect(next.budget.uses).toMatchObject([{used: 50 + 300 + 40}]);
    next.close();
  }
  rmSync(left, {recursive: true});
});

test('a reservation that could not be written gives its credits back: nothing was sent', () => {
  const ledger = open({maxCredits: 10});
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw new Error('the disk is gone');
  });
  expect(() => ledger.reserve([call('a', 4)])).toThrow('the disk is gone');
  expect(ledger.budget.committed).toBe(0);
  ledger.abandon();
});

test('what was in flight at the end is maybe spent, in this session’s books and in the next one’s', async () => {
  const ledger = open();
  ledger.reserve([call('a'), call('b'), call('c', 2)]);
  await ledger.record(answered('a'));
  ledger.close();
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 3, calls: 1, spent: 1, maybeSpent: 3});
  expect(ledger.tally.unconfirmed).toBe(2);
  await expect(ledger.record(answered('b'))).rejects.toThrow('closed');
  const next = open();
  expect(next.tally).toMatchObject({unconfirmed: 2, operations: {ip: ledger.tally.operations.ip}});
  expect(next.find(['a', 'b', 'nobody'])).toEqual(
    new Map([
      ['a', {ambiguous: false, interrupted: undefined, outcome: {status: 'ok', data: '{"of":"a"}'}}],
      ['b', {ambiguous: true, interrupted: 7, outcome: undefined}],
    ]),
  );
  next.close();
});

test('an outcome is known from the moment it is booked, before it is in the file', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  const written = ledger.record(answered('a'));
  expect(ledger.find(['a']).get('a')?.outcome).toEqual({status: 'ok', data: '{"of":"a"}'});
  await written;
  expect(ledger.find(['a']).get('a')?.outcome).toEqual({status: 'ok', data: '{"of":"a"}'});
  ledger.close();
});

test('with --resend never, what was in flight is unknown for good', () => {
  const ledger = open({resend: 'never'});
  ledger.reserve([call('a')]);
  ledger.close();
  const next = open({resend: 'never'});
  expect(next.find(['a']).get('a')?.outcome).toEqual({status: 'unknown', error: 'interrupted'});
  next.close();
});

test('with --resend never, what an earlier session without it left in doubt is unknown for good', async () => {
  const ledger = open();
  ledger.reserve([call('a'), call('b'), call('c')]);
  const reset: BookedAttempt['attempt'] = {kind: 'ambiguous', code: 'econnreset', latencyMs: 1};
  const free: BookedAttempt['attempt'] = {kind: 'not_sent', code: 'econnrefused', latencyMs: 1};
  await ledger.record({...call('a'), attempt: reset, charge: 'maybe', retry: false});
  await ledger.record({...call('b'), attempt: free, charge: 'free', retry: false});
  ledger.close();
  const next = open({resend: 'never'});
  const unknown = {status: 'unknown', error: 'interrupted'};
  const found = next.find(['a', 'b', 'c']);
  expect([...found].map(([key, {outcome, interrupted}]) => [key, outcome, interrupted])).toEqual([
    ['a', unknown, 0],
    ['b', undefined, undefined],
    ['c', unknown, 7],
  ]);
  next.close();
});

test('answers taken over are found at once, and once they are in the file; values asked before are settled by them', () => {
  const ledger = open();
  ledger.reserve([call('sent')]);
  ledger.close();
  const next = open();
  next.adopt('ip', 'new', {status: 'ok', data: '{"n":1}'});
  next.adopt('ip', 'sent', {status: 'ok', data: '{"n":2}'}, true);
  const wanted = [
    ['new', {ambiguous: false, interrupted: undefined, outcome: {status: 'ok', data: '{"n":1}'}}],
    ['sent', expect.objectContaining({outcome: {status: 'ok', data: '{"n":2}'}})],
  ];
  expect([...next.find(['new', 'sent'])]).toEqual(wanted);
  expect(next.tally.operations.ip).toMatchObject({distinct: 2, fromCache: 2});
  next.close();
  const last = open();
  expect([...last.find(['new', 'sent'])].sort()).toEqual(wanted);
  last.close();
});

const ambiguous = {kind: 'ambiguous', code: 'timeout', latencyMs: 5} as never;
const asked = {ambiguous: true, interrupted: undefined};

const since = (at: number) => ({ok: at, failed: at});

test('starting over keeps answers, doubt and books at hand, however often, each for its own scope', async () => {
  const ledger = open();
  ledger.restart('here');
  ledger.reserve([call('a'), call('b'), call('c', 2)]);
  await ledger.record(answered('a'));
  await ledger.record({...call('b'), attempt: ambiguous, charge: 'maybe', retry: false});
  ledger.close();
  for (let times = 0; times < 2; times++) {
    const next = open();
    next.restart('here');
    expect(next.find(['a', 'b', 'c']).size).toBe(0);
    expect(next.getMeta('checkpoint')).toBeUndefined();
    expect(next.carried('a', since(1_000))).toEqual({...asked, outcome: {status: 'ok', data: '{"of":"a"}'}});
    for (const [key, notBefore] of [['a', 1_001] as const, ['b', 0] as const, ['c', 0] as const])
      expect(next.carried(key, since(notBefore))).toEqual({...asked, outcome: undefined});
    expect(next.carried('nobody', since(0))).toBeUndefined();
    expect(next.tally.operations.ip).toMatchObject({distinct: 0, calls: 2, spent: 1, maybeSpent: 3});
    expect(next.earlier.counted).toEqual({calls: 2, spent: 1, maybeSpent: 3});
    expect(next.budget.committed).toBe(4);
    next.close();
  }
  const other = open();
  other.restart('there');
  expect(other.carried('a', since(0))).toBeUndefined();
  expect([other.budget.committed, other.earlier.notCounted.spent]).toEqual([0, 1]);
  other.reserve([call('a')]);
  other.close();
  const back = open();
  expect(back.budget.committed).toBe(1);
  back.restart('here');
  expect(back.carried('a', since(0))?.outcome).toMatchObject({data: '{"of":"a"}'});
  expect(back.budget.committed).toBe(4);
  back.restart('here', true);
  expect(back.carried('a', since(0))?.outcome).toMatchObject({data: '{"of":"a"}'});
  expect(back.budget.committed).toBe(0);
  expect(back.earlier).toEqual({
    counted: {calls: 0, spent: 0, maybeSpent: 0},
    notCounted: {calls: 2, spent: 1, maybeSpent: 4},
    unknown: false,
  });
  back.close();
});

test('an answer ends the doubt; what was answered in vain is in doubt too, and so is all where state was lost', async () => {
  const ledger = open({resend: 'never', lostState: true});
  ledger.reserve([call('b'), call('c')]);
  await ledger.record({...call('b'), attempt: ambiguous, charge: 'maybe', retry: false});
  const attempt = {kind: 'unreadable', code: 'bad_response', status: 200, latencyMs: 5} as never;
  const outcome = {status: 'failed', error: 'bad_response'} as const;
  await ledger.record({...call('c'), attempt, charge: 'spent', retry: false, outcome});
  ledger.restart('');
  expect(ledger.carried('b', since(0))?.outcome).toEqual({status: 'unknown', error: 'interrupted'});
  expect(ledger.carried('nobody', since(0))).toEqual({...asked, outcome: undefined});
  expect(ledger.earlier.unknown).toBe(true);
  ledger.close();
  const next = open({lostState: false});
  expect(next.carried('c', since(0))).toEqual({...asked, outcome: undefined});
  next.reserve([call('b')]);
  await next.record(answered('b'));
  next.restart('');
  expect(next.carried('b', since(0))?.outcome).toMatchObject({status: 'ok'});
  next.close();
});

test('doubt that came after an answer is known too, once that is too old', async () => {
  const ledger = open({resend: 'never'});
  ledger.reserve([call('a')]);
  await ledger.record(answered('a'));
  ledger.restart('');
  ledger.reserve([call('a')]);
  const outcome = {status: 'unknown', error: 'timeout'} as const;
  await ledger.record({...call('a'), attempt: ambiguous, charge: 'maybe', retry: false, outcome});
  ledger.restart('');
  expect(ledger.carried('a', since(1_001))?.outcome).toMatchObject({status: 'unknown'});
  expect(ledger.carried('a', since(0))?.outcome).toMatchObject({status: 'ok'});
  ledger.close();
});

test('hands out the answers since a moment, for the store, in groups', async () => {
  let now = 0;
  const ledger = open({now: () => now});
  const keys = Array.from({length: 1_200}, (_, i) => `k${i}`);
  ledger.reserve(keys.map(key => call(key)));
  for (const [index, key] of keys.entries()) {
    now = index < 600 ? 1 : 2;
    const done = ledger.record(answered(key));
    if (index === 599) await done;
  }
  await ledger.record(answered('last'));
  const since = (moment: number) => [...ledger.answersSince(moment)].flat();
  expect(since(0)).toHaveLength(1_200);
  expect(since(2)).toHaveLength(600);
  expect(since(2)[0]).toEqual({
    operation: 'ip',
    key: 'k600',
    outcome: {status: 'ok', data: '{"of":"k600"}'},
    at: 2,
  });
  ledger.close();
});

test('every value is found again, in the session that added it and in the next, and no other', async () => {
  const ledger = open();
  const keys = Array.from({length: 3_000}, (_, i) => `key-${i}`);
  for (let from = 0; from < keys.length; from += 100) {
    const some = keys.slice(from, from + 100);
    expect(ledger.find(some).size).toBe(0);
    ledger.reserve(some.map(key => call(key)));
    await Promise.all(some.map(key => ledger.record(answered(key))));
  }
  expect(ledger.find(keys).size).toBe(3_000);
  ledger.close();
  const next = open();
  expect(next.find([...keys, 'other']).size).toBe(3_000);
  next.close();
});

test('a ledger of another version is refused, and says what to do', async () => {
  const db = new Sqlite(join(directory, 'other.db'), {
    synchronous: 'NORMAL',
    exclusive: true,
    busyTimeoutMs: 0,
  });
  db.exec('PRAGMA user_version = 999');
  db.close();
  expect(() => open({}, 'other.db')).toThrow(
    expect.objectContaining({
      code: 'state_version',
      exitCode: 10,
      message: expect.stringContaining('--restart'),
    }),
  );
});

test.each([
  ['an answer', "UPDATE lookup SET data = CAST(x'7bff7d' AS TEXT)"],
  ['a value', "UPDATE lookup SET key = CAST(x'ff' AS TEXT)"],
  ['an answer of an attempt that was given up', "UPDATE carried SET data = CAST(x'ff' AS TEXT)"],
  ['the books', "UPDATE meta SET value = CAST(x'22ff22' AS TEXT) WHERE name = 'tally'"],
  ['books of an attempt that was given up', "UPDATE given_up SET tally = '{'"],
  ['an operation', "UPDATE lookup SET operation = 'none'"],
])('%s that can’t be read is damage, found when the ledger is opened', async (_, change) => {
  for (const scope of ['one', 'another']) {
    const ledger = open();
    ledger.restart(scope);
    ledger.reserve([call('a')]);
    await ledger.record(answered('a'));
    ledger.close();
  }
  const db = new Sqlite(join(directory, 'ledger.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec(change);
  db.close();
  expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged', exitCode: 10}));
});

/** A session's bills as the next one finds them: of calls to `ip`. */
const untold = (ledger: Ledger) => ledger.bills.untold.map(({about, by}) => [about, by.ip]);

test('each session has a bill of its own, to which what it left in flight at its end belongs', async () => {
  const killed = open();
  killed.restart('a scope');
  killed.bills.begin('killed');
  killed.reserve([call('a'), call('b')]);
  await killed.record(answered('a'));
  killed.abandon();
  const next = open();
  expect(untold(next)).toEqual([['killed', {spent: 1, maybeSpent: 1, calls: 1}]]);
  expect(next.bills.open.at).toBe(1_000);
  next.bills.begin('next');
  next.reserve([call('c', 5)]);
  await next.record({...answered('c'), cost: 5});
  next.close();
  expect(untold(open({}, 'other.db'))).toEqual([]);
  for (const scope of ['a scope', 'another']) {
    const ledger = open();
    ledger.restart(scope, scope === 'a scope');
    expect(untold(ledger)).toEqual([
      ['killed', {spent: 1, maybeSpent: 1, calls: 1}],
      ['next', {spent: 5, maybeSpent: 0, calls: 1}],
    ]);
    ledger.close();
  }
});

test('a bill is told until the history has it, and again where more came to it', async () => {
  const first = open();
  first.bills.begin('first');
  const {id} = first.bills.open;
  first.reserve([call('a'), call('b')]);
  await first.record(answered('a'));
  first.end();
  // As a kill leaves it between its end and its being noted.
  expect(first.bills.untold).toMatchObject([{id, by: {ip: {spent: 1, maybeSpent: 1}}}]);
  first.bills.told(first.bills.untold);
  first.close();
  const second = open();
  expect(untold(second)).toEqual([]);
  await second.found(answered('b'));
  expect(second.bills.untold).toMatchObject([{id, by: {ip: {spent: 2, maybeSpent: 0, calls: 2}}}]);
  second.bills.begin('second');
  second.close();
  const third = open();
  expect(untold(third)).toEqual([['first', {spent: 2, maybeSpent: 0, calls: 2}]]);
  third.bills.told(third.bills.untold);
  third.close();
  expect(untold(open())).toEqual([]);
});

test('with a fresh budget it is still known where an operation was answered', async () => {
  const ledger = open();
  for (const scope of ['one', 'another']) {
    ledger.restart(scope);
    ledger.reserve([call(scope)]);
    await ledger.record(answered(scope));
  }
  for (const scope of ['another', 'one']) {
    ledger.restart(scope, true);
    expect([scope, ledger.isAnswered('ip'), ledger.isAnswered('email')]).toEqual([scope, true, false]);
    expect(ledger.earlier).toMatchObject({counted: {spent: 0, calls: 0}, notCounted: {spent: 2, calls: 2}});
  }
  ledger.restart('where nobody was asked');
  expect(ledger.isAnswered('ip')).toBe(false);
  ledger.close();
});
