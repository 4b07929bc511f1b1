import type {Ledger} from '../ledger/ledger.ts';
import type {LookupKey, StoredOutcome} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {AnswerStore} from './store.ts';

interface Rejection {
  readonly lookup: LookupKey;
  readonly outcome: StoredOutcome;
}

/**
 * Rejections since an operation's last answer. It takes an answer in the same run to know that the account is not refused
 * whatever it asks: only then a rejection is of its value, and is kept for other runs. A killed session leaves its own to
 * the next one.
 */
export class Rejections {
  readonly #store: AnswerStore;
  readonly #ledger: Ledger;
  readonly #waiting = new Map<Operation, Rejection[]>();
  #dropped = 0;

  constructor(store: AnswerStore, ledger: Ledger) {
    this.#store = store;
    this.#ledger = ledger;
    for (const {operation, key, outcome} of ledger.unjudged()) this.add({operation, key}, outcome, false);
  }

  /** Values that were told as rejected, and may not be. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The keys of values that were rejected since the operation's last answer. */
  waiting(operation: Operation): readonly string[] {
    return (this.#waiting.get(operation) ?? []).map(({lookup}) => lookup.key);
  }

  /** `isKnown`: the value was rejected so before. */
  add(lookup: LookupKey, outcome: StoredOutcome, isKnown: boolean): void {
    const waiting = this.#waiting.get(lookup.operation);
    if (isKnown) this.#keep({lookup, outcome});
    else if (waiting === undefined) this.#waiting.set(lookup.operation, [{lookup, outcome}]);
    else waiting.push({lookup, outcome});
  }

  /** They are of their values, as another value was answered. */
  keep(operation: Operation): void {
    for (const rejection of this.#take(operation)) this.#keep(rejection);
  }

  /** They may be of the account. Returns how many there were. */
  drop(operation: Operation): number {
    const dropped = this.#take(operation);
    for (const {lookup} of dropped) this.#ledger.judgeRejection(lookup.key, false);
    this.#dropped += dropped.length;
    return dropped.length;
  }

  /** No more calls are made. Tells of values that were rejected while nothing was answered. */
  end(onDrop: (operation: Operation, count: number) => void): void {
    for (const operation of [...this.#waiting.keys()])
      if (this.#ledger.tally.operations[operation].answered > 0) this.keep(operation);
      else onDrop(operation, this.drop(operation));
  }

  #keep({lookup, outcome}: Rejection): void {
    this.#ledger.judgeRejection(lookup.key, true);
    this.#store.put(lookup, outcome);
  }

  #take(operation: Operation): readonly Rejection[] {
    const taken = this.#waiting.get(operation) ?? [];
    this.#waiting.delete(operation);
    return taken;
  }
}
