import type {AnswerStore} from '../ledger/answers/store.ts';
import {bestOf, type Judge, type KnownAnswer} from '../ledger/answers/validity.ts';
import {
  type Answer,
  isKept,
  type Lookup,
  type Outcome,
  type Result,
  type UnaskedCode,
} from '../ledger/lookup.ts';
import type {BookedAttempt, LedgerEntry} from '../ledger/run/entry.ts';
import type {Ledger} from '../ledger/run/ledger.ts';
import {Occurrences} from '../ledger/run/occurrences.ts';
import {type Operation, operations} from '../operations/table.ts';
import {type Call, isKnownRejection, type Outlet} from './call.ts';
import type {Gate} from './gate.ts';
import {
  chargeOf,
  historyAfter,
  nextStep,
  type PolicySettings,
  type Refusal,
  type Step,
  sendsLeft,
  usedUp,
} from './policy.ts';
import {Recent} from './recent.ts';

/** A planned cell that waits for its result. */
export interface Waiter {
  readonly lookup: Lookup;
  /** Number of the cell's row in the run. */
  readonly row: number;
  tell(result: Result): void;
}

export interface LookupsOptions {
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  readonly gate: Gate;
  readonly outlet: Outlet;
  readonly policy: PolicySettings;
  /** Cost of one call, in thousandths of a credit. */
  readonly costOf: (lookup: Lookup) => number;
  /** True if a run that has used up its budget publishes: then renewals leave credits to other values. */
  readonly publishesOnBudget: boolean;
  /** Returns an earlier answer's validity. The store must use the same judge. */
  readonly judge: Judge;
  /** Called at the end of each attempt. `row`: number of the first row that waits for it. */
  readonly attempted: (booked: BookedAttempt, row: number | undefined) => void;
}

/** A value that several rows may share, with all cells that wait for it. */
interface FreshLookup {
  readonly lookup: Lookup;
  readonly waiters: Waiter[];
  entry: LedgerEntry;
  before?: KnownAnswer | undefined;
}

const RECENT_BYTES = 4_194_304;

/** Answers lookups from a recent outcome, a call under way, the ledger or the store. Other values are looked up. */
export class Lookups {
  readonly #options: LookupsOptions;
  /** Lookups under way, by key. All rows with the key wait for the same one. */
  readonly #underWay = new Map<string, FreshLookup>();
  /** Recent outcomes, so that the ledger is not read again for each row with the same value. */
  readonly #recent = new Recent<Outcome>(RECENT_BYTES, (_, outcome) =>
    'data' in outcome ? (outcome.data?.length ?? 0) : 0,
  );
  readonly #occurrences = new Occurrences();
  /** By session token: the end of the last lookup of it. Calls that change the next answer go one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: LookupsOptions) {
    this.#options = options;
  }

  /** Answers known lookups immediately, and looks the others up. Resolves when it may be called again. */
  async ask(all: readonly Waiter[]): Promise<void> {
    const {ledger, store, gate} = this.#options;
    const waiters = all.filter(waiter => !this.#tellRecent(waiter));
    if (waiters.length === 0) return;
    // This is the last wait before the values are under way. During a wait, another `ask` could buy the same value.
    const ready = store.ready();
    if (ready !== undefined) await ready;
    const fresh = this.#fresh(waiters);
    const known = ledger.find([...fresh.keys()]);
    for (const [key, asked] of fresh) {
      asked.entry = known.get(key) ?? asked.entry;
      if (this.#holds(asked.entry)) this.#deliver(fresh, asked, asked.entry.outcome);
    }
    const version = store.version();
    this.#takeOver(fresh);
    // All are under way before the first is sent: no wait lets another `ask` begin one of them.
    for (const [key, asked] of fresh) this.#underWay.set(key, asked);
    for (const asked of fresh.values()) {
      const {lookup} = asked;
      this.#inTurn(lookup, () => this.#answer(asked, version)).catch(error => gate.fail(error));
      if (!gate.hasRoom(lookup.operation)) await gate.room(lookup.operation);
    }
  }

  /** Looks a value up, and gives the result to all cells that wait for it by then. */
  async #answer(asked: FreshLookup, version: number): Promise<void> {
    const result = await this.#lookUp(this.#callOf(asked, version));
    this.#underWay.delete(asked.lookup.key);
    for (const waiter of asked.waiters) waiter.tell(result);
  }

  /** The life of a value that must be paid for, from its first call to its result. */
  async #lookUp(call: Call): Promise<Result> {
    const {gate, policy} = this.#options;
    gate.open(call);
    for (;;) {
      const hasSends = sendsLeft(call.entry.history, policy) > 0;
      const step: Step | Refusal =
        gate.refusal ??
        (hasSends ? await gate.pass(call, perSecond => this.#send(call, perSecond)) : this.#usedUp(call));
      switch (step.next) {
        case 'settle':
          await gate.settled(call);
          return step.outcome;
        case 'skip':
          await gate.settled(call);
          return withoutCall(call.before, step.reason);
        case 'hold':
          await gate.outageEnds();
          break;
        case 'retry':
          await gate.backOff(call, step.isThrottled);
          break;
        case 'stop':
        case 'stay open':
          return new Promise(() => {});
        default:
          step satisfies never;
      }
    }
  }

  /** Sends the value, decides what follows, and books the attempt. */
  async #send(call: Call, perSecond: number): Promise<Step> {
    const {outlet, gate, ledger, store, policy, attempted} = this.#options;
    const {operation, key, cost, dispatch, entry} = call;
    const attempt = await outlet.send(call, perSecond);
    const charge = chargeOf(attempt, policy.cost);
    const retry = call.attempts > 0 || entry.history.mayBeCarriedOut;
    if (attempt.kind !== 'not_sent') call.attempts += 1;
    entry.history = historyAfter(entry.history, attempt, charge);
    const blame = gate.learn(call, attempt);
    const step = nextStep(operation, attempt, entry.history, policy, blame);
    const outcome = step.next === 'settle' ? step.outcome : undefined;
    const isConfirmed = isKnownRejection(call, attempt);
    const paid = cost === 0 ? 'free' : charge;
    const booked = {
      operation,
      key,
      cost,
      dispatch,
      attempt,
      charge: paid,
      retry,
      history: entry.history,
      outcome,
      isConfirmed,
    };
    attempted(booked, call.row);
    ledger.record(booked);
    if (outcome !== undefined && isKept(outcome) && (outcome.status !== 'failed' || isConfirmed))
      store.put({operation, key, outcome});
    else store.purchases.end({key});
    return step.next === 'retry' ? {...step, isThrottled: attempt.kind === 'throttled'} : step;
  }

  /** Settles a value that has used up its sends, unless an outage lasts. */
  #usedUp({entry}: Call) {
    const {policy, gate, ledger} = this.#options;
    const step = usedUp(entry.history, policy, gate.isOutage ? 'service' : 'value');
    if (step.next === 'settle') ledger.adopt(entry, step.outcome);
    return step;
  }

  #callOf({lookup, waiters, entry, before}: FreshLookup, version: number): Call {
    const {costOf, publishesOnBudget} = this.#options;
    const {operation, key, params} = lookup;
    return {
      operation,
      key,
      params,
      entry,
      before,
      version,
      cost: costOf(lookup),
      renews: publishesOnBudget && before !== undefined && before.validity !== 'past',
      row: waiters[0]?.row,
      dispatch: 0,
      sentAt: 0,
      attempts: 0,
    };
  }

  /** Runs `work` once the last lookup of the same session token has ended: its call changes the next answer. */
  #inTurn({operation, params}: Lookup, work: () => Promise<void>): Promise<void> {
    const {isRedeeming, field} = operations[operation];
    const token = params[field];
    if (!isRedeeming || token === undefined) return work();
    const before = this.#turns.get(token);
    const done = before === undefined ? work() : before.then(work);
    const turn = done
      .catch(() => {})
      .then(() => {
        if (this.#turns.get(token) === turn) this.#turns.delete(token);
      });
    this.#turns.set(token, turn);
    return done;
  }

  /** Values by key that are not under way. Rows whose value is under way wait for its result. */
  #fresh(waiters: readonly Waiter[]): Map<string, FreshLookup> {
    const {ledger} = this.#options;
    const fresh = new Map<string, FreshLookup>();
    for (const waiter of waiters) {
      const lookup = this.#lookupOf(waiter, fresh);
      const asked = this.#underWay.get(lookup.key) ?? fresh.get(lookup.key);
      if (asked !== undefined) asked.waiters.push(waiter);
      else fresh.set(lookup.key, {lookup, waiters: [waiter], entry: ledger.newEntry(lookup)});
    }
    return fresh;
  }

  /** The lookup of the waiter's row: a later row with the same session token has a call of its own. */
  #lookupOf({lookup}: Waiter, fresh: ReadonlyMap<string, FreshLookup>): Lookup {
    if (!operations[lookup.operation].isRedeeming) return lookup;
    const {ledger} = this.#options;
    const isUsed = (key: string) => ledger.find([key]).get(key)?.isUsed === true;
    return this.#occurrences.next(lookup, key => fresh.has(key) || this.#underWay.has(key) || isUsed(key));
  }

  /** True if the value needs no call: it failed, or its answer is of this session or still fresh. */
  #holds(entry: LedgerEntry): entry is LedgerEntry & {readonly outcome: Outcome} {
    const {outcome} = entry;
    const {ledger, judge} = this.#options;
    if (outcome === undefined) return false;
    // A second call for a session token would only tell that it is redeemed.
    if (!isKept(outcome) || operations[entry.operation].isRedeeming) return true;
    return ledger.isOfSession(entry) || judge(entry, outcome) === 'fresh';
  }

  /** Answers lookups from the store. For each other lookup, notes its latest earlier answer. */
  #takeOver(fresh: Map<string, FreshLookup>): void {
    const byOperation = new Map<Operation, string[]>();
    for (const [key, {lookup}] of fresh) {
      if (!byOperation.get(lookup.operation)?.push(key)) byOperation.set(lookup.operation, [key]);
    }
    const {store, ledger, judge} = this.#options;
    for (const [operation, keys] of byOperation) {
      const stored = store.find(keys, operation);
      for (const key of keys) {
        const asked = fresh.get(key) as FreshLookup;
        const {lookup, entry} = asked;
        const found = stored?.get(key);
        const own = entry.outcome !== undefined && isKept(entry.outcome) ? entry.outcome : undefined;
        const known = own === undefined ? found : bestOf(lookup, latestFirst(own, found?.outcome), judge);
        if (known?.validity === 'fresh') {
          ledger.adopt(entry, known.outcome);
          this.#deliver(fresh, asked, known.outcome);
          continue;
        }
        if (stored === undefined) ledger.tally.operations[operation].notLookedUp += 1;
        asked.before = known;
      }
    }
  }

  /** Gives an outcome from the ledger to all rows that wait for it. */
  #deliver(fresh: Map<string, FreshLookup>, {lookup, waiters, entry}: FreshLookup, outcome: Outcome): void {
    fresh.delete(lookup.key);
    this.#options.ledger.use(entry);
    if (!operations[lookup.operation].isRedeeming) this.#recent.set(lookup.key, outcome);
    for (const waiter of waiters) waiter.tell(outcome);
  }

  #tellRecent(waiter: Waiter): boolean {
    const outcome = this.#recent.get(waiter.lookup.key);
    if (outcome !== undefined) waiter.tell(outcome);
    return outcome !== undefined;
  }
}

/** The result without a call: the earlier answer, or `skipped` if none is usable. */
function withoutCall(before: KnownAnswer | undefined, reason: UnaskedCode): Result {
  if (before === undefined || before.validity === 'past') return {status: 'skipped', error: reason};
  return {...before.outcome, stale: reason};
}

function latestFirst(...answers: readonly (Answer | undefined)[]): Answer[] {
  return answers.filter(answer => answer !== undefined).sort((a, b) => b.boughtAt - a.boughtAt);
}
