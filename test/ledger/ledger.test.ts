import {closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeSync} from 'node:fs';
import {afterEach, expect, test, vi} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {AccountBudget} from '../../src/ledger/account/account-budget.ts';
import type {Outcome} from '../../src/ledger/lookup-outcome.ts';
import {Ledger, type LedgerOptions} from '../../src/ledger/run/ledger.ts';
import {
  addDoubt,
  type BookedAttempt,
  type LedgerEntry,
  newEntry,
  noAttempts,
} from '../../src/ledger/run/ledger-entry.ts';
import {peekLedger} from '../../src/ledger/run/ledger-recovery.ts';
import {toChecksummedJson} from '../../src/ledger/run/ledger-rows.ts';
import {hasOperationAnswer, zeroRunCounts} from '../../src/ledger/run/tally.ts';
import {historyAfterAttempt} from '../../src/lookup/retry-policy.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

const opened: Ledger[] = [];
const open = (options: Partial<LedgerOptions> = {}, name = 'ledger.db') => {
  const ledger = new Ledger(within(name), {scope: 'here', ...options});
  opened.push(ledger);
  return ledger;
};
/** The ledger of the next session. */
const reopen = (ledger: Ledger) => {
  ledger.close();
  return open();
};

afterEach(() => {
  for (const ledger of opened.splice(0)) ledger.abandon();
});

/** Changes the file while no ledger has it open. */
function changeFile(work: (db: Sqlite) => unknown): void {
  const db = new Sqlite(within('ledger.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  work(db);
  db.close();
}

const ip = (key: string) => ({key, operation: 'ip', dispatch: 7}) as const;
const call = (key: string, cost = 1, entry: LedgerEntry = newEntry(ip(key))) => ({...ip(key), cost, entry});
const ok = (data = '{}', boughtAt = 1_000) => ({status: 'ok', data, boughtAt}) as const;
const adopt = (ledger: Ledger, key: string, outcome: Outcome) =>
  ledger.settleWithoutCall(newEntry({operation: 'ip', key}), outcome);
const attemptOf = (boughtAt: number) => ({
  ...({kind: 'answered', status: 200, latencyMs: 5, boughtAt} as const),
  ...{data: {}, unknownFields: [], wrongTypes: [], pace: {limits: {}}},
});
const answered = (key: string, boughtAt = 1_000): BookedAttempt => ({
  ...{...ip(key), cost: 1, attempt: attemptOf(boughtAt)},
  ...{charge: 'spent', history: noAttempts, retry: false},
  outcome: ok(`{"of":"${key}"}`, boughtAt),
});
const ambiguous = {kind: 'ambiguous', code: 'econnreset', latencyMs: 5, boughtAt: 1_000} as const;
const inDoubt = (key: string): BookedAttempt => ({
  ...{...ip(key), cost: 1, attempt: ambiguous},
  ...{charge: 'maybe', history: addDoubt(noAttempts, ambiguous), retry: false},
});
const failed = (key: string): BookedAttempt => ({
  ...inDoubt(key),
  outcome: {status: 'failed', error: 'econnreset'},
});

/** Books how a call ended, and writes it. */
function record(ledger: Ledger, booked: BookedAttempt): void {
  ledger.bookAttempt(booked);
  ledger.reserve([]);
}

/** Sends values and books how they ended. */
function send(ledger: Ledger, ...all: readonly BookedAttempt[]): void {
  const known = ledger.find(all.map(({key}) => key));
  expect(ledger.reserve(all.map(({key, cost}) => call(key, cost, known.get(key))))).toBe(all.length);
  for (const booked of all) {
    const before = known.get(booked.key)?.history ?? noAttempts;
    const cost = {throttled: 'free', rejected: 'maybe'} as const;
    const history = historyAfterAttempt(before, booked.attempt, {resends: 2, cost});
    record(ledger, {...booked, history});
  }
}
const entryOf = (ledger: Ledger, key: string) => ledger.find([key]).get(key);

/** Lets the next transaction fail with this code. */
function failWith(code: string): void {
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw Object.assign(new Error('failed'), {code});
  });
}

const dayOf = (maxCredits: number) =>
  new AccountBudget({
    ...{directory: within(), owner: 'account', now: Date.now},
    limits: [{period: 'day', limit: 'a limit', maxCredits}],
  });

test('after a failed write that no space helps, the session counts the sent calls, and the next one counts them as maybe charged', () => {
  const ledger = open({maxCredits: 10});
  ledger.reserve([call('a'), call('b'), call('c')]);
  const write = vi.spyOn(Sqlite.prototype, 'transaction').mockImplementation(() => {
    throw Object.assign(new Error('disk I/O error'), {code: 'SQLITE_IOERR_WRITE'});
  });
  expect(() => record(ledger, answered('a'))).toThrow("can't be written");
  // Never sent, so neither spent nor in doubt.
  expect(() => ledger.reserve([call('d')])).toThrow("can't be written");
  write.mockRestore();
  expect(() => record(ledger, answered('b'))).toThrow("can't be written");
  expect([ledger.isReadable, ledger.budget.committed]).toEqual([false, 3]);
  expect(() => ledger.end()).toThrow("can't be written");
  ledger.abandon();
  expect(ledger.spending.ip).toEqual({calls: 2, spent: 2, maybeSpent: 1});
  const next = open();
  const {unconfirmed, byError} = next.tally.attempts;
  expect([next.interrupted, unconfirmed, byError]).toEqual([3, 3, {interrupted: 3}]);
  expect(next.spending.ip).toEqual({calls: 0, spent: 0, maybeSpent: 3});
});

test('an outcome is not written where the reservation that would write it with its own fails', () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  ledger.bookAttempt(answered('a'));
  failWith('SQLITE_IOERR_WRITE');
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
  expect(() => ledger.reserve([])).toThrow("can't be written");
});

test('a ledger that no run resumes has no file that a kill would leave, and tells that the disk is full', () => {
  const ledger = open({temporary: true});
  ledger.reserve([call('a')]);
  expect(readdirSync(within())).toEqual([]);
  failWith('SQLITE_FULL');
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
});

test('on a full disk, what was paid for is written in the space of the spare file, and nothing more is reserved', () => {
  const ledger = open();
  ledger.reserve([call('a'), call('b'), call('c')]);
  const spare = within('ledger.db-spare');
  expect(statSync(spare).size).toBe(1_048_576);
  failWith('SQLITE_FULL');
  record(ledger, answered('a'));
  expect(existsSync(spare)).toBe(false);
  expect(() => ledger.reserve([call('d')])).toThrow("can't be written");
  record(ledger, answered('b'));
  ledger.end();
  const next = reopen(ledger);
  expect(next.spending.ip).toEqual({calls: 2, spent: 2, maybeSpent: 1});
  const found = [...next.find(['a', 'b', 'c', 'd']).values()];
  expect(found.map(({outcome}) => outcome?.status)).toEqual(['ok', 'ok', undefined]);
  expect(next.reserve([call('c')])).toBe(1);
  expect(existsSync(spare)).toBe(true);
});

test('the spare file has room for the outcomes of all calls in flight', () => {
  const ledger = open();
  for (const group of ['a', 'b'])
    ledger.reserve(Array.from({length: 30}, (_, nth) => call(`${group}${nth}`)));
  expect(statSync(within('ledger.db-spare')).size).toBe(2 * 1_048_576);
});

test('a reservation that a full disk refuses is in no books, and what was booked before it is in the file', () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  ledger.bookAttempt(answered('a'));
  failWith('SQLITE_FULL');
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
  ledger.reserve([]);
  const next = reopen(ledger);
  expect(next.spending.ip).toEqual({calls: 1, spent: 1, maybeSpent: 0});
  expect(next.interrupted).toBe(0);
});

test('a disk without space for the outcomes of calls takes none, and the message says so', () => {
  const ledger = open();
  mkdirSync(within('ledger.db-spare'));
  expect(() => ledger.reserve([call('a')])).toThrow(/can't be written \(E\w+/);
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 0});
});

test('a batch whose shared budget can not be written is not sent: nothing of it is reserved', () => {
  const day = dayOf(100);
  const ledger = open({account: day});
  vi.spyOn(day, 'take').mockImplementationOnce(() => {
    throw new Error('full');
  });
  expect(() => ledger.reserve([call('a'), call('b')])).toThrow('full');
  ledger.close();
  expect(ledger.spending.ip.maybeSpent).toBe(0);
  expect(ledger.budget.committed).toBe(0);
});

test('a reservation that could not be written gives its credits back: nothing was sent', () => {
  const ledger = open({maxCredits: 10});
  failWith('EIO');
  expect(() => ledger.reserve([call('a', 4)])).toThrow('failed');
  expect(ledger.budget.committed).toBe(0);
});

test('an answer ends the doubt; failures and doubts last until a new count begins, which keeps one doubt', () => {
  const ledger = open();
  send(ledger, inDoubt('answered'), inDoubt('waiting'), failed('failed'));
  send(ledger, answered('answered'), inDoubt('waiting'));
  const next = reopen(ledger);
  expect(entryOf(next, 'answered')).toMatchObject({outcome: {status: 'ok'}, history: {doubts: 0}});
  const twice = {doubts: 2, lastCode: 'econnreset'};
  expect(entryOf(next, 'waiting')).toMatchObject({outcome: undefined, history: twice});
  expect(entryOf(next, 'failed')).toMatchObject({outcome: {status: 'failed', error: 'econnreset'}});
  next.beginCount({runId: 'another'});
  next.close();
  const third = open();
  expect(third.getMeta('run')).toEqual({runId: 'another'});
  expect(third.spending.ip).toEqual({calls: 0, spent: 0, maybeSpent: 0});
  expect(entryOf(third, 'answered')).toMatchObject({outcome: {status: 'ok'}});
  const history = {mayBeCarriedOut: true, doubts: 1, lastCode: 'econnreset'};
  for (const key of ['waiting', 'failed'])
    expect(entryOf(third, key)).toMatchObject({outcome: undefined, history});
});

test('failures that are the service’s are forgotten without a trace but that they may have been carried out', () => {
  const ledger = open();
  send(ledger, failed('a'), answered('b'));
  ledger.forgetFailures();
  const next = reopen(ledger);
  expect(entryOf(next, 'a')).toMatchObject({outcome: undefined, history: {mayBeCarriedOut: true, doubts: 0}});
  expect(entryOf(next, 'b')).toMatchObject({outcome: {status: 'ok'}});
  // What they cost is not forgotten.
  expect(next.spending.ip).toEqual({calls: 2, spent: 1, maybeSpent: 1});
});

test('a value that is new to a ledger may have been sent only if the ledger before is lost', () => {
  const isDoubted = (lostState: boolean) => {
    using ledger = Object.assign(open({lostState}), {[Symbol.dispose]: () => {}});
    const {mayBeCarriedOut} = ledger.newEntry({operation: 'ip', key: 'a'}).history;
    ledger.close();
    return mayBeCarriedOut;
  };
  expect([true, false].map(isDoubted)).toEqual([true, false]);
});

test('a verdict that may be a repetition’s stays unknown in a new count', () => {
  const ledger = open();
  const unknown = {...ok(), status: 'unknown', error: 'verdict_replay_uncertain'} as const;
  send(ledger, {...answered('a'), outcome: unknown});
  ledger.beginCount({});
  const next = reopen(ledger);
  expect(entryOf(next, 'a')?.outcome).toEqual(unknown);
});

test('a session counts each of its values once, those that it finds in the ledger as well', () => {
  const first = open();
  send(first, answered('bought'), failed('failed'));
  adopt(first, 'taken over', ok());
  first.close();
  const ledger = open();
  const use = () => {
    for (const entry of ledger.find(['bought', 'failed', 'taken over']).values()) ledger.markUsed(entry);
  };
  use();
  use();
  send(ledger, answered('new'));
  use();
  const found = entryOf(ledger, 'new');
  if (found !== undefined) ledger.markUsed(found);
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 4, fromStore: 1, calls: 1});
  // A run that reads its input again begins to count.
  ledger.restartDistinctCounts();
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 0, fromStore: 0});
  use();
  const again = entryOf(ledger, 'new');
  expect(again?.isUsed).toBe(false);
  if (again !== undefined) ledger.markUsed(again);
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 4, fromStore: 1});
});

test('answers of this session hold for it, whatever their time', () => {
  const ledger = open();
  send(ledger, answered('a'));
  expect([entryOf(ledger, 'a')].map(entry => entry && ledger.isOfSession(entry))).toEqual([true]);
  const next = reopen(ledger);
  expect([entryOf(next, 'a')].map(entry => entry && next.isOfSession(entry))).toEqual([false]);
});

test('an attempt to renew an answer that comes to nothing leaves the answer, with the doubt after it', () => {
  const ledger = open();
  send(ledger, answered('a'));
  send(ledger, inDoubt('a'));
  expect(entryOf(ledger, 'a')).toMatchObject({outcome: {status: 'ok'}, history: {doubts: 1}});
  const next = reopen(ledger);
  expect(entryOf(next, 'a')).toMatchObject({outcome: {status: 'ok'}, history: {doubts: 1}});
  expect([...next.answersAfter(0)]).toMatchObject([[{key: 'a'}]]);
});

test('each kill with the call in flight counts as one, and as no doubt', () => {
  for (const kills of [0, 1, 2]) {
    const ledger = open();
    const entry = entryOf(ledger, 'a');
    expect([entry?.history.kills ?? 0, entry?.history.doubts ?? 0]).toEqual([kills, 0]);
    ledger.reserve([call('a', 1, entry)]);
    ledger.abandon();
  }
});

test('renewals take half of the limit at most, those that were paid for before included', () => {
  const ledger = open({maxCredits: 4});
  const renewal = (key: string) => ({...call(key), renews: true});
  expect(ledger.reserve([renewal('a')])).toBe(1);
  record(ledger, answered('a'));
  expect(ledger.reserve([renewal('b'), renewal('c')])).toBe(1);
});

test('reservations outlive a power cut wherever a limit counts on them: the run’s, or one that is shared', () => {
  const day = dayOf(10);
  const [normal, full] = [1, 2];
  const transactions = vi.spyOn(Sqlite.prototype, 'transaction');
  const all: [Partial<LedgerOptions>, number][] = [
    [{}, normal],
    [{maxCredits: 10}, full],
    [{account: day}, full],
    // No run resumes from it.
    [{maxCredits: 10, temporary: true}, normal],
  ];
  for (const [index, [options, expected]] of all.entries()) {
    const ledger = open(options, `${index}.db`);
    ledger.reserve([call('a')]);
    expect((transactions.mock.contexts.at(-1) as Sqlite).pragma('synchronous')).toBe(expected);
    ledger.close();
  }
  transactions.mockRestore();
});

test('a ledger knows whether calls were sent, also of a kill, and after a new count', () => {
  const sent = () => peekLedger(within('ledger.db')).hasCalls;
  const ledger = open();
  adopt(ledger, 'known', ok());
  ledger.close();
  expect(sent()).toBe(false);
  const killed = open();
  killed.reserve([call('a')]);
  killed.abandon();
  expect(sent()).toBe(true);
  const counted = open();
  counted.beginCount({});
  counted.close();
  expect(sent()).toBe(true);
});

test('an outcome that is found after its session ended is paid for once, and makes no room in the limit', () => {
  const killed = open({maxCredits: 4});
  killed.reserve([call('a'), call('b')]);
  killed.close();
  const next = open({maxCredits: 4});
  expect(next.budget.committed).toBe(2);
  const lost = entryOf(next, 'a') ?? expect.fail();
  next.bookLate(lost, answered('a'));
  expect(next.spending.ip).toEqual({spent: 1, maybeSpent: 1, calls: 1});
  expect(entryOf(next, 'a')).toMatchObject({outcome: {status: 'ok'}, interrupted: undefined});
  expect([next.budget.committed, next.reserve(['c', 'd', 'e'].map(key => call(key)))]).toEqual([2, 2]);
  next.close();
  expect(() => next.bookLate(lost, answered('a'))).toThrow('closed');
  expect(next.spending.ip.spent).toBe(1);
});

test('a lease ends once all calls before its end are booked: a kill puts none of them in doubt', () => {
  const killed = open();
  for (const key of ['a', 'b', 'c']) killed.reserve([call(key)]);
  record(killed, answered('b'));
  killed.reserve([call('d')]);
  record(killed, answered('a'));
  killed.abandon();
  const next = open();
  expect([next.interrupted, next.spending.ip]).toEqual([2, {calls: 2, spent: 2, maybeSpent: 2}]);
  next.reserve([call('e')]);
  record(next, answered('e'));
  next.abandon();
  changeFile(db => expect(db.query(['id'], 'FROM lease').all()).toEqual([]));
});

test('rejections that are known from before do not show that the service answers', () => {
  const ledger = open();
  adopt(ledger, 'a', {status: 'failed', error: 'no', rejected: 'twice', boughtAt: 1_000});
  adopt(ledger, 'b', {status: 'failed', error: 'used up'});
  expect([hasOperationAnswer(ledger.tally, 'ip'), ledger.tally.operations.ip.fromStore]).toEqual([false, 1]);
  adopt(ledger, 'c', ok());
  expect(hasOperationAnswer(ledger.tally, 'ip')).toBe(true);
});

test('a session that gives up its ledger has its calls in flight as perhaps spent, also of the day', () => {
  const ledger = open({account: dayOf(1_000_000)});
  ledger.reserve([call('a', 300)]);
  ledger.abandon();
  expect([ledger.spending.ip.maybeSpent, ledger.tally.attempts.unconfirmed]).toEqual([300, 1]);
  const next = dayOf(1_000_000);
  expect(next.limits.map(limit => next.useOf(limit).used)).toEqual([300]);
});

test('hands out the answers that it bought by their numbers, for the store, in groups, each with its own time', () => {
  const ledger = open();
  const keys = Array.from({length: 1_100}, (_, n) => `key-${n}`);
  send(ledger, ...keys.map((key, n) => answered(key, n)));
  adopt(ledger, 'of the store', ok('{}', 5));
  expect(ledger.bought).toBe(1_100);
  const groups = [...ledger.answersAfter(100)];
  expect(groups.map(({length}) => length)).toEqual([500, 500]);
  const told = groups.flat();
  expect(told.map(({outcome}) => outcome.boughtAt)).toEqual(keys.slice(100).map((_, n) => n + 100));
  const next = reopen(ledger);
  send(next, answered('one more'));
  expect([...next.answersAfter(1_100)]).toMatchObject([[{key: 'one more'}]]);
});

test('every taken over outcome is found: before it is written, after it, and by the next session', () => {
  const kinds = (n: number): Outcome[] => [
    ok(`{"n":${n}}`, n),
    {status: 'failed', error: 'rejected', rejected: 'twice', boughtAt: n},
    {status: 'failed', error: 'http_500'},
    {status: 'unknown', error: 'timeout'},
    {status: 'unknown', error: 'verdict_replay_uncertain', data: `{"v":${n}}`, boughtAt: n},
  ];
  const all = Array.from({length: 5_000}, (_, n) => [`key-${n}`, kinds(n)[n % 5] as Outcome] as const);
  const ledger = open();
  for (const [key, outcome] of all) adopt(ledger, key, outcome);
  const found = (one: Ledger) =>
    [...one.find(all.map(([key]) => key))].map(([key, {outcome}]) => [key, outcome]);
  const sorted = (pairs: unknown[]) => pairs.map(pair => JSON.stringify(pair)).sort();
  expect(sorted(found(ledger))).toEqual(sorted([...all]));
  const next = reopen(ledger);
  expect(sorted(found(next))).toEqual(sorted([...all]));
});

test('damage in any value is found before anything is sent', () => {
  const ledger = open();
  send(ledger, ...Array.from({length: 600}, (_, n) => answered(`key ${n}`)));
  ledger.close();
  open().close();
  // No text in UTF-8.
  changeFile(db => db.exec("UPDATE value SET data = CAST(x'7bff7d' AS TEXT) WHERE key = 'key 599'"));
  expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged'}));
});

test.each([
  ['an answer', "UPDATE value SET data = CAST(x'7bff7d' AS TEXT)"],
  ['a value', "UPDATE value SET key = CAST(x'ff' AS TEXT)"],
  ['a saved name', "UPDATE meta SET value = CAST(x'22ff22' AS TEXT) WHERE name = 'run'"],
  ['a saved name with another digit', "UPDATE meta SET value = replace(value, '1', '9') WHERE name = 'run'"],
  ['a saved name without its checksum', "UPDATE meta SET value = substr(value, 1, 11) WHERE name = 'run'"],
  ['a cost', "UPDATE scope SET counts = replace(counts, '1', '9')"],
  ['a lease', "UPDATE lease SET calls = replace(calls, '7', '8')"],
  ['an operation', "UPDATE value SET operation = 'none'"],
  ['a number of doubts', "UPDATE value SET doubts = 'x'"],
])('%s that can’t be read is damage, found when the ledger is opened', async (_, change) => {
  const killed = open();
  killed.setMeta('run', {runId: 1});
  send(killed, answered('a'));
  killed.reserve([call('b')]);
  killed.abandon();
  changeFile(db => db.exec(change));
  const read = () => open().getMeta('run');
  expect(read).toThrow(expect.objectContaining({code: 'state_damaged', exitCode: 10}));
});

test('damage beside all values is found when the ledger is opened', () => {
  open().close();
  const file = openSync(within('ledger.db'), 'r+');
  // The header's number of free pages: https://www.sqlite.org/fileformat.html
  writeSync(file, Buffer.from([0, 0, 0, 5]), 0, 4, 36);
  closeSync(file);
  expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged'}));
});

test('another endpoint or account has nothing of the ledger; a new count there begins with no value', () => {
  const killed = open();
  killed.reserve([call('a'), call('b')]);
  record(killed, answered('a'));
  killed.abandon();
  const next = open({scope: 'there'});
  expect([next.owner, next.spending.ip]).toEqual(['here', {spent: 1, maybeSpent: 1, calls: 1}]);
  next.beginCount({});
  expect([next.spending.ip, next.find(['a', 'b']).size]).toEqual([{spent: 0, maybeSpent: 0, calls: 0}, 0]);
  next.close();
  expect(open({scope: 'there'}).owner).toBe('there');
});

test.each([
  ['here', 0, {spent: 1, maybeSpent: 1, calls: 1}],
  ['there', 1, {spent: 5, maybeSpent: 1, calls: 1}],
])('a ledger of the first programs, with two accounts, goes on for %s', (scope, number, ip) => {
  const first = open();
  first.setMeta('run', {runId: 'run'});
  first.reserve([call('a'), call('b')]);
  record(first, answered('a'));
  first.abandon();
  const counts = toChecksummedJson({...zeroRunCounts(), spending: {ip: {spent: 5, maybeSpent: 0, calls: 1}}});
  changeFile(db => {
    db.prepare("INSERT INTO scope VALUES (1, 'there', ?)").run(counts);
    db.exec(`INSERT INTO value SELECT NULL, key, 1, operation, state, sent + 1048576, interrupted, carried_out, doubts, error,
    'of there', bought_at, nth FROM value; INSERT INTO lease SELECT id + 1, 1, calls FROM lease`);
  });
  const next = open({scope});
  expect([next.owner, next.getMeta('run')]).toEqual([scope, {runId: ['run', 'run-1'][number]}]);
  expect(next.spending.ip).toEqual(ip);
  expect(entryOf(next, 'a')?.outcome).toMatchObject({data: ['{"of":"a"}', 'of there'][number]});
});

test('counts of a version without an operation count on, and nothing of that operation', () => {
  open().close();
  const {ip} = zeroRunCounts().spending;
  const earlier = {spending: {ip: {...ip, spent: 7}}, renewed: 0, refusals: {}};
  changeFile(db => db.prepare('UPDATE scope SET counts = ?').run(toChecksummedJson(earlier)));
  const next = open({maxCredits: 8});
  send(next, answered('a'));
  expect([next.spending.ip.spent, next.spending.verify, next.budget.committed]).toEqual([8, ip, 8]);
});

test('an expired answer gives the limit back no more than it cost, whatever a call costs now', () => {
  const ledger = open();
  send(ledger, answered('a'), answered('b'));
  const [keeps, costs] = [() => false, () => 5];
  expect(ledger.expireAnswers(0, keeps, costs)).toBe(2);
  expect(ledger.budget.committed).toBe(0);
});
