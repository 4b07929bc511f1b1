import {randomUUID} from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test, vi} from 'vitest';
import {giveBackBlocks, PeriodBudget} from '../../src/account/period-budget.ts';
import {Sqlite} from '../../src/disk/sqlite.ts';
import type {BookedAttempt} from '../../src/ledger/entry.ts';
import type {LedgerOptions} from '../../src/ledger/ledger.ts';
import {Ledger} from '../../src/ledger/ledger.ts';
import {peek} from '../../src/ledger/ledger-file.ts';
import type {Outcome} from '../../src/ledger/lookup.ts';
import {isAnswered} from '../../src/ledger/tally.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

const open = (options: Partial<LedgerOptions> = {}, name = 'ledger.db') => new Ledger(within(name), options);

const undoubted = {mayBeCarriedOut: false, doubts: 0, interrupted: undefined, lastCode: expect.any(String)};

const call = (key: string, cost = 1) => ({key, operation: 'ip' as const, cost, known: false, dispatch: 7});
const answered = (key: string, boughtAt = 1_000): BookedAttempt => ({
  ...call(key),
  attempt: {
    kind: 'answered',
    status: 200,
    latencyMs: 5,
    data: {},
    unknownFields: [],
    wrongTypes: [],
    boughtAt,
  } as never,
  charge: 'spent',
  doubt: false,
  retry: false,
  outcome: {status: 'ok', data: `{"of":"${key}"}`, boughtAt},
});

test('reserves in order as far as the limit allows, and reuses credits of free calls', async () => {
  const ledger = open({maxCredits: 3});
  expect(ledger.reserve(['a', 'b', 'c', 'd'].map(key => call(key)))).toBe(3);
  expect(ledger.reserve([call('d')])).toBe(0);
  const attempt = {kind: 'not_sent', code: 'ECONNREFUSED'} as never;
  await ledger.record({...call('a'), attempt, charge: 'free', doubt: false, retry: false});
  expect(ledger.budget.affords(1)).toBe(true);
  expect(ledger.reserve([call('d')])).toBe(1);
  expect(ledger.budget.committed).toBe(3);
  ledger.close();
});

test('after a failed write that no space helps, the session counts the sent calls, and the next one counts them as maybe charged', async () => {
  const ledger = open({maxCredits: 10});
  ledger.reserve([call('a'), call('b'), call('c')]);
  const write = vi.spyOn(Sqlite.prototype, 'transaction').mockImplementation(() => {
    throw Object.assign(new Error('disk I/O error'), {code: 'SQLITE_IOERR_WRITE'});
  });
  await expect(ledger.record(answered('a'))).rejects.toThrow("can't be written");
  // Never sent, so neither spent nor in doubt.
  expect(() => ledger.reserve([call('d')])).toThrow("can't be written");
  write.mockRestore();
  await expect(ledger.record(answered('b'))).rejects.toThrow("can't be written");
  expect([ledger.isReadable, ledger.budget.committed]).toEqual([false, 3]);
  expect(() => ledger.end()).toThrow("can't be written");
  ledger.abandon();
  expect(ledger.tally.operations.ip).toMatchObject({calls: 2, spent: 2, maybeSpent: 1, distinct: 3});
  const next = open();
  expect(next.interrupted).toBe(3);
  expect(next.tally.operations.ip).toMatchObject({calls: 0, spent: 0, maybeSpent: 3, distinct: 3});
  next.close();
});

test('an outcome is not written where the reservation that would write it with its own fails', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  const written = ledger.record(answered('a'));
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw Object.assign(new Error('disk I/O error'), {code: 'SQLITE_IOERR_WRITE'});
  });
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
  await expect(written).rejects.toThrow("can't be written");
  ledger.abandon();
});

test('a ledger that no run resumes has no file that a kill would leave, and tells that the disk is full', () => {
  const ledger = open({temporary: true});
  ledger.reserve([call('a')]);
  expect(readdirSync(within())).toEqual([]);
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
  ledger.abandon();
});

test('on a full disk, what was paid for is written in the space of the spare file, and nothing more is reserved', async () => {
  const ledger = open();
  ledger.reserve([call('a'), call('b'), call('c')]);
  const spare = within('ledger.db-spare');
  expect(statSync(spare).size).toBe(1_048_576);
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  await ledger.record(answered('a'));
  expect(existsSync(spare)).toBe(false);
  expect(() => ledger.reserve([call('d')])).toThrow("can't be written");
  await ledger.record(answered('b'));
  ledger.end();
  ledger.close();
  const next = open();
  expect(next.tally.operations.ip).toMatchObject({calls: 2, spent: 2, maybeSpent: 1, distinct: 3});
  expect([...next.find(['a', 'b', 'c', 'd']).values()].map(({outcome}) => outcome?.status)).toEqual([
    'ok',
    'ok',
    undefined,
  ]);
  expect(next.reserve([call('c')])).toBe(1);
  expect(existsSync(spare)).toBe(true);
  next.close();
});

test('a reservation that a full disk refuses is in no books, and what was booked before it is in the file', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  const booked = ledger.record(answered('a'));
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  expect(() => ledger.reserve([call('b')])).toThrow("can't be written");
  await booked;
  ledger.close();
  const next = open();
  expect(next.tally.operations.ip).toMatchObject({calls: 1, spent: 1, maybeSpent: 0, distinct: 1});
  next.close();
});

test('a disk without space for the outcomes of calls takes none, and the message says so', () => {
  const ledger = open();
  mkdirSync(within('ledger.db-spare'));
  expect(() => ledger.reserve([call('a')])).toThrow(/can't be written \(E\w+/);
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 0});
  ledger.close();
});

test('a batch whose shared budget can not be written is not sent: nothing of it is reserved', () => {
  const day = new PeriodBudget({
    directory: within(),
    owner: 'o',
    holder: 'h',
    period: 'day',
    limit: 'a limit',
    maxCredits: 100,
    now: Date.now,
  });
  const ledger = open({shared: [day]});
  const take = vi.spyOn(day, 'take');
  take.mockReturnValueOnce(true).mockImplementationOnce(() => {
    throw new Error('full');
  });
  expect(() => ledger.reserve([call('a'), call('b')])).toThrow('full');
  ledger.close();
  expect(ledger.tally.operations.ip).toMatchObject({maybeSpent: 0, distinct: 0});
  expect(ledger.budget.committed).toBe(0);
});

test.each([
  ['went on', false],
  ['began the run', true],
])(
  'what a killed session that %s took of a shared budget and did not spend is given back by the next',
  async (_, isFirst) => {
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
    const first = open({shared: [day(within())]});
    first.reserve([call('z', 50)]);
    await first.record({...answered('z'), cost: 50});
    first.close();
    const killed = open({shared: [day(within())]});
    if (isFirst) killed.restart('a scope', {freshBudget: true});
    killed.reserve([call('a', 300), call('b', 40), call('c', 7)]);
    await killed.record({...answered('a'), cost: 300});
    const attempt = {kind: 'not_sent', code: 'ECONNREFUSED'} as never;
    await killed.record({...call('c', 7), attempt, charge: 'free', doubt: false, retry: false});
    const left = mkdtempSync(join(tmpdir(), 'bulk-enrich-ledger-'));
    cpSync(within(), left, {recursive: true});
    killed.close();
    for (const isOver of [false, true]) {
      const next = new Ledger(join(left, 'ledger.db'), {
        shared: [day(left)],
        giveBack: (holder, taken) => giveBackBlocks({directory: left, now: () => 1_000}, holder, taken),
      });
      if (isOver) next.restart('a scope');
      expect(next.budget.uses).toMatchObject([{used: 50 + 300 + 40}]);
      next.close();
    }
    rmSync(left, {recursive: true});
  },
);

test('a reservation that could not be written gives its credits back: nothing was sent', () => {
  const ledger = open({maxCredits: 10});
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(() => {
    throw new Error('the disk is gone');
  });
  expect(() => ledger.reserve([call('a', 4)])).toThrow('the disk is gone');
  expect(ledger.budget.committed).toBe(0);
  ledger.abandon();
});

test('calls in flight at the end are maybe spent, for this session and the next', async () => {
  const ledger = open();
  ledger.reserve([call('a'), call('b'), call('c', 2)]);
  await ledger.record(answered('a'));
  ledger.end();
  expect(ledger.isReadable).toBe(true);
  ledger.close();
  expect(ledger.isReadable).toBe(false);
  expect(ledger.tally.operations.ip).toMatchObject({distinct: 3, calls: 1, spent: 1, maybeSpent: 3});
  expect(ledger.tally.unconfirmed).toBe(2);
  await expect(ledger.record(answered('b'))).rejects.toThrow('closed');
  const next = open();
  // The session that ended has told of them.
  expect(next.interrupted).toBe(0);
  expect(next.tally).toMatchObject({unconfirmed: 2, operations: {ip: ledger.tally.operations.ip}});
  expect(next.find(['a', 'b', 'nobody'])).toEqual(
    new Map([
      ['a', {...undoubted, outcome: {status: 'ok', data: '{"of":"a"}', boughtAt: 1_000}}],
      ['b', {mayBeCarriedOut: true, doubts: 1, lastCode: 'interrupted', interrupted: 7, outcome: undefined}],
    ]),
  );
  next.close();
});

test('an outcome is known from the moment it is booked, before it is in the file', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  const written = ledger.record(answered('a'));
  expect(ledger.find(['a']).get('a')?.outcome).toEqual({status: 'ok', data: '{"of":"a"}', boughtAt: 1_000});
  await written;
  expect(ledger.find(['a']).get('a')?.outcome).toEqual({status: 'ok', data: '{"of":"a"}', boughtAt: 1_000});
  ledger.close();
});

test('counts a value’s doubtful sends over all sessions, with those in flight at their end', async () => {
  const reset: BookedAttempt['attempt'] = {
    kind: 'ambiguous',
    code: 'econnreset',
    boughtAt: 1_000,
    latencyMs: 1,
  };
  const free: BookedAttempt['attempt'] = {
    kind: 'not_sent',
    code: 'econnrefused',
    boughtAt: 1_000,
    latencyMs: 1,
  };
  const doubts = (ledger: Ledger) =>
    [...ledger.find(['a', 'b', 'c'])].map(([key, entry]) => [key, entry.doubts, entry.lastCode]);
  for (const session of [1, 2]) {
    const ledger = open();
    ledger.reserve(['a', 'b', 'c'].map(key => ({...call(key), known: session > 1})));
    const told = ledger.record({...call('a'), attempt: reset, charge: 'maybe', doubt: true, retry: false});
    void ledger.record({...call('b'), attempt: free, charge: 'free', doubt: false, retry: false});
    // Also while it waits to be written.
    expect(doubts(ledger)[0]).toEqual(['a', session, 'econnreset']);
    await told;
    ledger.close();
  }
  const next = open();
  expect(next.tally.operations.ip.distinct).toBe(3);
  expect(doubts(next)).toEqual([
    ['a', 2, 'econnreset'],
    ['b', 0, 'interrupted'],
    ['c', 2, 'interrupted'],
  ]);
  next.adopt('ip', 'a', {status: 'failed', error: 'econnreset'}, true);
  next.close();
  const last = open();
  expect(last.find(['a']).get('a')?.outcome).toEqual({status: 'failed', error: 'econnreset'});
  last.close();
});

test('answers taken over are found at once, and once they are in the file; values asked before are settled by them', () => {
  const ledger = open();
  ledger.reserve([call('sent')]);
  ledger.close();
  const next = open();
  next.adopt('ip', 'new', {status: 'ok', data: '{"n":1}', boughtAt: 500});
  next.adopt('ip', 'sent', {status: 'ok', data: '{"n":2}', boughtAt: 600}, true);
  const wanted = [
    ['new', {...undoubted, outcome: {status: 'ok', data: '{"n":1}', boughtAt: 500}}],
    ['sent', expect.objectContaining({outcome: {status: 'ok', data: '{"n":2}', boughtAt: 600}})],
  ];
  expect([...next.find(['new', 'sent'])]).toEqual(wanted);
  expect(next.tally.operations.ip).toMatchObject({distinct: 2, fromStore: 2});
  next.close();
  const last = open();
  expect([...last.find(['new', 'sent'])].sort()).toEqual(wanted);
  last.close();
});

const ambiguous = {kind: 'ambiguous', code: 'timeout', latencyMs: 5} as never;
const asked = {mayBeCarriedOut: true, doubts: 0, lastCode: 'interrupted', interrupted: undefined};

const since =
  (at: number) =>
  ({boughtAt = 0}: Outcome) =>
    boughtAt >= at;

test('starting over keeps answers, doubt and books at hand, however often, each for its own scope', async () => {
  const ledger = open();
  ledger.restart('here');
  ledger.reserve([call('a'), call('b'), call('c', 2)]);
  await ledger.record(answered('a'));
  await ledger.record({...call('b'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false});
  ledger.close();
  for (let times = 0; times < 2; times++) {
    const next = open();
    next.restart('here');
    expect(next.find(['a', 'b', 'c']).size).toBe(0);
    expect(next.getMeta('checkpoint')).toBeUndefined();
    expect(next.givenUp.find('a', since(1_000))).toEqual({
      ...asked,
      outcome: {status: 'ok', data: '{"of":"a"}', boughtAt: 1_000},
    });
    expect(next.givenUp.find('a', since(1_001))).toEqual({...asked, outcome: undefined});
    for (const [key, lastCode] of [
      ['b', 'timeout'],
      ['c', 'interrupted'],
    ] as const)
      expect(next.givenUp.find(key, since(0))).toEqual({...asked, doubts: 1, lastCode, outcome: undefined});
    expect(next.givenUp.find('nobody', since(0))).toBeUndefined();
    expect(next.tally.operations.ip).toMatchObject({distinct: 0, calls: 2, spent: 1, maybeSpent: 3});
    expect(next.givenUp.earlier.counted).toEqual({calls: 2, spent: 1, maybeSpent: 3});
    expect(next.budget.committed).toBe(4);
    next.close();
  }
  const other = open();
  other.restart('there');
  expect(other.givenUp.find('a', since(0))).toBeUndefined();
  expect([other.budget.committed, other.givenUp.earlier.notCounted.spent]).toEqual([0, 1]);
  other.reserve([call('a')]);
  other.close();
  const back = open();
  expect(back.budget.committed).toBe(1);
  back.restart('here');
  expect(back.givenUp.find('a', since(0))?.outcome).toMatchObject({data: '{"of":"a"}'});
  expect(back.budget.committed).toBe(4);
  back.restart('here', {freshBudget: true});
  expect(back.givenUp.find('a', since(0))?.outcome).toMatchObject({data: '{"of":"a"}'});
  expect(back.budget.committed).toBe(0);
  expect(back.givenUp.earlier).toEqual({
    counted: {calls: 0, spent: 0, maybeSpent: 0},
    notCounted: {calls: 2, spent: 1, maybeSpent: 4},
    unknown: false,
  });
  back.close();
});

test('a run that is started over keeps what it perhaps paid again, and renews answers with half of the credits that are left', async () => {
  const ledger = open({maxCredits: 10});
  ledger.restart('here');
  const renewal = (n: number) => ({...call(`key${n}`), renews: true, dispatch: n});
  expect(ledger.reserve([1, 2, 3, 4, 5, 6].map(renewal))).toBe(5);
  for (const n of [1, 2, 3, 4, 5]) await ledger.record({...answered(`key${n}`), dispatch: n});
  ledger.adopt('ip', 'known', {status: 'ok', data: '{}', boughtAt: 1_000});
  ledger.tally.operations.ip.notLookedUp = 4;
  ledger.restart('here');
  expect(ledger.tally.operations.ip).toMatchObject({spent: 5, notLookedUp: 4, distinct: 0, fromStore: 0});
  expect(ledger.reserve([7, 8, 9].map(renewal))).toBe(2);
  expect(ledger.reserve([10, 11, 12, 13].map(n => ({...renewal(n), renews: false})))).toBe(3);
  ledger.close();
});

test('a resumed run forgets the first rows after the row where it resumes, and no others', () => {
  const ledger = open();
  for (const row of [4, 5, 6]) {
    ledger.adopt('ip', `of ${row}`, {status: 'ok', data: '{}', boughtAt: 1_000});
    ledger.setFirstRow(`of ${row}`, row);
  }
  ledger.close();
  const next = open();
  next.forgetRowsAfter(5);
  expect([4, 5, 6].map(row => next.firstRow(`of ${row}`))).toEqual([4, 5, undefined]);
  next.close();
});

test('reservations outlive a power cut wherever a limit counts on them: the run’s, or one that is shared', () => {
  const day = new PeriodBudget({
    directory: within(),
    owner: 'account',
    holder: 'session',
    period: 'day',
    limit: 'a limit',
    maxCredits: 10,
    now: () => 0,
  });
  const [normal, full] = [1, 2];
  const transactions = vi.spyOn(Sqlite.prototype, 'transaction');
  const all: [LedgerOptions, number][] = [
    [{}, normal],
    [{maxCredits: 10}, full],
    [{shared: [day]}, full],
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

test('a ledger that a restart emptied still knows that calls were sent', () => {
  const sent = () => peek(within('ledger.db')).hasCalls;
  const ledger = open();
  ledger.restart('here');
  ledger.adopt('ip', 'known', {status: 'ok', data: '{}', boughtAt: 1_000});
  ledger.close();
  expect(sent()).toBe(false);
  const killed = open();
  killed.reserve([call('a')]);
  killed.close();
  expect(sent()).toBe(true);
  const restarted = open();
  restarted.restart('there');
  restarted.close();
  expect(sent()).toBe(true);
});

test('an outcome that is found after its session was given up is paid for once, and makes no room in the limit', async () => {
  const killed = open({maxCredits: 4});
  killed.reserve([call('a'), call('b')]);
  killed.close();
  const next = open({maxCredits: 4});
  expect(next.budget.committed).toBe(2);
  await next.found(answered('a'));
  expect(next.tally.operations.ip).toMatchObject({spent: 1, maybeSpent: 1, calls: 1});
  expect(next.tally).toMatchObject({unconfirmed: 1, byError: {interrupted: 1}});
  expect([next.budget.committed, next.reserve(['c', 'd', 'e'].map(key => call(key)))]).toEqual([2, 2]);
  next.close();
});

test('a new attempt is saved together with its run, so that a kill right after it forgets no doubts', () => {
  const killed = open();
  killed.reserve([call('a')]);
  killed.end();
  killed.close();
  const begun = open();
  begun.restart('', {keepsDoubts: true, run: {runId: 'new'}});
  begun.abandon();
  const next = open();
  expect(next.getMeta('run')).toEqual({runId: 'new'});
  expect(next.givenUp.find('a')).toMatchObject({doubts: 1});
  next.close();
});

test('an outcome that is found after the run ended changes no books: the lost call stays maybe charged', async () => {
  const killed = open({maxCredits: 4});
  killed.reserve([call('a')]);
  killed.close();
  const next = open({maxCredits: 4});
  next.end();
  await expect(next.found(answered('a'))).rejects.toThrow('the ledger is closed');
  expect(next.tally).toMatchObject({operations: {ip: {spent: 0, maybeSpent: 1}}, unconfirmed: 1});
  next.close();
});

test('only answers and rejections that are taken over count as known, not failures', () => {
  const ledger = open();
  const outcomes: readonly Outcome[] = [
    {status: 'ok', data: '{}', boughtAt: 1},
    {status: 'failed', error: 'odd', rejected: true, boughtAt: 1},
    {status: 'failed', error: 'interrupted'},
    {status: 'unknown', error: 'interrupted'},
  ];
  for (const [n, outcome] of outcomes.entries()) ledger.adopt('ip', `key ${n}`, outcome);
  expect(ledger.tally.operations.ip).toMatchObject({
    ...{distinct: 4, fromStore: 2, knownRejections: 1},
    ...{answered: 0, calls: 0, spent: 0},
  });
  expect(isAnswered(ledger.tally, 'ip')).toBe(true);
  ledger.close();
});

test('rejections that are known from before do not show that the service answers', () => {
  const ledger = open();
  for (const key of ['a', 'b'])
    ledger.adopt('ip', key, {status: 'failed', error: 'odd', rejected: true, boughtAt: 1});
  expect(isAnswered(ledger.tally, 'ip')).toBe(false);
  ledger.close();
});

test('calls in flight are perhaps spent in the books of a session that gives up its ledger, too', () => {
  const ledger = open({maxCredits: 10});
  ledger.reserve([call('a'), call('b', 2)]);
  ledger.abandon();
  expect(ledger.isReadable).toBe(false);
  expect(ledger.tally.operations.ip).toMatchObject({calls: 0, spent: 0, maybeSpent: 3});
  expect([ledger.tally.unconfirmed, ledger.budget.committed]).toEqual([2, 3]);
});

test('a session that gives up its ledger gives the unspent rest of its block back to the day', () => {
  const day = (holder: string) =>
    new PeriodBudget({
      ...{directory: within(), owner: 'account', holder, period: 'day', limit: 'a limit'},
      ...{maxCredits: 1_000_000, now: Date.now},
    });
  const ledger = open({shared: [day('given up')]});
  ledger.reserve([call('a', 300)]);
  ledger.abandon();
  const next = day('next');
  expect(next.used).toBe(300);
  next.close();
});

test('calls are reserved in order: none is sent in the place of one that is too expensive', () => {
  const ledger = open({maxCredits: 3});
  expect(ledger.reserve([call('a'), call('b', 5), call('c')])).toBe(1);
  expect([ledger.budget.committed, ledger.tally.operations.ip.distinct]).toEqual([1, 1]);
  expect([...ledger.find(['a', 'b', 'c']).keys()]).toEqual(['a']);
  ledger.close();
});

test('an answer that the run bought is not replaced by one that it takes over', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  await ledger.record(answered('a'));
  ledger.adopt('ip', 'a', {status: 'ok', data: '{"of":"another run"}', boughtAt: 500}, true);
  ledger.setMeta('checkpoint', {});
  expect(ledger.find(['a']).get('a')?.outcome).toEqual(answered('a').outcome);
  ledger.close();
});

test('a value whose first row was forgotten has the row for which it is sent again', async () => {
  const ledger = open();
  ledger.reserve([{...call('a'), firstRow: 9}]);
  await ledger.record({...call('a'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false});
  expect(ledger.firstRow('a')).toBe(9);
  ledger.forgetRowsAfter(5);
  expect(ledger.firstRow('a')).toBeUndefined();
  ledger.reserve([{...call('a'), known: true, firstRow: 7}]);
  expect([ledger.firstRow('a'), ledger.firstRow('never sent')]).toEqual([7, undefined]);
  ledger.close();
});

test('an answer is handed out for the store also after a later attempt to renew it was in doubt', async () => {
  const ledger = open();
  ledger.restart('here');
  ledger.reserve([call('a')]);
  await ledger.record(answered('a'));
  ledger.restart('here');
  ledger.reserve([call('a')]);
  await ledger.record({...call('a'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false});
  ledger.restart('here');
  const {outcome} = answered('a');
  expect([...ledger.answersAfter(0)].flat()).toEqual([{operation: 'ip', key: 'a', outcome}]);
  ledger.restart('there');
  expect([...ledger.givenUp.answersElsewhere()].flatMap(({answers}) => answers)).toEqual([
    {operation: 'ip', key: 'a', outcome},
  ]);
  ledger.close();
});

test('a verdict that may be a repetition’s stays unknown when the run is started over', async () => {
  const ledger = open();
  const outcome = {
    status: 'unknown',
    error: 'verdict_replay_uncertain',
    data: '{}',
    boughtAt: 1_000,
  } as const;
  ledger.reserve([call('a')]);
  await ledger.record({...answered('a'), outcome});
  ledger.restart('');
  expect(ledger.givenUp.find('a')?.outcome).toEqual(outcome);
  ledger.close();
});

test('an answer ends the doubt; an expired answer leaves it, and lost state puts every value in doubt', async () => {
  const ledger = open({lostState: true});
  ledger.reserve([call('b'), call('c')]);
  await ledger.record({...call('b'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false});
  const attempt = {kind: 'unreadable', code: 'bad_response', status: 200, latencyMs: 5} as never;
  const outcome = {status: 'failed', error: 'bad_response'} as const;
  await ledger.record({...call('c'), attempt, charge: 'spent', doubt: true, retry: false, outcome});
  ledger.restart('');
  expect(ledger.givenUp.find('b', since(0))).toMatchObject({
    doubts: 1,
    lastCode: 'timeout',
    outcome: undefined,
  });
  expect(ledger.givenUp.find('nobody', since(0))).toEqual({...asked, outcome: undefined});
  expect(ledger.givenUp.earlier.unknown).toBe(true);
  ledger.close();
  const next = open({lostState: false});
  expect(next.givenUp.find('c', since(0))).toEqual({
    ...asked,
    doubts: 1,
    lastCode: 'bad_response',
    outcome: undefined,
  });
  next.reserve([call('b')]);
  await next.record(answered('b'));
  next.restart('');
  expect(next.givenUp.find('b', since(0))?.outcome).toMatchObject({status: 'ok'});
  next.close();
});

test('how often a value was sent in doubt is counted over attempts, until it is answered or the run is started over', async () => {
  const lost = {...call('a'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false} as const;
  for (const times of [1, 2]) {
    const ledger = open();
    if (times === 1) ledger.restart('here');
    ledger.reserve([call('a'), call('b')]);
    await ledger.record(lost);
    ledger.reserve([call('a')]);
    ledger.close();
    const next = open();
    next.restart('here', {keepsDoubts: true});
    expect(next.givenUp.find('a')).toMatchObject({doubts: 2 * times, lastCode: 'interrupted'});
    expect(next.givenUp.find('b')).toMatchObject({doubts: times});
    // It may not be sent any more: that is no send.
    next.adopt('ip', 'b', {status: 'failed', error: 'interrupted'});
    next.close();
    const third = open();
    third.restart('here', {keepsDoubts: true});
    expect(third.givenUp.find('b')).toMatchObject({doubts: times});
    third.close();
  }
  const answering = open();
  answering.reserve([call('b')]);
  await answering.record(answered('b'));
  answering.restart('there', {keepsDoubts: true});
  answering.restart('here', {keepsDoubts: true});
  expect(['a', 'b'].map(key => answering.givenUp.find(key)?.doubts)).toEqual([4, 0]);
  answering.restart('here');
  expect(['a', 'b'].map(key => answering.givenUp.find(key)?.doubts)).toEqual([1, 0]);
  answering.close();
});

test('a call that was not sent says nothing of the doubt before it, which keeps its own code', async () => {
  const attempt = {kind: 'not_sent', code: 'econnrefused', latencyMs: 5} as never;
  const timedOut = {attempt: ambiguous, charge: 'maybe', doubt: true, retry: false} as const;
  const unsent = {attempt, charge: 'free', doubt: false, retry: true} as const;
  const killed = open();
  killed.reserve([call('cut off'), call('timed out')]);
  await killed.record({...call('timed out'), ...timedOut});
  killed.close();
  const ledger = open();
  for (const key of ['cut off', 'timed out']) {
    ledger.reserve([call(key)]);
    await ledger.record({...call(key), ...unsent});
  }
  const known = ledger.find(['cut off', 'timed out']);
  expect(known.get('cut off')).toMatchObject({doubts: 1, lastCode: 'interrupted', interrupted: undefined});
  expect(known.get('timed out')).toMatchObject({doubts: 1, lastCode: 'timeout', interrupted: undefined});
  for (const keepsDoubts of [true, false]) {
    ledger.restart('', {keepsDoubts});
    expect(ledger.givenUp.find('cut off')).toMatchObject({doubts: 1, lastCode: 'interrupted'});
    expect(ledger.givenUp.find('timed out')).toMatchObject({doubts: 1, lastCode: 'timeout'});
  }
  ledger.close();
});

test('doubt that came after an answer is known too, once that is too old', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  await ledger.record(answered('a'));
  ledger.restart('');
  ledger.reserve([call('a')]);
  const outcome = {status: 'unknown', error: 'timeout'} as const;
  await ledger.record({
    ...call('a'),
    attempt: ambiguous,
    charge: 'maybe',
    doubt: true,
    retry: false,
    outcome,
  });
  ledger.restart('');
  expect(ledger.givenUp.find('a', since(1_001))).toMatchObject({doubts: 1, outcome: undefined});
  expect(ledger.givenUp.find('a', since(0))?.outcome).toMatchObject({status: 'ok'});
  ledger.close();
});

test('hands out the answers that it bought by their numbers, for the store, in groups, each with its own time', async () => {
  const ledger = open();
  const keys = Array.from({length: 1_200}, (_, i) => `k${i}`);
  ledger.reserve(keys.map(key => call(key)));
  for (const [index, key] of keys.entries()) {
    const done = ledger.record(answered(key, 5_000 - index));
    if (index === 599) await done;
  }
  // An answer that the run did not buy has no number.
  ledger.adopt('ip', 'stored', {status: 'ok', data: '{}', boughtAt: 9_000});
  ledger.reserve([call('lost'), call('last')]);
  void ledger.record({...call('lost'), attempt: ambiguous, charge: 'maybe', doubt: true, retry: false});
  void ledger.record(answered('last'));
  const after = (nth: number) => [...ledger.answersAfter(nth)].flat();
  expect(after(0)).toHaveLength(1_201);
  expect(after(600)).toHaveLength(601);
  expect(after(600)[0]).toEqual({
    operation: 'ip',
    key: 'k600',
    outcome: {status: 'ok', data: '{"of":"k600"}', boughtAt: 4_400},
  });
  expect(after(1_200).map(({key}) => key)).toEqual(['last']);
  ledger.close();
  const next = open();
  expect(next.tally.bought).toBe(1_201);
  expect([...next.answersAfter(1_200)].flat()).toHaveLength(1);
  // Answers of earlier attempts come first, until the store has some of the new run.
  next.restart('');
  next.reserve([call('again')]);
  void next.record(answered('again'));
  const carried = [...next.answersAfter(0)].flat();
  expect([next.tally.bought, carried.length, carried.at(-1)?.key]).toEqual([1, 1_202, 'again']);
  expect(carried.find(({key}) => key === 'k600')?.outcome.boughtAt).toBe(4_400);
  next.restart('another scope');
  expect([...next.answersAfter(0)].flat()).toHaveLength(0);
  next.close();
});

test('an answer of before settles a value whose renewal came to nothing, and stays none of the run', async () => {
  const ledger = open();
  ledger.reserve([call('a')]);
  const attempt = {kind: 'rejected', code: 'http_404', status: 404, latencyMs: 5} as never;
  const before = {status: 'ok', data: '{"n":1}', boughtAt: 77} as const;
  const written = ledger.record({...call('a'), attempt, charge: 'maybe', doubt: false, retry: false});
  ledger.keep('ip', 'a', before);
  await written;
  expect(ledger.find(['a']).get('a')?.outcome).toEqual(before);
  expect([...ledger.answersAfter(0)].flat()).toEqual([]);
  ledger.close();
  const next = open();
  expect(next.find(['a']).get('a')?.outcome).toEqual(before);
  next.close();
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

test.each(['lookup', 'carried'])(
  'damage in any value of %s is found before anything is sent',
  async table => {
    const ledger = open();
    const keys = Array.from({length: 600}, (_, n) => `key ${n}`);
    for (let attempt = 0; attempt < 2; attempt++) {
      ledger.restart('here');
      ledger.reserve(keys.map((key, n) => ({...call(key), dispatch: n + 1})));
      await Promise.all(keys.map((key, n) => ledger.record({...answered(key), dispatch: n + 1})));
    }
    ledger.close();
    const damage = (sql: string) => {
      const db = new Sqlite(within('ledger.db'), {synchronous: 'OFF', busyTimeoutMs: 0});
      db.exec(sql);
      db.close();
    };
    open().close();
    // No text in UTF-8.
    damage(`UPDATE ${table} SET data = CAST(x'7bff7d' AS TEXT) WHERE key = 'key 599'`);
    expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged'}));
  },
);

test('a ledger of another version is refused, with advice', async () => {
  const db = new Sqlite(within('other.db'), {
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
  [
    'a count with another digit',
    `UPDATE meta SET value = replace(value, '"spent":1', '"spent":9') WHERE name = 'tally'`,
  ],
  ['books of an attempt that was given up', "UPDATE given_up SET tally = '{'"],
  ['the name of a count', "UPDATE given_up SET tally = replace(tally, 'operations', 'operati0ns')"],
  ['an operation', "UPDATE lookup SET operation = 'none'"],
])('%s that can’t be read is damage, found when the ledger is opened', async (_, change) => {
  for (const scope of ['one', 'another']) {
    const ledger = open();
    ledger.restart(scope);
    ledger.reserve([call('a')]);
    await ledger.record(answered('a'));
    ledger.close();
  }
  const db = new Sqlite(within('ledger.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec(change);
  db.close();
  expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged', exitCode: 10}));
});

test('damage beside all values is found when the ledger is opened', () => {
  open().close();
  const file = openSync(within('ledger.db'), 'r+');
  // The header's number of free pages: https://www.sqlite.org/fileformat.html
  writeSync(file, Buffer.from([0, 0, 0, 5]), 0, 4, 36);
  closeSync(file);
  expect(() => open()).toThrow(expect.objectContaining({code: 'state_damaged'}));
});

/** A session's bills as the next one finds them: of calls to `ip`. */
const untold = (ledger: Ledger) => ledger.bills.untold.map(({about, by}) => [about, by.ip]);

test('each session has its own bill, with the calls in flight at its end', async () => {
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
    ledger.restart(scope, {freshBudget: scope === 'a scope'});
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
    ledger.restart(scope, {freshBudget: true});
    expect([scope, isAnswered(ledger.tally, 'ip'), isAnswered(ledger.tally, 'email')]).toEqual([
      scope,
      true,
      false,
    ]);
    expect(ledger.givenUp.earlier).toMatchObject({
      counted: {spent: 0, calls: 0},
      notCounted: {spent: 2, calls: 2},
    });
  }
  ledger.restart('where nobody was asked');
  expect(isAnswered(ledger.tally, 'ip')).toBe(false);
  ledger.close();
});

test('every taken over outcome is found: before it is written, after it, and by the next session', () => {
  const kinds = (n: number): Outcome[] => [
    {status: 'ok', data: `{"n":${n}}`, boughtAt: n},
    {status: 'failed', error: 'odd', rejected: true, boughtAt: n},
    {status: 'failed', error: 'econnreset'},
    {status: 'unknown', error: 'interrupted', data: '{}', boughtAt: n},
    {status: 'unknown', error: 'interrupted'},
  ];
  const outcomes = Array.from({length: 400}, (_, n) => [`key ${n}`, kinds(n)[n % 5]] as const);
  const ledger = open();
  const find = (from: Ledger) => [...from.find(outcomes.map(([key]) => key))];
  const expected = outcomes.map(([key, outcome]) => [key, expect.objectContaining({outcome})]);
  for (const [key, outcome] of outcomes) ledger.adopt('ip', key, outcome as Outcome);
  ledger.setFirstRow('key 5', 9);
  expect(find(ledger)).toEqual(expected);
  ledger.setMeta('checkpoint', {});
  expect(find(ledger).sort()).toEqual([...expected].sort());
  expect(ledger.find(['another']).size).toBe(0);
  ledger.close();
  const next = open();
  expect(find(next).sort()).toEqual([...expected].sort());
  expect(next.firstRow('key 5')).toBe(9);
  expect(next.find(['another']).size).toBe(0);
  next.close();
});

test.each([9, 10])('reads the doubts of a run that version %i began', version => {
  const db = new Sqlite(within('earlier.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.exec(`
    CREATE TABLE lookup (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, operation TEXT NOT NULL, state INTEGER NOT NULL, cost INTEGER NOT NULL, dispatch INTEGER NOT NULL DEFAULT 0, first_row INTEGER, ambiguous INTEGER NOT NULL DEFAULT 0, error TEXT, data TEXT, bought_at INTEGER, nth INTEGER);
    CREATE TABLE carried (key TEXT NOT NULL, scope TEXT NOT NULL, operation TEXT NOT NULL, state INTEGER NOT NULL, doubts INTEGER NOT NULL, error TEXT, data TEXT, bought_at INTEGER, PRIMARY KEY (key, scope)) WITHOUT ROWID;
    CREATE TABLE given_up (scope TEXT, tally TEXT NOT NULL);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('scope', '"here"');
    INSERT INTO lookup (key, operation, state, cost, dispatch, ambiguous, error) VALUES
      ('sent twice', 'ip', 0, 1, 5, 2, 'http_503'), ('interrupted', 'ip', 0, 1, 6, 1, 'interrupted'),
      ('in flight', 'ip', 1, 1, 7, 1, 'timeout'), ('not sent', 'ip', 0, 1, 8, 0, NULL),
      ('unknown', 'ip', 4, 1, 0, 0, 'interrupted'), ('failed', 'ip', 3, 1, 9, 3, 'http_500'),
      ('given up', 'ip', 4, 1, 8, 0, 'interrupted');
    INSERT INTO carried VALUES
      ('before', 'here', 'ip', 0, 2, 'econnreset', NULL, NULL), ('answered', 'here', 'ip', 2, 0, NULL, '{"a":1}', 9),
      ('renewed', 'here', 'ip', 0, 1, 'timeout', '{"a":2}', 8);
    PRAGMA user_version = ${version};
  `);
  db.close();
  const ledger = open({}, 'earlier.db');
  const found = ledger.find([
    'sent twice',
    'interrupted',
    'in flight',
    'not sent',
    'unknown',
    'failed',
    'given up',
  ]);
  const doubted = (doubts: number, lastCode: string) => ({mayBeCarriedOut: true, doubts, lastCode});
  const none = {interrupted: undefined, outcome: undefined};
  expect(Object.fromEntries(found)).toEqual({
    'sent twice': {...doubted(2, 'http_503'), ...none},
    interrupted: {...doubted(2, 'interrupted'), ...none, interrupted: 6},
    'in flight': {...doubted(2, 'interrupted'), ...none, interrupted: 7},
    'not sent': {...undoubted, ...none},
    unknown: {...undoubted, ...none, outcome: {status: 'unknown', error: 'interrupted'}},
    failed: {...doubted(3, 'http_500'), ...none, outcome: {status: 'failed', error: 'http_500'}},
    'given up': {
      ...doubted(1, 'interrupted'),
      interrupted: 8,
      outcome: {status: 'unknown', error: 'interrupted'},
    },
  });
  const before = (key: string) => ledger.givenUp.find(key);
  expect(before('before')).toEqual({...doubted(2, 'econnreset'), ...none});
  expect(before('answered')).toMatchObject({doubts: 0, outcome: {data: '{"a":1}', boughtAt: 9}});
  expect(before('renewed')).toMatchObject({
    ...doubted(1, 'timeout'),
    outcome: {data: '{"a":2}', boughtAt: 8},
  });
  ledger.restart('here');
  expect(before('interrupted')).toMatchObject({...doubted(1, 'interrupted'), outcome: undefined});
  ledger.close();
});

test.each([
  ['unknown', {status: 'unknown', error: 'interrupted'}],
  ['answered from the store', {status: 'ok', data: '{}', boughtAt: 5}],
] as const)(
  'a call whose end is found later is booked, though its value is %s meanwhile',
  async (_, outcome) => {
    const path = 'late.db';
    open({}, path).reserve([call('a')]);
    const killed = `${within('killed')}.db`;
    cpSync(within(path), killed);
    cpSync(`${within(path)}-wal`, `${killed}-wal`);
    const ledger = new Ledger(killed, {});
    ledger.adopt('ip', 'a', outcome, true);
    expect(ledger.find(['a']).get('a')).toMatchObject({interrupted: undefined, outcome});
    ledger.close();
    const later = new Ledger(killed, {});
    expect(later.find(['a']).get('a')).toMatchObject({interrupted: 7, doubts: 1, outcome});
    await later.found(answered('a'));
    expect(later.tally.operations.ip).toMatchObject({spent: 1, maybeSpent: 0});
    expect(later.find(['a']).get('a')).toMatchObject({outcome: answered('a').outcome});
    later.close();
    const last = new Ledger(killed, {});
    expect(last.find(['a']).get('a')).toMatchObject({...undoubted, outcome: answered('a').outcome});
    last.close();
  },
);
