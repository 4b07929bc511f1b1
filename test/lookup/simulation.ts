import {vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import type {Budget} from '../../src/ledger/budget.ts';
import {newEntry} from '../../src/ledger/entry.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import type {Result} from '../../src/ledger/lookup.ts';
import {emptyTally} from '../../src/ledger/tally.ts';
import {noAttempts, type ValueHistory} from '../../src/ledger/value-history.ts';
import type {ExecutorStop, Task} from '../../src/lookup/executor.ts';
import {localOutlet} from '../../src/lookup/local-outlet.ts';
import type {Streak} from '../../src/lookup/pace/canary.ts';
import type {PolicySettings} from '../../src/lookup/policy.ts';
import {QueueExecutor} from '../../src/lookup/queue-executor.ts';
import type {QueueExecutorOptions} from '../../src/lookup/queue-options.ts';
import {type Operation, operations as specs} from '../../src/operations/table.ts';
import {whole} from '../support/whole.ts';

/** One call as the simulated service sees it. */
export interface SimulatedCall {
  readonly key: string;
  readonly operation: Operation;
  /** The n-th call for its value. */
  readonly attempt: number;
  /** The n-th call of all. */
  readonly call: number;
  readonly atMs: number;
}

export interface SimulationOptions
  extends Partial<Omit<QueueExecutorOptions, 'outlet' | 'ledger' | 'policy'>> {
  readonly values: readonly string[];
  /** The values' operations, in turns; `ip` by default. */
  readonly operations?: readonly Operation[];
  readonly concurrency?: number;
  readonly latencyMs?: number;
  readonly resends?: number;
  readonly throttledCost?: PolicySettings['cost']['throttled'];
  /** All values' attempts in earlier sessions of the run. */
  readonly before?: ValueHistory;
  readonly answer: (call: SimulatedCall) => Attempt;
  /** Told of a streak of refusals. */
  readonly refused?: (streak: Streak) => void;
  /** How many calls the credits last for. */
  readonly credits?: number;
}

export interface Simulated {
  readonly calls: readonly SimulatedCall[];
  readonly settled: ReadonlyMap<string, Result>;
  readonly settledAt: ReadonlyMap<string, number>;
  readonly stop: ExecutorStop | undefined;
  readonly executor: QueueExecutor;
  peakInFlight(): number;
  /** Milliseconds from the start to the last outcome, or to the stop. */
  readonly tookMs: number;
}

const pace = {limits: {}};
const heard = {latencyMs: 1, pace};

const ok = {kind: 'answered', ...heard, status: 200, data: {}, unknownFields: [], wrongTypes: []} as const;

/** Outcomes of calls. */
export const simulated = {
  ok,
  status: (status: number) => ({kind: 'ambiguous', code: `http_${status}`, latencyMs: 1, status, pace}),
  reset: {kind: 'ambiguous', code: 'econnreset', latencyMs: 1},
  refused: {kind: 'not_sent', code: 'econnrefused', latencyMs: 1},
  rejected: (status: number, code: string) => ({kind: 'rejected', ...heard, status, code}),
  html: {kind: 'unreadable', ...heard, status: 200, code: 'bad_response', detail: 'not JSON'},
  throttled: (retryAfter?: string) => ({
    kind: 'throttled',
    ...heard,
    status: 429,
    code: 'http_429',
    pace: {limits: {}, retryAfter},
  }),
  quota: (remaining: number, seconds: number) => ({
    ...ok,
    pace: {limits: {'ratelimit-remaining': `${remaining}`, 'ratelimit-reset': `${seconds}`}},
  }),
} as const satisfies Record<string, Attempt | ((...given: never[]) => Attempt)>;

/** Runs the executor against a simulated service in virtual time, for at most `forMs` of it. */
export async function simulate(options: SimulationOptions, forMs = 4 * 3_600_000): Promise<Simulated> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date', 'performance'],
  });
  try {
    const run = start(options);
    const end = Date.now() + forMs;
    while (!run.finished() && Date.now() < end) await vi.advanceTimersToNextTimerAsync();
    return run.result();
  } finally {
    vi.useRealTimers();
  }
}

function start(options: SimulationOptions) {
  const {values, operations = ['ip'], latencyMs = 20, concurrency = 16} = options;
  const started = Date.now();
  const calls: SimulatedCall[] = [];
  const attempts = new Map<string, number>();
  const settled = new Map<string, Result>();
  const settledAt = new Map<string, number>();
  let stop: ExecutorStop | undefined;
  let inFlight = 0;
  let peak = 0;
  let ended = started;
  let credits = options.credits ?? Number.POSITIVE_INFINITY;
  const random = seeded();
  const executor = new QueueExecutor({
    lanes: [{name: 'all', operations, rate: {count: 200, perMs: 1_000}, concurrency}],
    maxOutageMs: 15 * 60_000,
    publishOn: [],
    isAnswered: () => false,
    now: Date.now,
    random,
    ...options,
    outlet: localOutlet(
      {
        async send(name, params) {
          const key = params[specs[name].field] ?? '';
          const attempt = (attempts.get(key) ?? 0) + 1;
          attempts.set(key, attempt);
          const call = {key, operation: name, attempt, call: calls.length + 1, atMs: Date.now() - started};
          calls.push(call);
          const answer = options.answer(call);
          peak = Math.max(peak, ++inFlight);
          await new Promise(resolve => setTimeout(resolve, latencyMs));
          inFlight -= 1;
          return answer;
        },
      },
      Date.now,
      Date.now,
    ),
    ledger: whole<Ledger>({
      tally: emptyTally(),
      reserve(batch) {
        const granted = Math.min(batch.length, credits);
        credits -= granted;
        return granted;
      },
      record: async () => {},
      adopt() {},
      budget: whole<Budget>({affords: cost => cost <= credits}),
    }),
    policy: {
      resends: options.resends ?? 2,
      cost: {throttled: options.throttledCost ?? 'free', rejected: 'maybe'},
    },
    events: {
      closed() {},
      refused: (_, streak) => options.refused?.(streak),
      stopped(reason) {
        stop = reason;
        ended = Date.now();
      },
    },
  });
  const isEnded = (key: string, outcome: Result) => {
    settled.set(key, outcome);
    settledAt.set(key, Date.now() - started);
    ended = Date.now();
  };
  void submitAll(executor, options, isEnded);
  return {
    finished: () => stop !== undefined || settled.size === values.length,
    result: (): Simulated => ({
      calls,
      settled,
      settledAt,
      stop,
      executor,
      peakInFlight: () => peak,
      tookMs: ended - started,
    }),
  };
}

/** A task's part that speaks of the cells that wait for it: any row's. */
export const unwaited = {
  chooseFirstRow: () => {},
  rows: () => [],
  isAnsweredMeanwhile: () => false,
};

async function submitAll(
  executor: QueueExecutor,
  {values, operations = ['ip'], before = noAttempts}: SimulationOptions,
  isEnded: (key: string, outcome: Result) => void,
) {
  for (const [index, key] of values.entries()) {
    const operation = operations[index % operations.length] ?? 'ip';
    const params = {[specs[operation].field]: key};
    const lookup = {operation, key, params};
    const task: Task = {
      ...unwaited,
      ...{lookup, cost: 1, entry: newEntry(lookup, before)},
      ended(end) {
        isEnded(key, 'outcome' in end ? end.outcome : {status: 'skipped', error: end.unasked});
      },
    };
    await executor.submit(task);
  }
}

function seeded(): () => number {
  let state = 7;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** `v1` to `vN`. */
export function valuesUpTo(count: number): string[] {
  return Array.from({length: count}, (_, index) => `v${index + 1}`);
}
