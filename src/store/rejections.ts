import type {KeptAnswer} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Operation} from '../operations/table.ts';
import type {AnswerStore} from './store.ts';

/**
 * Rejections since an operation's last answer. It takes an answer in the same run to know that the account is not refused
 * whatever it asks: only then a rejection is of its value, and is kept for other runs. A killed session leaves its own to
 * the next one.
 */
export class Rejections {
  readonly #store: AnswerStore;
  readonly #ledger: Ledger;
  readonly #waiting = new Map<Operation, KeptAnswer[]>();
  #dropped = 0;

  constructor(store: AnswerStore, ledger: Ledger) {
    this.#store = store;
    this.#ledger = ledger;
    for (const rejection of ledger.unjudged()) this.add(rejection, false);
  }

  /** Values that were told as rejected, and may not be. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The keys of values that were rejected since the operation's last answer. */
  waiting(operation: Operation): readonly string[] {
    return (this.#waiting.get(operation) ?? []).map(({key}) => key);
  }

  /** `isKnown`: the value was rejected so before. */
  add(rejection: KeptAnswer, isKnown: boolean): void {
    const waiting = this.#waiting.get(rejection.operation);
    if (isKnown) this.#keep(rejection);
    else if (waiting === undefined) this.#waiting.set(rejection.operation, [rejection]);
    else waiting.push(rejection);
  }

  /** They are of their values, as another value was answered. */
  keep(operation: Operation): void {
    for (const rejection of this.#take(operation)) this.#keep(rejection);
  }

  /** They may be of the account. Returns how many there were. */
  drop(operation: Operation): number {
    const dropped = this.#take(operation);
    for (const {key} of dropped) this.#ledger.judgeRejection(key, false);
    this.#dropped += dropped.length;
    return dropped.length;
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

  #take(operation: Operation): readonly KeptAnswer[] {
    const taken = this.#waiting.get(operation) ?? [];
    this.#waiting.delete(operation);
    return taken;
  }
}
