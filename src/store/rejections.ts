import type {KeptAnswer} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Answer, LookupKey, Outcome} from '../ledger/lookup.ts';
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
  readonly #waiting = new Map<Operation, Map<string, KeptAnswer>>();

  constructor(store: AnswerStore, ledger: Ledger) {
    this.#store = store;
    this.#ledger = ledger;
    for (const rejection of ledger.unjudged()) this.add(rejection, false);
  }

  /** `isKnown`: the value was rejected so before. */
  add(rejection: KeptAnswer, isKnown: boolean): void {
    const {operation, key} = rejection;
    const waiting = this.#waiting.get(operation);
    if (isKnown) this.#keep(rejection);
    else if (waiting === undefined) this.#waiting.set(operation, new Map([[key, rejection]]));
    else waiting.set(key, rejection);
  }

  /** Returns the outcome as rows are told it. */
  told<Kind extends Outcome>(
    {operation, key}: LookupKey,
    outcome: Kind,
  ): Kind | (Answer & {readonly unjudged: string}) {
    const waiting = this.#waiting.get(operation)?.get(key);
    return waiting === undefined ? outcome : {...waiting.outcome, unjudged: key};
  }

  /** True if a value that was told as rejected is known to be; false if that may be the account's fault; undefined until it is judged. */
  isRejected({operation, key}: LookupKey): boolean | undefined {
    if (this.#waiting.get(operation)?.has(key) === true || !this.#ledger.isReadable) return undefined;
    const outcome = this.#ledger.find([key]).get(key)?.outcome;
    return outcome !== undefined && 'rejected' in outcome;
  }

  /** They are of their values, as another value was answered. */
  keep(operation: Operation): void {
    for (const rejection of this.#take(operation).values()) this.#keep(rejection);
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

  #keep(rejection: KeptAnswer): void {
    this.#ledger.judgeRejection(rejection.key, true);
    this.#store.put(rejection);
  }

  #take(operation: Operation): ReadonlyMap<string, KeptAnswer> {
    const taken = this.#waiting.get(operation);
    this.#waiting.delete(operation);
    return taken ?? new Map();
  }
}
