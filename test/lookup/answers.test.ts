import {expect, test, vi} from 'vitest';
import type {LedgerEntry} from '../../src/ledger/entry.ts';
import type {GivenUp} from '../../src/ledger/given-up.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import {intelligenceLookup, type Result} from '../../src/ledger/lookup.ts';
import {Answers} from '../../src/lookup/answers.ts';
import type {Executor, Task} from '../../src/lookup/executor.ts';
import type {Rejections} from '../../src/store/rejections.ts';
import {noStore} from '../../src/store/store.ts';
import {whole} from '../support/whole.ts';

test('rows of a value that came twice lately share its outcome, and neither ledger nor store is read for them', async () => {
  const entry = (data: string): LedgerEntry => ({
    outcome: {status: 'ok', data, boughtAt: 0},
    mayBeCarriedOut: false,
    doubts: 0,
    lastCode: '',
    interrupted: undefined,
  });
  const find = vi.fn((keys: readonly string[]) => new Map(keys.map(key => [key, entry(`{"of":"${key}"}`)])));
  const version = vi.fn(() => 0);
  const none = () => undefined;
  const answers = new Answers({
    ledger: whole<Ledger>({
      find,
      firstRow: none,
      adopt: none,
      keep: none,
      givenUp: whole<GivenUp>({find: none}),
    }),
    store: {...noStore, version},
    rejections: whole<Rejections>({told: (_, outcome) => outcome}),
    executor: whole<Executor>({isDown: false}),
    costOf: () => 0,
    judge: () => 'fresh',
  });
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

test('an answer of an earlier attempt that still serves is used, though the store has a later refusal past its age', async () => {
  const carried: LedgerEntry = {
    outcome: {status: 'ok', data: '{"of":"carried"}', boughtAt: 1},
    mayBeCarriedOut: true,
    doubts: 0,
    lastCode: '',
    interrupted: undefined,
  };
  const refusal = {status: 'failed', error: 'not_found', rejected: true, boughtAt: 5} as const;
  const adopt = vi.fn();
  const submit = vi.fn();
  const answers = new Answers({
    ledger: whole<Ledger>({
      find: () => new Map(),
      firstRow: () => undefined,
      adopt,
      keep: () => undefined,
      givenUp: whole<GivenUp>({find: () => carried}),
    }),
    store: {
      ...noStore,
      version: () => 0,
      find: keys => new Map(keys.map(key => [key, {outcome: refusal, validity: 'past'}])),
    },
    rejections: whole<Rejections>({told: (_, outcome) => outcome}),
    executor: whole<Executor>({isDown: false, submit}),
    costOf: () => 1,
    judge: (_, {status}) => (status === 'ok' ? 'fresh' : undefined),
  });
  const told: Result[] = [];
  const lookup = intelligenceLookup('ip', '192.0.2.1');
  await answers.ask([{lookup, row: 1, tell: outcome => told.push(outcome)}]);
  expect(told).toEqual([carried.outcome]);
  expect(adopt).toHaveBeenCalledTimes(1);
  expect(submit).not.toHaveBeenCalled();
});

test('a store that could not be read when a value waited is asked again before its call', async () => {
  const bought = {status: 'ok', data: '{"of":"another run"}', boughtAt: 5} as const;
  const adopt = vi.fn();
  const tasks: Task[] = [];
  let version = 0;
  let isReadable = true;
  const answers = new Answers({
    ledger: whole<Ledger>({
      find: () => new Map(),
      firstRow: () => undefined,
      adopt,
      keep: () => undefined,
      givenUp: whole<GivenUp>({find: () => undefined}),
    }),
    store: {
      ...noStore,
      version: () => version,
      find: keys => {
        if (version === 0) return new Map();
        return isReadable ? new Map(keys.map(key => [key, {outcome: bought, validity: 'fresh'}])) : undefined;
      },
    },
    rejections: whole<Rejections>({told: (_, outcome) => outcome}),
    executor: whole<Executor>({
      isDown: false,
      submit: async task => {
        tasks.push(task);
      },
    }),
    costOf: () => 1,
    judge: () => 'fresh',
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
