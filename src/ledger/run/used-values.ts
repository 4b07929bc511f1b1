import {BitSet} from '../bit-set.ts';
import {isStorable, type Outcome} from '../lookup-outcome.ts';
import type {LedgerEntry} from './ledger-entry.ts';
import type {Tally} from './tally.ts';

/**
 * Counts the values that a session uses, each once. Knows them by the numbers of their rows in the ledger: a row with a
 * number above `last`, the last one when the session began, is the session's own. Takes a bit for each earlier row.
 */
export class UsedValues {
  readonly #tally: Tally;
  readonly #last: number;
  readonly #earlier = new BitSet();

  constructor(tally: Tally, last: number) {
    this.#tally = tally;
    this.#last = last;
  }

  has({id}: LedgerEntry): boolean {
    return id > this.#last || this.#earlier.has(id);
  }

  /** Counts a value, unless it is counted already. Returns true if it was not. */
  add(entry: LedgerEntry): boolean {
    if (entry.isUsed) return false;
    entry.isUsed = true;
    const {id, operation} = entry;
    if (id > 0 && id <= this.#last) this.#earlier.add(id);
    this.#tally.operations[operation].distinct += 1;
    return true;
  }

  /** Counts a value whose rows get the outcome in the ledger. */
  addKnown(entry: LedgerEntry): void {
    const {outcome, nth, sent, operation} = entry;
    if (!this.add(entry) || outcome === undefined) return;
    if (sent === 0 || (nth === null && outcome.status === 'ok')) this.countStored(operation, outcome);
    else if (outcome.status === 'ok') this.#tally.operations[operation].answered += 1;
  }

  /** Counts an answer from the store; no other outcome. */
  countStored(operation: LedgerEntry['operation'], outcome: Outcome): void {
    if (!isStorable(outcome)) return;
    const counts = this.#tally.operations[operation];
    counts.fromStore += 1;
    if (outcome.status === 'failed') counts.knownRejections += 1;
  }
}
