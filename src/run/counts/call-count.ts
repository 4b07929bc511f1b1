import type {AnswerStore} from '../../ledger/answers/store.ts';
import type {KnownAnswer} from '../../ledger/answers/validity.ts';
import {type Lookup, TokenOccurrences} from '../../ledger/lookup-outcome.ts';
import {DistinctKeys} from '../../ledger/run/distinct-keys.ts';
import {operationNames, operations, perOperation} from '../../operations/table.ts';

/** Counts distinct lookups, and the calls that they need. */
export class CallCount {
  /** Cost of the calls, in thousandths of a credit. */
  cost = 0;
  /** `known` counts the distinct lookups with a fresh answer in the store. */
  readonly operations = perOperation(() => ({distinct: 0, known: 0, calls: 0}));
  readonly see: (calls: readonly Lookup[], stored: ReadonlyMap<string, KnownAnswer> | undefined) => void;
  readonly #keys = new DistinctKeys();
  readonly #occurrences = new TokenOccurrences();
  readonly #store: AnswerStore;
  readonly #costOf: (lookup: Lookup) => number;

  /** `costOf`: cost of a call, in thousandths of a credit. `see`: called with each call, and the value's earlier answer. */
  constructor(store: AnswerStore, costOf: (lookup: Lookup) => number, see: CallCount['see'] = () => {}) {
    this.#store = store;
    this.#costOf = costOf;
    this.see = see;
  }

  add(lookups: readonly Lookup[]): void {
    const isTaken = (key: string) => this.#keys.fresh([{key}]).length === 0;
    const isRedeeming = ({operation}: Lookup) => operations[operation].isRedeeming;
    const fresh = [
      ...this.#keys.fresh(lookups.filter(lookup => !isRedeeming(lookup))),
      ...lookups.filter(isRedeeming).map(lookup => this.#occurrences.next(lookup, isTaken)),
    ];
    for (const operation of operationNames) {
      const distinct = fresh.filter(lookup => lookup.operation === operation);
      if (distinct.length === 0) continue;
      const keys = distinct.map(lookup => lookup.key);
      const stored = this.#store.find(keys, operation);
      const unknown = distinct.filter(({key}) => stored?.get(key)?.validity !== 'fresh');
      const counts = this.operations[operation];
      counts.distinct += distinct.length;
      counts.known += distinct.length - unknown.length;
      counts.calls += unknown.length;
      for (const lookup of unknown) this.cost += this.#costOf(lookup);
      this.see(unknown, stored);
    }
  }

  close(): void {
    this.#keys.close();
  }
}
