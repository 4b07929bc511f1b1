import type {Attempt} from '../client/attempt.ts';
import {chooseBestAnswer, type KnownAnswer} from '../ledger/answers/validity.ts';
import {
  type Answer,
  type CellResult,
  isStorable,
  type Lookup,
  type Outcome,
  TokenOccurrences,
  type UnaskedCode,
} from '../ledger/lookup-outcome.ts';
import type {LedgerEntry} from '../ledger/run/ledger-entry.ts';
import {type Operation, operations} from '../operations/table.ts';
import type {Call, LookupOptions, Waiter} from './call.ts';
import type {Gate} from './gate.ts';
import {OutcomeCache} from './outcome-cache.ts';
import {
  chargeKindOfAttempt,
  historyAfterAttempt,
  type NextStep,
  nextStep,
  sendsLeft,
  stepWithoutSendsLeft,
} from './retry-policy.ts';

const RECENT_BYTES = 4_194_304;

/** Answers lookups from a recent outcome, a call under way, the ledger or the store. Other values are looked up. */
export class Lookups {
  readonly #gate: Gate;
  readonly #options: LookupOptions;
  /** Calls under way, by key. All rows with the key wait for the same one. */
  readonly #underWay = new Map<string, Call>();
  /** Recent outcomes, so that the ledger is not read again for each row with the same value. */
  readonly #recent = new OutcomeCache<Outcome>(RECENT_BYTES, (_, outcome) =>
    'data' in outcome ? (outcome.data?.length ?? 0) : 0,
  );
  readonly #occurrences = new TokenOccurrences();
  /** By session token: the end of the last lookup of it. Calls that change the next answer go one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(gate: Gate) {
    this.#gate = gate;
    this.#options = gate.options;
  }

  /** Answers known lookups immediately, and looks the others up. Resolves when it may be called again. */
  async ask(all: readonly Waiter[]): Promise<void> {
    const gate = this.#gate;
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
      this.#inTurn(call).catch(error => gate.stop({kind: 'error', error}));
      const room = gate.room(call.operation);
      if (room !== undefined) await room;
    }
  }

  /** The life of a value that must be paid for: from its first call until all cells that wait for it have its result. */
  async #lookUp(call: Call): Promise<void> {
    const gate = this.#gate;
    for (;;) {
      const step =
        gate.refusal ?? this.#usedUp(call) ?? (await gate.pass(call, rate => this.#send(call, rate)));
      switch (step.next) {
        case 'settle':
        case 'skip': {
          await gate.settled(call);
          this.#underWay.delete(call.key);
          const result = step.next === 'settle' ? step.outcome : withoutCall(call.before, step.reason);
          for (const waiter of call.waiters) waiter.tell(result);
          return;
        }
        case 'hold':
        case 'retry':
          await gate.again(call, step.next);
          break;
        case 'stop':
          return;
        default:
          step satisfies never;
      }
    }
  }

  /** Sends the value, decides what follows, and books the attempt. */
  async #send(call: Call, perSecond: number): Promise<NextStep> {
    const {dispatcher, ledger, store, policy, events} = this.#options;
    const {operation, key, cost, dispatch, entry} = call;
    const attempt = await dispatcher.send(call, perSecond);
    const charge = chargeKindOfAttempt(attempt, policy.cost);
    const retry = call.attempts > 0 || entry.history.mayBeCarriedOut;
    if (attempt.kind !== 'not_sent') call.attempts += 1;
    // The circuit breaker counts the sends that values have left: this attempt is one of them.
    const history = historyAfterAttempt(entry.history, attempt, charge);
    entry.history = history;
    const isConfirmed = isKnownRejection(call, attempt);
    const blame = this.#gate.learn(call, attempt, isConfirmed);
    const step = nextStep(operation, attempt, history, policy, blame);
    const outcome = step.next === 'settle' ? step.outcome : undefined;
    const booked = {
      ...{operation, key, cost, dispatch, attempt, retry, history, outcome, isConfirmed},
      charge: cost === 0 ? ('free' as const) : charge,
    };
    events.attempted(booked, call.waiters[0]?.row);
    ledger.record(booked);
    if (outcome !== undefined && isStorable(outcome) && (outcome.status !== 'failed' || isConfirmed))
      store.put({operation, key, outcome});
    else store.purchases.end({key});
    return step;
  }

  /** Settles a value that has used up its sends, unless an outage lasts; undefined if it has one left. */
  #usedUp({entry}: Call): NextStep | undefined {
    const {policy, ledger} = this.#options;
    if (sendsLeft(entry.history, policy) > 0) return undefined;
    const step = stepWithoutSendsLeft(entry.history, policy, this.#gate.isOutage ? 'service' : 'value');
    if (step.next === 'settle') ledger.adopt(entry, step.outcome);
    return step;
  }

  /** Looks the value up once the last lookup of the same session token has ended: its call changes the next answer. */
  #inTurn(call: Call): Promise<void> {
    const {isRedeeming, field} = operations[call.operation];
    const token = call.params[field];
    if (!isRedeeming || token === undefined) return this.#lookUp(call);
    const before = this.#turns.get(token);
    const done = before === undefined ? this.#lookUp(call) : before.then(() => this.#lookUp(call));
    const turn = done
      .catch(() => {})
      .then(() => {
        if (this.#turns.get(token) === turn) this.#turns.delete(token);
      });
    this.#turns.set(token, turn);
    return done;
  }

  /** The calls that the values would need, by key. Rows whose value is under way wait for its result. */
  #fresh(waiters: readonly Waiter[]): Map<string, Call> {
    const {ledger, costOf} = this.#options;
    const fresh = new Map<string, Call>();
    for (const waiter of waiters) {
      const lookup = this.#lookupOf(waiter, fresh);
      const {operation, key, params} = lookup;
      const call = this.#underWay.get(key) ?? fresh.get(key);
      if (call !== undefined) call.waiters.push(waiter);
      else
        fresh.set(key, {
          ...{
            operation,
            key,
            params,
            entry: ledger.newEntry(lookup),
            cost: costOf(lookup),
            waiters: [waiter],
          },
          ...{before: undefined, renews: false, dispatch: 0, sentAt: 0, attempts: 0, version: 0},
        });
    }
    return fresh;
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
    const {store, ledger, judge, publishOn} = this.#options;
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
        const found = stored?.get(call.key);
        const own =
          call.entry.outcome !== undefined && isStorable(call.entry.outcome) ? call.entry.outcome : undefined;
        const known =
          own === undefined ? found : chooseBestAnswer(call, latestFirst(own, found?.outcome), judge);
        if (known?.validity === 'fresh') {
          ledger.adopt(call.entry, known.outcome);
          this.#deliver(calls, call, known.outcome);
          continue;
        }
        const isUsable = known !== undefined && known.validity !== 'past';
        Object.assign(call, {before: known, renews: isUsable && publishOn.includes('budget'), version});
      }
    }
  }

  /** True if the value needs no call: it failed, or its answer is of this session or still fresh. */
  #holds(entry: LedgerEntry): entry is LedgerEntry & {readonly outcome: Outcome} {
    const {outcome} = entry;
    const {ledger, judge} = this.#options;
    if (outcome === undefined) return false;
    // A second call for a session token would only tell that it is redeemed.
    if (!isStorable(outcome) || operations[entry.operation].isRedeeming) return true;
    return ledger.isOfSession(entry) || judge(entry, outcome) === 'fresh';
  }

  /** Gives an outcome from the ledger to all rows that wait for it. */
  #deliver(calls: Map<string, Call>, {operation, key, waiters, entry}: Call, outcome: Outcome): void {
    calls.delete(key);
    this.#options.ledger.use(entry);
    if (!operations[operation].isRedeeming) this.#recent.set(key, outcome);
    for (const waiter of waiters) waiter.tell(outcome);
  }

  #tellRecent(waiter: Waiter): boolean {
    const outcome = this.#recent.get(waiter.lookup.key);
    if (outcome !== undefined) waiter.tell(outcome);
    return outcome !== undefined;
  }
}

/** The result without a call: the earlier answer, or `skipped` if none is usable. */
function withoutCall(before: KnownAnswer | undefined, reason: UnaskedCode): CellResult {
  if (before === undefined || before.validity === 'past') return {status: 'skipped', error: reason};
  return {...before.outcome, stale: reason};
}

/** True if the service rejects the value with the same code as before. This says nothing new about the service. */
function isKnownRejection({before}: Call, attempt: Attempt): boolean {
  const known = before?.outcome;
  return attempt.kind === 'rejected' && known?.status === 'failed' && attempt.code === known.error;
}

function latestFirst(...answers: readonly (Answer | undefined)[]): Answer[] {
  return answers.filter(answer => answer !== undefined).sort((a, b) => b.boughtAt - a.boughtAt);
}
