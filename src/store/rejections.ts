import type {KeptAnswer} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Answer, LookupKey, Outcome} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {AnswerStore} from './store.ts';

/**
 * Rejections that arrived since an operation's last answer. Either their values are to blame, or the
 * service refuses the whole account. An answer to another value in the same run shows that the values are
 * to blame: then other runs may use the rejections. If a session ends before that and the run can resume,
 * the next session decides.
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

  /** Adds a rejection to judge later. Keeps it immediately if its value was rejected before (`isKnown`). */
  add(rejection: KeptAnswer, isKnown: boolean): void {
    const {operation, key} = rejection;
    const waiting = this.#waiting.get(operation);
    if (isKnown) this.#keep(rejection);
    else if (waiting === undefined) this.#waiting.set(operation, new Map([[key, rejection]]));
    else waiting.set(key, rejection);
  }

  /**
   * Returns the outcome as rows get it. A rejection that may still prove to be the account's fault is marked:
   * its `unjudged` is the value's key.
   */
  told<Kind extends Outcome>(
    {operation, key}: LookupKey,
    outcome: Kind,
  ): Kind | (Answer & {readonly unjudged: string}) {
    const waiting = this.#waiting.get(operation)?.get(key);
    return waiting === undefined ? outcome : {...waiting.outcome, unjudged: key};
  }

  /** True if a rejection is its value's fault, false if it may be the account's fault, undefined until judged. */
  isRejected({operation, key}: LookupKey): boolean | undefined {
    if (this.#waiting.get(operation)?.has(key) === true || !this.#ledger.isReadable) return undefined;
    const outcome = this.#ledger.find([key]).get(key)?.outcome;
    return outcome !== undefined && 'rejected' in outcome;
  }

  /**
   * Keeps an operation's rejections for other runs. Call it once another value of the operation was answered: this
   * shows that the rejected values are to blame, not the service.
   */
  keep(operation: Operation): void {
    for (const rejection of this.#take(operation).values()) this.#keep(rejection);
  }

  /** Makes an operation's rejections failures of this run only, and returns their number. */
  drop(operation: Operation): number {
    const dropped = this.#take(operation);
    for (const key of dropped.keys()) this.#ledger.judgeRejection(key, false);
    return dropped.size;
  }

  /** Judges the waiting rejections when no more calls follow. Drops those of operations without an answer. */
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
