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
import {addedUp} from '../ledger/value-history.ts';
import {isStored, type Operation, operations} from '../operations/table.ts';
import type {Rejections} from '../store/rejections.ts';
import type {AnswerStore} from '../store/store.ts';
import type {Judge, KnownAnswer, Validity} from '../store/validity.ts';
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

/**
 * Compares an answer of the store (`found`) with one from before the run's restart (`carried`, of this
 * `validity`). Returns the valid one; if both are valid, the one bought later.
 */
function newer(
  found: KnownAnswer | undefined,
  carried: Answer,
  validity: Validity | undefined,
): KnownAnswer | undefined {
  if (validity === undefined) return found;
  if (found && found.validity !== 'past' && found.outcome.boughtAt >= carried.boughtAt) return found;
  return {outcome: carried, validity};
}

/**
 * Returns the outcome of a value that must not be sent again, since its last verdict was `unknown`: the
 * session token is redeemed, perhaps by an earlier call. This is a known answer that is still valid (`due`),
 * else that verdict. Undefined for other values.
 */
function unknownOf(last: Outcome | undefined, known: KnownAnswer | undefined): Outcome | undefined {
  if (last === undefined || isKept(last)) return undefined;
  return known?.validity === 'due' ? known.outcome : last;
}

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
    const known = this.#options.ledger.find([...fresh.keys()]);
    for (const [key, {outcome}] of known) if (outcome !== undefined) this.#deliver(fresh, key, outcome);
    const version = this.#options.store.version();
    this.#takeOver(fresh, known);
    const tasks = this.#open(fresh, known, version);
    for (const task of tasks) await this.#inTurn.submit(task);
  }

  #ended(task: Task, end: Ended): void {
    if ('outcome' in end) this.#settled(task, end.outcome);
    else this.#unasked(task, end.unasked);
    this.#inTurn.ended(task.lookup);
  }

  #settled({lookup: {operation, key}, before}: Task, outcome: Outcome): void {
    const {ledger, store, rejections} = this.#options;
    const known = before?.outcome;
    if (outcome === known) ledger.keep(operation, key, outcome);
    else if (isKept(outcome) && isStored(operation)) {
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
  #unasked({lookup, before, known}: Task, reason: UnaskedCode): void {
    if (before?.validity === 'due')
      this.#options.ledger.adopt(lookup.operation, lookup.key, before.outcome, known);
    this.#tell(lookup.key, withoutAsking(before, reason));
  }

  /** True if another run has bought the task's answer since the task was queued. Then gives it to the waiters. */
  #isAnsweredMeanwhile({lookup: {operation, key}, known}: Task, pending: Pending): boolean {
    const {store, ledger} = this.#options;
    const version = store.version();
    if (pending.version === version || !isStored(operation)) return false;
    const stored = store.find([key], operation);
    if (stored === undefined) return false;
    pending.version = version;
    const {outcome, validity} = stored.get(key) ?? {};
    if (outcome === undefined || validity !== 'fresh') return false;
    ledger.adopt(operation, key, outcome, known);
    this.#tell(key, outcome);
    return true;
  }

  /**
   * Answers lookups from the store, or with answers from before the run's restart. For each other lookup,
   * notes its earlier attempts and its earlier answer.
   */
  #takeOver(fresh: Fresh, known: ReadonlyMap<string, LedgerEntry>): void {
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
      for (const pending of some) {
        const {key} = pending.lookup;
        const found = stored?.get(key);
        const serves = (answer: Outcome) => judge({operation, key}, answer) !== undefined;
        const carried = found?.validity === 'fresh' ? undefined : ledger.givenUp.find(key, serves);
        const last = carried?.outcome;
        const newest = last && isKept(last) ? newer(found, last, judge({operation, key}, last)) : found;
        const outcome = newest?.validity === 'fresh' ? newest.outcome : unknownOf(last, newest);
        if (outcome !== undefined) {
          ledger.adopt(operation, key, outcome, known.has(key));
          this.#deliver(fresh, key, outcome);
          continue;
        }
        if (stored === undefined) ledger.tally.operations[operation].notLookedUp += 1;
        pending.history = addedUp(known.get(key), carried);
        pending.before = newest;
      }
    }
  }

  /** Marks all lookups that still need a call as pending, before the first is submitted. Returns their tasks. */
  #open(fresh: Fresh, known: ReadonlyMap<string, LedgerEntry>, version: number): Task[] {
    const tasks: Task[] = [];
    for (const [key, pending] of fresh) {
      const {lookup} = pending;
      const cost = this.#options.costOf(lookup);
      pending.version = version;
      pending.firstRow = this.#firstRow(lookup);
      this.#pending.set(key, pending);
      const {again} = operations[lookup.operation];
      const task: Task = {
        lookup,
        cost,
        known: known.has(key),
        history: pending.history,
        before: pending.before,
        firstRow: () => again && pending.chooseFirstRow(),
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
    this.#chooseFirstRow(pending);
    this.#recent.set(key, pending.tell(this.#options.rejections.told(pending.lookup, outcome)));
  }

  /** The row that shows a lookup's answer unchanged; undefined if none is chosen, or if all show the same. */
  #firstRow({operation, key}: Lookup): number | undefined {
    return operations[operation].again && this.#options.ledger.firstRow(key);
  }

  /** If no row is chosen to show the outcome unchanged, chooses one and notes it in the ledger. */
  #chooseFirstRow(pending: Pending): void {
    const {lookup} = pending;
    pending.firstRow = this.#firstRow(lookup);
    if (pending.firstRow !== undefined || !operations[lookup.operation].again) return;
    const row = pending.chooseFirstRow();
    if (row !== undefined) this.#options.ledger.setFirstRow(lookup.key, row);
  }

  #tellRecent(waiter: Waiter): boolean {
    const outcome = this.#recent.get(waiter.lookup.key);
    if (outcome !== undefined) waiter.tell(outcome);
    return outcome !== undefined;
  }
}
