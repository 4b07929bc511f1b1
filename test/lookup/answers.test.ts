import {expect, test, vi} from 'vitest';
import {type LedgerEntry, newEntry} from '../../src/ledger/entry.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import {intelligenceLookup, lookupOf, type Outcome, type Result} from '../../src/ledger/lookup.ts';
import {noAttempts} from '../../src/ledger/value-history.ts';
import {Answers} from '../../src/lookup/answers.ts';
import type {Executor, Task} from '../../src/lookup/executor.ts';
import type {Rejections} from '../../src/store/rejections.ts';
import {type AnswerStore, noStore} from '../../src/store/store.ts';
import type {Judge, KnownAnswer} from '../../src/store/validity.ts';
import {whole} from '../support/whole.ts';

interface Parts {
  readonly ledger?: Partial<Ledger>;
  readonly store?: Partial<AnswerStore>;
  readonly rejections?: Partial<Rejections>;
  readonly judge?: Judge;
  /** True in an outage. */
}

/** Answers of which ledger and store know nothing but what they are given. `tasks` gets the values that need a call. */
function answersWith(tasks: Task[], {ledger, store, rejections, judge = () => 'fresh'}: Parts): Answers {
  return new Answers({
    ledger: whole<Ledger>({
      find: () => new Map(),
      newEntry: lookup => newEntry(lookup),
      isOfSession: () => false,
      use: () => {},
      ...ledger,
    }),
    store: {...noStore, version: () => 0, find: () => new Map(), ...store},
    rejections: whole<Rejections>({told: (_, outcome) => outcome, ...rejections}),
    executor: whole<Executor>({
      submit: async task => {
        tasks.push(task);
      },
    }),
    costOf: () => 1,
    judge,
  });
}

/** What the ledger has of a value of `ip`, whichever it is. */
function entryWith(outcome: Outcome | undefined, history = noAttempts): LedgerEntry {
  return {...newEntry({operation: 'ip', key: 'any'}, history), outcome};
}

test('rows of a value that came twice lately share its outcome, and neither ledger nor store is read for them', async () => {
  const entry = (data: string): LedgerEntry => entryWith({status: 'ok', data, boughtAt: 0});
  const find = vi.fn((keys: readonly string[]) => new Map(keys.map(key => [key, entry(`{"of":"${key}"}`)])));
  const version = vi.fn(() => 0);
  const answers = answersWith([], {ledger: {find, adopt: () => undefined}, store: {version}});
  const ask = async (...values: string[]) => {
    const told: Result[] = [];
    const lookups = values.map(value => intelligenceLookup('ip', value));
    await answers.ask(lookups.map((lookup, row) => ({lookup, row, tell: outcome => told.push(outcome)})));
    return told;
  };
  const [first, again, other] = await ask('192.0.2.1', '192.0.2.1', '192.0.2.2');
  expect(again).toBe(first);
  expect(find).toHaveBeenCalledTimes(1);
  expect(find.mock.lastCall?.[0]).toHaveLength(2);

  // An outcome that comes once is not kept.
  const [kept, keptToo] = await ask('192.0.2.1', '192.0.2.2');
  expect(kept).not.toBe(first);
  expect(keptToo).not.toBe(other);
  expect(find).toHaveBeenCalledTimes(2);

  const later = await ask('192.0.2.2', '192.0.2.1');
  expect(later[0]).toBe(keptToo);
  expect(later[1]).toBe(kept);
  expect(find).toHaveBeenCalledTimes(2);
  expect(version).toHaveBeenCalledTimes(2);
});

test('an answer of the ledger that is still fresh is used, though the store has a later refusal past its age', async () => {
  const {told, tasks} = await asked({
    now: entryWith(answer(1)),
    stored: {outcome: refusal('not_found'), validity: 'past'},
  });
  expect([told, tasks]).toEqual([[answer(1)], []]);
});

test('a store that could not be read when a value waited is asked again before its call', async () => {
  const bought = {status: 'ok', data: '{"of":"another run"}', boughtAt: 5} as const;
  const adopt = vi.fn();
  const tasks: Task[] = [];
  let version = 0;
  let isReadable = true;
  const answers = answersWith(tasks, {
    ledger: {adopt},
    store: {
      version: () => version,
      find: keys => {
        if (version === 0) return new Map();
        return isReadable ? new Map(keys.map(key => [key, {outcome: bought, validity: 'fresh'}])) : undefined;
      },
    },
  });
  const told: Result[] = [];
  const lookup = intelligenceLookup('ip', '192.0.2.1');
  await answers.ask([{lookup, row: 1, tell: outcome => told.push(outcome)}]);
  const [task] = tasks;
  version = 1;
  isReadable = false;
  expect(task?.isAnsweredMeanwhile()).toBe(false);
  isReadable = true;
  expect(task?.isAnsweredMeanwhile()).toBe(true);
  expect([told, adopt.mock.calls.length]).toEqual([[bought], 1]);
});

const {key} = intelligenceLookup('ip', '192.0.2.1');
const answer = (boughtAt: number) => ({status: 'ok', data: `{"of":${boughtAt}}`, boughtAt}) as const;
const refusal = (error: string, boughtAt = 5) =>
  ({status: 'failed', error, rejected: true, boughtAt}) as const;
const unanswered = (doubts: number, lastCode = 'timeout') =>
  entryWith(undefined, {doubts, lastCode, mayBeCarriedOut: doubts > 0});

/** Facts about a value before its lookup: from the store and from the ledger. */
interface KnownBefore {
  readonly stored?: KnownAnswer;
  readonly now?: LedgerEntry;
  /** The answer that another run has stored by the time the value waits for its call. */
  readonly meanwhile?: KnownAnswer;
  readonly judge?: Judge;
}

/** Asks for one value: its task if it needs a call, what its row is told, and what ledger and store are told. */
async function asked({stored, now, meanwhile, judge = () => 'fresh'}: KnownBefore) {
  const told: Result[] = [];
  const tasks: Task[] = [];
  const adopt = vi.fn();
  const put = vi.fn();
  const rejections = {add: vi.fn(), keep: vi.fn()};
  const answers = answersWith(tasks, {
    ledger: {
      find: () => new Map(now && [[key, now]]),
      adopt,
    },
    store: {
      version: () => tasks.length,
      find() {
        const found = tasks.length === 0 ? stored : meanwhile;
        return new Map(found && [[key, found]]);
      },
      put,
    },
    rejections,
    judge,
  });
  const lookup = intelligenceLookup('ip', '192.0.2.1');
  await answers.ask([{lookup, row: 1, tell: outcome => told.push(outcome)}]);
  return {answers, task: tasks[0] as Task, tasks, told, adopt, put, rejections};
}

test('a value that was sent before has its doubts in its task', async () => {
  const {task} = await asked({now: unanswered(2, 'http_502')});
  expect(task.entry.history).toEqual({doubts: 2, lastCode: 'http_502', mayBeCarriedOut: true});
});

test.each([
  ['of the run', 9, 9],
  ['of the store', 1, 5],
])(
  'of two answers past their age, the one that was bought later serves without a call: the one %s',
  async (_, ownAt, servesAt) => {
    const {task} = await asked({
      stored: {outcome: answer(5), validity: 'stale'},
      now: entryWith(answer(ownAt)),
      judge: () => 'stale',
    });
    expect(task.before).toEqual({outcome: answer(servesAt), validity: 'stale'});
  },
);

test('a value whose call is unknown is not sent again', async () => {
  const unknown = {status: 'unknown', error: 'timeout'} as const;
  const {told, tasks, adopt} = await asked({
    stored: {outcome: answer(5), validity: 'stale'},
    now: entryWith(unknown),
  });
  expect([told, tasks, adopt.mock.calls]).toEqual([[unknown], [], []]);
});

test.each([
  ['stale', [{...answer(5), stale: 'budget'}]],
  ['past', [{status: 'skipped', error: 'budget'}]],
  [undefined, [{status: 'skipped', error: 'budget'}]],
] as const)(
  'where no call may be made, a row has the earlier answer that is still usable: %s',
  async (validity, expected) => {
    const {task, told, adopt} = await asked(validity ? {stored: {outcome: answer(5), validity}} : {});
    task.ended({unasked: 'budget'});
    expect(told).toEqual(expected);
    expect(adopt).not.toHaveBeenCalled();
  },
);

test('an answer is stored for other runs, and shows that the rejections before it are of their values', async () => {
  const {task, told, put, rejections} = await asked({});
  task.ended({outcome: answer(9)});
  expect([told, put.mock.calls]).toEqual([[answer(9)], [[{operation: 'ip', key, outcome: answer(9)}]]]);
  expect(rejections.keep.mock.calls).toEqual([['ip']]);
});

test.each([
  ['the same code as before', refusal('not_found', 1), true],
  ['another code than before', refusal('blocked', 1), false],
  ['an answer before', answer(1), false],
  ['nothing before', undefined, false],
])(
  'a rejection is only taken for the value’s own at once if it is the one known of it: %s',
  async (_, outcome, isKnown) => {
    const {task, put, rejections} = await asked(outcome ? {stored: {outcome, validity: 'stale'}} : {});
    const rejected = refusal('not_found', 9);
    task.ended({outcome: rejected});
    expect(rejections.add.mock.calls).toEqual([[{operation: 'ip', key, outcome: rejected}, isKnown]]);
    expect(put).not.toHaveBeenCalled();
  },
);

test.each([
  ['a failure', {status: 'failed', error: 'timeout'}],
  ['an outcome that is unknown', {status: 'unknown', error: 'timeout'}],
] as const)('%s is of this run only', async (_, outcome) => {
  const {task, told, put, rejections} = await asked({});
  task.ended({outcome});
  expect(told).toEqual([outcome]);
  for (const noted of [put, rejections.add, rejections.keep]) expect(noted).not.toHaveBeenCalled();
});

test.each([
  ['fresh', true],
  ['stale', false],
  ['past', false],
] as const)(
  'what another run stored meanwhile takes the place of the call only if it is fresh: %s',
  async (validity, isAnswered) => {
    const {task, told, adopt} = await asked({meanwhile: {outcome: answer(9), validity}, now: unanswered(1)});
    expect(task.isAnsweredMeanwhile()).toBe(isAnswered);
    expect(told).toEqual(isAnswered ? [answer(9)] : []);
    expect(adopt.mock.calls).toEqual(isAnswered ? [[task.entry, answer(9)]] : []);
  },
);

test.each([
  ['an answer', answer(5)],
  ['a rejection', refusal('not_found')],
  ['a failure', {status: 'failed', error: 'timeout'}],
  ['one that is unknown', {status: 'unknown', error: 'timeout'}],
] as const)('an outcome of this run is final, and paid for once: %s', async (_, outcome) => {
  const {tasks, told, adopt} = await asked({now: entryWith(outcome)});
  expect([told, tasks]).toEqual([[outcome], []]);
  expect(adopt).not.toHaveBeenCalled();
});

test('a token’s next call does not wait for one that is not made', async () => {
  const {answers, tasks} = await asked({});
  const lookups = ['a@example.com', 'b@example.com', 'c@example.com'].map(email =>
    lookupOf('verify', {action_id: 'signup', token: 's-1', email}),
  );
  await answers.ask(lookups.map((lookup, row) => ({lookup, row, tell() {}})));
  for (const made of [1, 2, 3]) {
    expect(tasks.slice(1).map(({lookup}) => lookup)).toEqual(lookups.slice(0, made));
    tasks[made]?.ended({unasked: 'budget'});
  }
});

test.each([
  ['this session got', undefined],
  ['an earlier session got', entryWith(refusal('blocked'))],
])('rows are told that a rejection may not be of its value: one that %s', async (_, now) => {
  const tasks: Task[] = [];
  const unjudged = {...refusal('blocked'), unjudged: key};
  const answers = answersWith(tasks, {
    ledger: {find: () => new Map(now && [[key, now]])},
    rejections: {add() {}, told: (() => unjudged) as unknown as Rejections['told']},
  });
  const told: Result[] = [];
  const lookup = intelligenceLookup('ip', '192.0.2.1');
  await answers.ask([{lookup, row: 1, tell: outcome => told.push(outcome)}]);
  tasks[0]?.ended({outcome: refusal('blocked')});
  expect(told).toEqual([unjudged]);
});

const token = lookupOf('verify', {action_id: 'signup', token: 's-1'});
const valid = {status: 'ok', data: '{"verdict":{"redeemed":false}}', boughtAt: 1} as const;

/** The rows, in the order in which they are told, with the token's state that each shows. */
function redeemed(told: [row: number, result: Result][]) {
  return told.map(([row, result]) => [row, 'data' in result && result.data?.includes('true')]);
}

test('of the rows that have a redeemed token, the first of the session shows it as valid', async () => {
  const entry = entryWith(valid);
  const answers = answersWith([], {
    ledger: {
      find: keys => new Map(keys.map(found => [found, entry])),
      use(used) {
        used.isUsed = true;
      },
    },
  });
  const told: [row: number, result: Result][] = [];
  for (const rows of [[3, 4], [5], [6]])
    await answers.ask(rows.map(row => ({lookup: token, row, tell: result => told.push([row, result])})));
  expect(redeemed(told)).toEqual([
    [3, false],
    [4, true],
    [5, true],
    [6, true],
  ]);
});

test('two that ask for one value while the store is locked wait for the same call, and both are answered', async () => {
  const tasks: Task[] = [];
  let unlock = () => {};
  const unlocked = new Promise<void>(resolve => {
    unlock = resolve;
  });
  const answers = answersWith(tasks, {store: {ready: () => unlocked}});
  const lookup = intelligenceLookup('ip', '192.0.2.1');
  const asking = [1, 2].map(row => answers.ask([{lookup, row, tell: () => {}}]));
  unlock();
  await Promise.all(asking);
  expect(tasks).toHaveLength(1);
});
