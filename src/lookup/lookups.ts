import {chooseBestAnswer, isUsable, type KnownAnswer} from '../ledger/answers/validity.ts';
import {
  type Answer,
  type CellResult,
  isStorable,
  type Lookup,
  type Outcome,
  TokenOccurrences,
} from '../ledger/lookup-outcome.ts';
import {lastAsked} from '../ledger/run/budget.ts';
import type {LedgerEntry} from '../ledger/run/ledger-entry.ts';
import {RecentValues} from '../operations/memoize.ts';
import {type Operation, operations} from '../operations/table.ts';
import {type Call, type LookupOptions, newCall, resultOf, type Waiter} from './call.ts';
import type {Executor} from './executor.ts';

const RECENT_BYTES = 4_194_304;

/** Answers lookups from a recent outcome, a call under way, the ledger or the store. Other values are looked up. */
export class Lookups {
  readonly #executor: Executor;
  readonly #options: LookupOptions;
  /** Calls under way, by key. All rows with the key wait for the same one. */
  readonly #underWay = new Map<string, Call>();
  /** Recent outcomes, so that the ledger is not read again for each row with the same value. */
  readonly #recent = new RecentValues<Outcome>(RECENT_BYTES, (_, outcome) =>
    'data' in outcome ? (outcome.data?.length ?? 0) : 0,
  );
  readonly #occurrences = new TokenOccurrences();
  /** By session token under way: its later calls. Calls that change the next answer go one after another. */
  readonly #turns = new Map<string, Call[]>();

  constructor(executor: Executor) {
    this.#executor = executor;
    this.#options = executor.options;
  }

  /** Answers known lookups immediately, and looks the others up. Resolves when it may be called again. */
  async ask(all: readonly Waiter[]): Promise<void> {
    const waiters = all.filter(waiter => !this.#tellRecent(waiter));
    if (waiters.length === 0) return;
    // This is the last wait before the values are under way. During a wait, another `ask` could buy the same value.
    const ready = this.#options.store.ready();
    if (ready !== undefined) await ready;
    const calls = this.#fresh(waiters);
    this.#answerKnown(calls);
    // All are under way before the first is sent: no wait lets another `ask` begin one of them.
    for (const [key, call] of calls) this.#underWay.set(key, call);
    for (const call of calls.values()) {
      this.#inTurn(call);
      const room = this.#executor.waitForRoom(call.operation);
      if (room !== undefined) await room;
    }
  }

  /** Looks the value up once the last lookup of the same session token has ended: its call changes the next answer. */
  #inTurn(call: Call): void {
    const {isRedeeming, field} = operations[call.operation];
    const token = call.params[field];
    const before = isRedeeming && token !== undefined ? this.#turns.get(token) : undefined;
    if (before !== undefined) {
      before.push(call);
      return;
    }
    if (isRedeeming && token !== undefined) this.#turns.set(token, []);
    this.#executor.ask(call);
  }

  #settle(call: Call, result: CellResult): void {
    this.#underWay.delete(call.key);
    const {isRedeeming, field} = operations[call.operation];
    const token = isRedeeming ? call.params[field] : undefined;
    if (token !== undefined) {
      const next = this.#turns.get(token)?.shift();
      if (next === undefined) this.#turns.delete(token);
      else this.#executor.ask(next);
    }
    for (const waiter of call.waiters) waiter.tell(result);
  }

  /** The calls that the values would need, by key. Rows whose value is under way wait for its result. */
  #fresh(waiters: readonly Waiter[]): Map<string, Call> {
    const {ledger, costOf} = this.#options;
    const calls = new Map<string, Call>();
    for (const waiter of waiters) {
      const lookup = this.#lookupOf(waiter, calls);
      const {key} = lookup;
      let call = this.#underWay.get(key) ?? calls.get(key);
      if (call === undefined) {
        const fresh = newCall(lookup, ledger.newEntry(lookup), costOf(lookup), result =>
          this.#settle(fresh, result),
        );
        calls.set(key, fresh);
        call = fresh;
      }
      call.waiters.push(waiter);
    }
    return calls;
  }

  /** The lookup of the waiter's row: a later row with the same session token has a call of its own. */
  #lookupOf({lookup}: Waiter, fresh: ReadonlyMap<string, Call>): Lookup {
    if (!operations[lookup.operation].isRedeeming) return lookup;
    const {ledger} = this.#options;
    const isUsed = (key: string) => ledger.find([key]).get(key)?.isUsed === true;
    return this.#occurrences.next(lookup, key => fresh.has(key) || this.#underWay.has(key) || isUsed(key));
  }

  /** Removes the calls whose outcome the ledger or the store knows, and tells it. Notes an expired answer of the others. */
  #answerKnown(calls: Map<string, Call>): void {
    const {store, ledger, publishOn} = this.#options;
    const entries = ledger.find([...calls.keys()]);
    const unknown = new Map<Operation, Call[]>();
    for (const [key, call] of calls) {
      call.entry = entries.get(key) ?? call.entry;
      if (this.#holds(call.entry)) this.#deliver(calls, call, call.entry.outcome);
      else if (!unknown.get(call.operation)?.push(call)) unknown.set(call.operation, [call]);
    }
    const version = store.version();
    for (const [operation, missing] of unknown) {
      const stored = store.find(
        missing.map(({key}) => key),
        operation,
      );
      if (stored === undefined) ledger.tally.operations[operation].notLookedUp += missing.length;
      for (const call of missing) {
        const known = this.#bestAnswer(call, stored?.get(call.key));
        if (known?.validity === 'fresh') {
          ledger.settleWithoutCall(call.entry, known.outcome);
          this.#deliver(calls, call, known.outcome);
          continue;
        }
        const renews = isUsable(known) && publishOn.includes('budget');
        Object.assign(call, {before: known, renews, version});
      }
      this.#passOver(calls, missing);
    }
  }

  /** The best of the ledger's answer and the store's, as it is now. */
  #bestAnswer(call: Call, stored: KnownAnswer | undefined): KnownAnswer | undefined {
    const {outcome} = call.entry;
    if (outcome === undefined || !isStorable(outcome)) return stored;
    return chooseBestAnswer(call, latestFirst(outcome, stored?.outcome), this.#options.judge);
  }

  /** Ends, without a call, the values whose turn comes in a later run. */
  #passOver(calls: Map<string, Call>, missing: readonly Call[]): void {
    const {store, turns} = this.#options;
    if (turns === undefined) return;
    const wanting = missing.filter(({key}) => calls.has(key));
    const askedAt = store.askedAt(wanting.map(({key}) => key));
    for (const call of wanting) {
      const turnsOfKind = call.renews ? turns.renewals : turns.fresh;
      if (turnsOfKind.take(lastAsked(call.entry, askedAt.get(call.key)), call.cost)) continue;
      calls.delete(call.key);
      for (const waiter of call.waiters) waiter.tell(resultOf(call, {kind: 'skipped', reason: 'budget'}));
    }
  }

  /** True if the value needs no call: it failed, or its answer is of this session or still fresh. */
  #holds(entry: LedgerEntry): entry is LedgerEntry & {readonly outcome: Outcome} {
    const {outcome} = entry;
    const {ledger, judge} = this.#options;
    if (outcome === undefined) return false;
    // A second call for a session token would only tell that it is redeemed.
    if (!isStorable(outcome) || outcome.rejected === 'once' || operations[entry.operation].isRedeeming)
      return true;
    return ledger.isOfSession(entry) || judge(entry, outcome) === 'fresh';
  }

  /** Gives an outcome from the ledger to all rows that wait for it. */
  #deliver(calls: Map<string, Call>, {operation, key, waiters, entry}: Call, outcome: Outcome): void {
    calls.delete(key);
    this.#options.ledger.markUsed(entry);
    if (!operations[operation].isRedeeming) this.#recent.set(key, outcome);
    for (const waiter of waiters) waiter.tell(outcome);
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
