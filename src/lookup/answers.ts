import type {LedgerEntry} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import {
  type BoughtOutcome,
  isKept,
  type LastingOutcome,
  type Lookup,
  type Outcome,
  type StoredOutcome,
  type UnaskedCode,
} from '../ledger/lookup.ts';
import type {AnswerStore, Known} from '../ledger/store/store.ts';
import type {Judge, Validity} from '../ledger/store/validity.ts';
import {isStored, type Operation} from '../operations/table.ts';
import type {Executor, Task} from './executor.ts';
import {CameBefore, Recent} from './recent.ts';

/** A planned cell that waits for its lookup's outcome. */
export interface Waiter {
  readonly lookup: Lookup;
  tell(outcome: Outcome): void;
  /** Whether its outcome is still waited for; always, where it does not say. */
  isWanted?(): boolean;
}

export interface AnswersOptions {
  readonly ledger: Pick<Ledger, 'find' | 'adopt' | 'keep' | 'carried' | 'notLookedUp'>;
  readonly store: AnswerStore;
  readonly executor: Pick<Executor, 'submit'>;
  /** What one call costs, in thousandths of a credit. */
  readonly costOf: (lookup: Lookup) => number;
  /** The store uses the same one. */
  readonly judge: Judge;
}

/** A lookup under way: all cells that need its outcome wait for the one call. */
interface Pending {
  readonly waiters: Waiter[];
  /** The store's version when it was last looked for there. */
  version: number;
}

/** What is known of lookups that are to be asked for, by their keys. */
interface LeftOver {
  readonly doubtful: Set<string>;
  readonly fallbacks: ReadonlyMap<string, Task['fallback']>;
}

const RECENT_BYTES = 16 * 1_048_576;
/** An answer's text, what it is parsed, and as it is written take so much of the text's memory. */
const HANGING_ON_IT = 5;

const NOTHING: ReadonlyMap<string, Known> = new Map();

/** Returns the later bought one of the store's answer and a carried one. */
function newer(
  found: Known | undefined,
  carried: StoredOutcome,
  validity: Validity | undefined,
): Known | undefined {
  if (validity === undefined || (found && found.outcome.boughtAt >= carried.boughtAt)) return found;
  return {outcome: carried, validity};
}

/** Returns the outcome of a value that must not be sent again: its earlier answer, if that is still valid. */
function unknownOf(last: LastingOutcome | undefined, known: Known | undefined): LastingOutcome | undefined {
  if (last === undefined || isKept(last)) return undefined;
  return known?.validity === 'due' ? known.outcome : last;
}

/** The chain that a lookup passes: in flight already? in the ledger? in the store? Only then does it become a task. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #pending = new Map<string, Pending>();
  /** Outcomes that came lately, so that the ledger is not read for each row of a value, and its rows share what they come to. */
  readonly #recent = new Recent<LastingOutcome>(
    RECENT_BYTES,
    (_, outcome) => HANGING_ON_IT * ('data' in outcome ? (outcome.data?.length ?? 0) : 0),
  );
  readonly #cameBefore = new CameBefore();
  /** Verdicts of one token are asked in input order, as each may change the next: those behind the first wait here. */
  readonly #tokens = new Map<string, Task[]>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Answers at once what is known, and submits the rest; resolves when more may be asked. */
  async ask(all: readonly Waiter[]): Promise<void> {
    const waiters = all.filter(waiter => !this.#tellRecent(waiter));
    if (waiters.length === 0) return;
    // Before anything else: from here to the last value's being pending, no other call of this may run.
    const ready = this.#options.store.ready();
    if (ready !== undefined) await ready;
    const fresh = new Map<string, Waiter[]>();
    for (const waiter of waiters) {
      const {key} = waiter.lookup;
      const others = this.#pending.get(key)?.waiters ?? fresh.get(key);
      if (others === undefined) fresh.set(key, [waiter]);
      else others.push(waiter);
    }
    const known = this.#options.ledger.find([...fresh.keys()]);
    for (const [key, {outcome}] of known) if (outcome !== undefined) this.#deliver(fresh, key, outcome);
    const version = this.#options.store.version();
    const left = this.#takeOver(fresh, known);
    for (const [key, {ambiguous}] of known) if (ambiguous) left.doubtful.add(key);
    for (const task of this.#open(fresh, known, left, version)) await this.#submit(task);
  }

  /** The executor has the outcome for good. */
  settled({lookup, fallback}: Task, outcome: LastingOutcome): void {
    const {ledger, store} = this.#options;
    if (outcome === fallback?.outcome) ledger.keep(lookup.operation, lookup.key, outcome);
    else if (isKept(outcome) && isStored(lookup.operation)) store.put(lookup, outcome);
    this.#end(lookup, outcome);
  }

  /** The executor can't have it asked for: what is known from before serves, the rest is skipped. */
  unasked({lookup, fallback, known}: Task, reason: UnaskedCode): void {
    if (fallback === undefined) this.#end(lookup, {status: 'skipped', error: reason});
    else if (fallback.validity === 'stale') this.#end(lookup, {...fallback.outcome, stale: reason});
    else {
      this.#options.ledger.adopt(lookup.operation, lookup.key, fallback.outcome, known);
      this.#end(lookup, fallback.outcome);
    }
  }

  /**
   * The keys of those that another run has been answered since they were queued; the cells that waited for them have
   * been told, and they need no call any more.
   */
  answeredMeanwhile(tasks: readonly Task[]): ReadonlySet<string> {
    const {store, ledger} = this.#options;
    const answered = new Set<string>();
    const version = store.version();
    const unseen = tasks.filter(({lookup}) => this.#pending.get(lookup.key)?.version !== version);
    for (const operation of new Set(unseen.map(({lookup}) => lookup.operation))) {
      if (!isStored(operation)) continue;
      const some = unseen.filter(({lookup}) => lookup.operation === operation);
      const stored = store.find(
        some.map(({lookup}) => lookup.key),
        operation,
      );
      if (stored === undefined) break;
      for (const {lookup, known} of some) {
        const {outcome, validity} = stored.get(lookup.key) ?? {};
        const pending = this.#pending.get(lookup.key);
        if (pending !== undefined) pending.version = version;
        if (outcome === undefined || validity !== 'fresh') continue;
        ledger.adopt(operation, lookup.key, outcome, known);
        answered.add(lookup.key);
        this.#tell(lookup.key, outcome);
      }
    }
    return answered;
  }

  /** Whether anybody still waits for its outcome: a call that nobody wants is not made. */
  isWanted({lookup}: Task): boolean {
    return this.#pending.get(lookup.key)?.waiters.some(waiter => waiter.isWanted?.() !== false) === true;
  }

  /** The executor does not make this call, as nobody wants it. */
  dropped({lookup}: Task): void {
    this.#pending.delete(lookup.key);
    if (lookup.operation === 'verify') this.#nextOfToken(lookup);
  }

  /** Lookups that have no outcome yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Answers what the store has, or an attempt that was given up. Returns the keys which that one asked for without an
   * answer, or too long ago, and what the store has that is to be asked for again.
   */
  #takeOver(fresh: Map<string, Waiter[]>, known: ReadonlyMap<string, LedgerEntry>): LeftOver {
    const doubtful = new Set<string>();
    const fallbacks = new Map<string, Task['fallback']>();
    const byOperation = new Map<Operation, string[]>();
    for (const [key, [first]] of fresh) {
      if (first === undefined) continue;
      const keys = byOperation.get(first.lookup.operation);
      if (keys === undefined) byOperation.set(first.lookup.operation, [key]);
      else keys.push(key);
    }
    const {store, ledger, judge} = this.#options;
    for (const [operation, keys] of byOperation) {
      const stored = isStored(operation) ? store.find(keys, operation) : NOTHING;
      for (const key of keys) {
        const found = stored?.get(key);
        const serves = (answer: BoughtOutcome) => judge({operation, key}, answer) !== undefined;
        const carried = found?.validity === 'fresh' ? undefined : ledger.carried(key, serves);
        const last = carried?.outcome;
        const newest = last && isKept(last) ? newer(found, last, judge({operation, key}, last)) : found;
        const outcome = newest?.validity === 'fresh' ? newest.outcome : unknownOf(last, newest);
        if (outcome !== undefined) {
          ledger.adopt(operation, key, outcome, known.has(key));
          this.#deliver(fresh, key, outcome);
          continue;
        }
        if (stored === undefined) ledger.notLookedUp(operation);
        if (carried !== undefined) doubtful.add(key);
        if (newest !== undefined) fallbacks.set(key, newest);
      }
    }
    return {doubtful, fallbacks};
  }

  /** All that is left is pending from here on, before the first of it is submitted. */
  #open(
    fresh: ReadonlyMap<string, Waiter[]>,
    known: ReadonlyMap<string, LedgerEntry>,
    {doubtful, fallbacks}: LeftOver,
    version: number,
  ): Task[] {
    const tasks: Task[] = [];
    for (const [key, waiters] of fresh) {
      const lookup = waiters[0]?.lookup;
      if (lookup === undefined) continue;
      const cost = this.#options.costOf(lookup);
      this.#pending.set(key, {waiters, version});
      const ambiguous = doubtful.has(key);
      tasks.push({lookup, cost, known: known.has(key), ambiguous, fallback: fallbacks.get(key)});
    }
    return tasks;
  }

  async #submit(task: Task): Promise<void> {
    const {token} = task.lookup.params;
    if (task.lookup.operation === 'verify' && token !== undefined) {
      const queue = this.#tokens.get(token);
      if (queue !== undefined) {
        queue.push(task);
        return;
      }
      this.#tokens.set(token, []);
    }
    await this.#options.executor.submit(task);
  }

  #end(lookup: Lookup, outcome: Outcome): void {
    this.#tell(lookup.key, outcome);
    if (lookup.operation === 'verify') this.#nextOfToken(lookup);
  }

  #tell(key: string, outcome: Outcome): void {
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    for (const waiter of pending?.waiters ?? []) waiter.tell(outcome);
  }

  #nextOfToken({params}: Lookup): void {
    const token = params.token ?? '';
    const next = this.#tokens.get(token)?.shift();
    if (next === undefined) this.#tokens.delete(token);
    else void this.#options.executor.submit(next);
  }

  /** What the ledger has, or has just taken over. */
  #deliver(fresh: Map<string, Waiter[]>, key: string, outcome: LastingOutcome): void {
    if (this.#cameBefore.note(key)) this.#recent.set(key, outcome);
    for (const waiter of fresh.get(key) ?? []) waiter.tell(outcome);
    fresh.delete(key);
  }

  #tellRecent(waiter: Waiter): boolean {
    const outcome = this.#recent.get(waiter.lookup.key);
    if (outcome !== undefined) waiter.tell(outcome);
    return outcome !== undefined;
  }
}
