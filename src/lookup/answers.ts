import type {Entry} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Lookup, Settled} from '../ledger/lookup.ts';
import type {AnswerStore} from '../ledger/store.ts';
import {isStored, type Operation} from '../operations/table.ts';
import type {Ask, Executor} from './executor.ts';

/** One cell's question, and whom to tell the answer. */
export interface Question {
  readonly lookup: Lookup;
  readonly answer: (settled: Settled) => void;
}

export interface AnswersOptions {
  readonly ledger: Pick<Ledger, 'find' | 'adopt' | 'carried' | 'notLookedUp'>;
  readonly store: AnswerStore;
  readonly executor: Pick<Executor, 'submit'>;
  /** What one call costs, in thousandths of a credit. */
  readonly costOf: (lookup: Lookup) => number;
  /** Carried answers older than this (milliseconds since the epoch) are asked for again; verdicts never are. */
  readonly notBefore: Readonly<Record<Operation, number>>;
}

/** A value that is being asked about: everybody who wants to know waits for the one call. */
interface Pending {
  readonly ask: Ask;
  readonly waiting: Question[];
  /** The store's version when it was last looked for there. */
  version: number;
}

/** The chain that a value passes: in flight already? in the ledger? in the store? Only then is it asked about. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #pending = new Map<string, Pending>();
  /** Verdicts of one token are asked in input order, as each may change the next: those behind the first wait here. */
  readonly #tokens = new Map<string, Ask[]>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Answers at once what is known, and submits the rest; resolves when more may be asked. */
  async ask(questions: readonly Question[]): Promise<void> {
    // Before anything else: from here to the last value's being pending, nobody else may ask.
    const ready = this.#options.store.ready();
    if (ready !== undefined) await ready;
    const fresh = new Map<string, Question[]>();
    for (const question of questions) {
      const {key} = question.lookup;
      const waiting = this.#pending.get(key)?.waiting ?? fresh.get(key);
      if (waiting === undefined) fresh.set(key, [question]);
      else waiting.push(question);
    }
    const known = this.#options.ledger.find([...fresh.keys()]);
    for (const [key, entry] of known) if (entry.settled !== undefined) deliver(fresh, key, entry.settled);
    const version = this.#options.store.version();
    const doubtful = this.#takeOver(fresh, known);
    for (const [key, {ambiguous}] of known) if (ambiguous) doubtful.add(key);
    for (const ask of this.#open(fresh, known, doubtful, version)) await this.#submit(ask);
  }

  /** The executor has the outcome for good. */
  settled(ask: Ask, settled: Settled): void {
    const {key, operation} = ask.lookup;
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    if (settled.status === 'ok' && isStored(operation)) this.#options.store.put(ask.lookup, settled.data);
    for (const question of pending?.waiting ?? []) question.answer(settled);
    if (operation === 'verify') this.#nextOfToken(ask);
  }

  /**
   * Values among these that another run has been answered since they were queued; whoever wanted to know them has been
   * told, and they need no call any more.
   */
  answeredMeanwhile(asks: readonly Ask[]): ReadonlySet<string> {
    const {store, ledger} = this.#options;
    const answered = new Set<string>();
    const version = store.version();
    const unseen = asks.filter(({lookup}) => this.#pending.get(lookup.key)?.version !== version);
    for (const operation of new Set(unseen.map(({lookup}) => lookup.operation))) {
      if (!isStored(operation)) continue;
      const some = unseen.filter(({lookup}) => lookup.operation === operation);
      const stored = store.find(
        some.map(({lookup}) => lookup.key),
        operation,
      );
      if (stored === undefined) break;
      for (const {lookup, known} of some) {
        const data = stored.get(lookup.key);
        const pending = this.#pending.get(lookup.key);
        if (pending !== undefined) pending.version = version;
        if (data === undefined) continue;
        const settled = {status: 'ok', data} as const;
        ledger.adopt(operation, lookup.key, settled, known);
        answered.add(lookup.key);
        this.#pending.delete(lookup.key);
        for (const question of pending?.waiting ?? []) question.answer(settled);
      }
    }
    return answered;
  }

  /** Values that nobody knows the answer of yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Answers what the store has, or an attempt that was given up. Returns the values which that one asked for in vain, or
   * too long ago.
   */
  #takeOver(fresh: Map<string, Question[]>, known: ReadonlyMap<string, Entry>): Set<string> {
    const doubtful = new Set<string>();
    const byOperation = new Map<Operation, string[]>();
    for (const [key, [first]] of fresh) {
      if (first === undefined) continue;
      const keys = byOperation.get(first.lookup.operation);
      if (keys === undefined) byOperation.set(first.lookup.operation, [key]);
      else keys.push(key);
    }
    const {store, ledger, notBefore} = this.#options;
    for (const [operation, keys] of byOperation) {
      const isKept = isStored(operation);
      const stored = isKept ? store.find(keys, operation) : new Map<string, string>();
      for (const key of keys) {
        const data = stored?.get(key);
        // Asked for again, a verdict would only tell of our own call.
        const since = isKept ? notBefore[operation] : 0;
        const carried = data === undefined ? ledger.carried(key, since) : undefined;
        const settled = data === undefined ? carried?.settled : ({status: 'ok', data} as const);
        if (settled !== undefined) {
          ledger.adopt(operation, key, settled, known.has(key));
          deliver(fresh, key, settled);
          continue;
        }
        if (stored === undefined) ledger.notLookedUp(operation);
        if (carried !== undefined) doubtful.add(key);
      }
    }
    return doubtful;
  }

  /** All that is left is pending from here on, before the first of it is submitted. */
  #open(
    fresh: ReadonlyMap<string, Question[]>,
    known: ReadonlyMap<string, Entry>,
    doubtful: ReadonlySet<string>,
    version: number,
  ): Ask[] {
    const asks: Ask[] = [];
    for (const [key, waiting] of fresh) {
      const lookup = waiting[0]?.lookup;
      if (lookup === undefined) continue;
      const cost = this.#options.costOf(lookup);
      const ask: Ask = {lookup, cost, known: known.has(key), ambiguous: doubtful.has(key)};
      this.#pending.set(key, {ask, waiting, version});
      asks.push(ask);
    }
    return asks;
  }

  async #submit(ask: Ask): Promise<void> {
    const token = ask.lookup.params.token;
    if (ask.lookup.operation === 'verify' && token !== undefined) {
      const queue = this.#tokens.get(token);
      if (queue !== undefined) {
        queue.push(ask);
        return;
      }
      this.#tokens.set(token, []);
    }
    await this.#options.executor.submit(ask);
  }

  #nextOfToken(ask: Ask): void {
    const token = ask.lookup.params.token ?? '';
    const next = this.#tokens.get(token)?.shift();
    if (next === undefined) this.#tokens.delete(token);
    else void this.#options.executor.submit(next);
  }
}

function deliver(fresh: Map<string, Question[]>, key: string, settled: Settled): void {
  for (const question of fresh.get(key) ?? []) question.answer(settled);
  fresh.delete(key);
}
