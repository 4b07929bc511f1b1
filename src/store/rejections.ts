import type {Ledger} from '../ledger/ledger.ts';
import type {LastingOutcome, LookupKey, Rejection, UnjudgedOutcome} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {AnswerStore} from './store.ts';

/**
 * Rejections since an operation's last answer. It takes an answer in the same run to know that the account is not refused
 * whatever it asks: only then a rejection is of its value, and is kept for other runs. A session that the same command
 * continues leaves its own to the next one.
 */
export class Rejections {
  readonly #store: AnswerStore;
  readonly #ledger: Ledger;
  readonly #waiting = new Map<Operation, Map<string, Rejection>>();

  constructor(store: AnswerStore, ledger: Ledger) {
    this.#store = store;
    this.#ledger = ledger;
    for (const {operation, key, outcome} of ledger.unjudged())
      if (outcome.status !== 'ok') this.add({operation, key}, outcome, false);
  }

  /** `isKnown`: the value was rejected so before. */
  add({operation, key}: LookupKey, outcome: Rejection, isKnown: boolean): void {
    const waiting = this.#waiting.get(operation);
    if (isKnown) this.#keep({operation, key}, outcome);
    else if (waiting === undefined) this.#waiting.set(operation, new Map([[key, outcome]]));
    else waiting.set(key, outcome);
  }

  /** Returns the outcome as rows are told it. */
  told<Kind extends LastingOutcome>({operation, key}: LookupKey, outcome: Kind): Kind | UnjudgedOutcome {
    const waiting = this.#waiting.get(operation)?.get(key);
    return waiting === undefined ? outcome : {...waiting, unjudged: key};
  }

  /** True if a value that was told as rejected is known to be; false if that may be the account's fault; undefined until it is judged. */
  isRejected({operation, key}: LookupKey): boolean | undefined {
    if (this.#waiting.get(operation)?.has(key) === true || !this.#ledger.isReadable) return undefined;
    const outcome = this.#ledger.find([key]).get(key)?.outcome;
    return outcome !== undefined && 'rejected' in outcome;
  }

  /** They are of their values, as another value was answered. */
  keep(operation: Operation): void {
    for (const [key, outcome] of this.#take(operation)) this.#keep({operation, key}, outcome);
  }

  /** They may be of the account. Returns how many there were. */
  drop(operation: Operation): number {
    const dropped = this.#take(operation);
    for (const key of dropped.keys()) this.#ledger.judgeRejection(key, false);
    return dropped.size;
  }

  /** No more calls are made. Tells of values that were rejected while nothing was answered. */
  end(onDrop: (operation: Operation, count: number) => void): void {
    for (const operation of [...this.#waiting.keys()])
      if (this.#ledger.tally.operations[operation].answered > 0) this.keep(operation);
      else onDrop(operation, this.drop(operation));
  }

  #keep(lookup: LookupKey, outcome: Rejection): void {
    this.#ledger.judgeRejection(lookup.key, true);
    this.#store.put(lookup, outcome);
  }

  #take(operation: Operation): ReadonlyMap<string, Rejection> {
    const taken = this.#waiting.get(operation);
    this.#waiting.delete(operation);
    return taken ?? new Map();
  }
}
