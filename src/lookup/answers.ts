import type {LedgerEntry} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import {
  type Answer,
  isKept,
  type Lookup,
  type Outcome,
  type Result,
  type UnaskedCode,
} from '../ledger/lookup.ts';
import {isStored, type Operation, operations} from '../operations/table.ts';
import type {Rejections} from '../store/rejections.ts';
import type {AnswerStore} from '../store/store.ts';
import {bestOf, type Judge, type KnownAnswer} from '../store/validity.ts';
import type {Ended, Executor, Task} from './executor.ts';
import {Pending, type Waiter} from './pending.ts';
import {Recent} from './recent.ts';
import {InTurn} from './repeated/in-turn.ts';
import {withoutAsking} from './task-state.ts';

export interface AnswersOptions {
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  readonly rejections: Rejections;
  readonly executor: Executor;
  /** Cost of one call, in thousandths of a credit. */
  readonly costOf: (lookup: Lookup) => number;
  /** Returns an earlier answer's validity. The store must use the same judge. */
  readonly judge: Judge;
}

/** By key: the lookups that one `ask` begins. Lookups that are under way already are not among them. */
type Fresh = Map<string, Pending>;

const RECENT_BYTES = 4_194_304;

/** Answers lookups from a recent outcome, a call in flight, the ledger or the store. Other lookups become tasks. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #pending = new Map<string, Pending>();
  /** Recent outcomes, so that the ledger is not read again for each row with the same value. */
  readonly #recent = new Recent<Outcome>(RECENT_BYTES, (_, outcome) =>
    'data' in outcome ? (outcome.data?.length ?? 0) : 0,
  );
  readonly #inTurn: InTurn;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#inTurn = new InTurn(options.executor);
  }

  /** Answers known lookups immediately, and submits the others as tasks. Resolves when it may be called again. */
  async ask(all: readonly Waiter[]): Promise<void> {
    const waiters = all.filter(waiter => !this.#tellRecent(waiter));
    if (waiters.length === 0) return;
    // This is the last wait before the values are marked as pending. During a wait, another `ask` could buy
    // the same value.
    const ready = this.#options.store.ready();
    if (ready !== undefined) await ready;
    const fresh: Fresh = new Map();
    for (const waiter of waiters) {
      const {key} = waiter.lookup;
      const pending = this.#pending.get(key) ?? fresh.get(key);
      if (pending === undefined) fresh.set(key, new Pending(waiter));
      else pending.add(waiter);
    }
    const {ledger, store} = this.#options;
    const known = ledger.find([...fresh.keys()]);
    for (const [key, pending] of fresh) {
      pending.entry = known.get(key) ?? ledger.newEntry(pending.lookup);
      if (this.#holds(pending.entry)) this.#deliver(fresh, key, pending.entry.outcome);
    }
    const version = store.version();
    this.#takeOver(fresh);
    const tasks = this.#open(fresh, version);
    for (const task of tasks) await this.#inTurn.submit(task);
  }

  #ended(task: Task, end: Ended): void {
    if ('outcome' in end) this.#settled(task, end.outcome);
    else this.#unasked(task, end.unasked);
    this.#inTurn.ended(task.lookup);
  }

  /** True if the value needs no call: it failed, or its answer is of this session or still fresh. */
  #holds(entry: LedgerEntry): entry is LedgerEntry & {readonly outcome: Outcome} {
    const {outcome} = entry;
    const {ledger, judge} = this.#options;
    if (outcome === undefined) return false;
    return !isKept(outcome) || ledger.isOfSession(entry) || judge(entry, outcome) === 'fresh';
  }

  #settled({lookup: {operation, key}, before}: Task, outcome: Outcome): void {
    const {store, rejections} = this.#options;
    const known = before?.outcome;
    if (isKept(outcome) && isStored(operation)) {
      const answer = {operation, key, outcome};
      if (outcome.status !== 'ok')
        rejections.add(answer, known?.status === 'failed' && outcome.error === known.error);
      else {
        store.put(answer);
        rejections.keep(operation);
      }
    }
    this.#tell(key, rejections.told({operation, key}, outcome));
  }

  /** Ends a task without a call. Its rows get an earlier answer, or `skipped` if none is usable. */
  #unasked({lookup, before}: Task, reason: UnaskedCode): void {
    this.#tell(lookup.key, withoutAsking(before, reason));
  }

  /** True if another run has bought the task's answer since the task was queued. Then gives it to the waiters. */
  #isAnsweredMeanwhile({lookup: {operation, key}, entry}: Task, pending: Pending): boolean {
    const {store, ledger} = this.#options;
    const version = store.version();
    if (pending.version === version || !isStored(operation)) return false;
    const stored = store.find([key], operation);
    if (stored === undefined) return false;
    pending.version = version;
    const {outcome, validity} = stored.get(key) ?? {};
    if (outcome === undefined || validity !== 'fresh') return false;
    ledger.adopt(entry, outcome);
    this.#tell(key, outcome);
    return true;
  }

  /** Answers lookups from the store. For each other lookup, notes its latest earlier answer. */
  #takeOver(fresh: Fresh): void {
    const byOperation = new Map<Operation, Pending[]>();
    for (const pending of fresh.values()) {
      const {operation} = pending.lookup;
      const others = byOperation.get(operation);
      if (others === undefined) byOperation.set(operation, [pending]);
      else others.push(pending);
    }
    const {store, ledger, judge} = this.#options;
    for (const [operation, some] of byOperation) {
      const keys = some.map(({lookup}) => lookup.key);
      const stored = isStored(operation) ? store.find(keys, operation) : new Map<string, KnownAnswer>();
      for (const {lookup, entry} of some) {
        const {key} = lookup;
        const found = stored?.get(key);
        const own = entry.outcome !== undefined && isKept(entry.outcome) ? entry.outcome : undefined;
        const known = own === undefined ? found : bestOf(lookup, latestFirst(own, found?.outcome), judge);
        if (known?.validity === 'fresh') {
          ledger.adopt(entry, known.outcome);
          this.#deliver(fresh, key, known.outcome);
          continue;
        }
        if (stored === undefined) ledger.tally.operations[operation].notLookedUp += 1;
        const pending = fresh.get(key);
        if (pending !== undefined) pending.before = known;
      }
    }
  }

  /** Marks all lookups that still need a call as pending, before the first is submitted. Returns their tasks. */
  #open(fresh: Fresh, version: number): Task[] {
    const tasks: Task[] = [];
    for (const [key, pending] of fresh) {
      const {lookup} = pending;
      const cost = this.#options.costOf(lookup);
      pending.version = version;
      pending.firstRow = shownBefore(lookup, pending.entry);
      this.#pending.set(key, pending);
      const {again} = operations[lookup.operation];
      const task: Task = {
        lookup,
        cost,
        entry: pending.entry,
        before: pending.before,
        chooseFirstRow: () => again && pending.chooseFirstRow(),
        rows: () => pending.rows,
        ended: end => this.#ended(task, end),
        isAnsweredMeanwhile: () => this.#isAnsweredMeanwhile(task, pending),
      };
      tasks.push(task);
    }
    return tasks;
  }

  #tell(key: string, result: Result): void {
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    pending?.tell(result);
  }

  /** Gives an outcome from the ledger to all cells that wait for its lookup. */
  #deliver(fresh: Fresh, key: string, outcome: Outcome): void {
    const pending = fresh.get(key);
    if (pending === undefined) return;
    fresh.delete(key);
    pending.firstRow = shownBefore(pending.lookup, pending.entry);
    if (operations[pending.lookup.operation].again) pending.chooseFirstRow();
    this.#options.ledger.use(pending.entry);
    this.#recent.set(key, pending.tell(this.#options.rejections.told(pending.lookup, outcome)));
  }

  #tellRecent(waiter: Waiter): boolean {
    const outcome = this.#recent.get(waiter.lookup.key);
    if (outcome !== undefined) waiter.tell(outcome);
    return outcome !== undefined;
  }
}

function latestFirst(...answers: readonly (Answer | undefined)[]): Answer[] {
  return answers.filter(answer => answer !== undefined).sort((a, b) => b.boughtAt - a.boughtAt);
}

/** No row's number if an earlier row of this session showed the answer unchanged; else undefined. */
function shownBefore({operation}: Lookup, {isUsed}: LedgerEntry): number | undefined {
  return operations[operation].again && isUsed ? 0 : undefined;
}
