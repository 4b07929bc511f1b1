import {randomUUID} from 'node:crypto';
import {emptyTally, type SpendingBy, spentSince, type Tally} from './tally.ts';

/** What one session of a run spent at one endpoint and account: the history has a line for each bill. */
export interface Bill {
  /** By which the history knows it: told twice, it is one line. */
  readonly id: string;
  /** What its line says beside the money, in the words of the code that opened it. */
  readonly about: unknown;
  /** When the last of it was booked, in milliseconds since the epoch. */
  readonly at: number;
  readonly by: SpendingBy;
}

/** The bill that calls are booked to. */
interface Open {
  readonly id: string;
  readonly about: unknown;
  /** The books when it was opened. */
  readonly before: SpendingBy;
  /** What the history has of it. */
  readonly told: SpendingBy | undefined;
}

/** As the ledger's file has them. */
export interface SavedBills {
  readonly open: Open;
  readonly ended: readonly Bill[];
}

/**
 * The bills of a run's sessions, until the history has them. A bill is what came to the books while it was open: what a
 * session leaves in flight at a kill is still its own.
 */
export class Bills {
  readonly #books: Tally;
  readonly #save: (bills: SavedBills) => void;
  #open: Open;
  #ended: readonly Bill[];

  /** `save` has to be durable on return. */
  constructor(books: Tally, saved: SavedBills | undefined, save: (bills: SavedBills) => void) {
    this.#books = books;
    this.#save = save;
    this.#open = saved?.open ?? opened(books, undefined);
    this.#ended = saved?.ended ?? [];
  }

  /** What is booked now is on this one: until {@link begin}, that of the session before. */
  get open(): Bill {
    const {id, about, before} = this.#open;
    return {id, about, at: this.#books.bookedAt, by: spentSince(this.#books, before)};
  }

  /** Those of which the history may not have everything. */
  get untold(): readonly Bill[] {
    const {open} = this;
    return isSame(open.by, this.#open.told ?? NOTHING) ? this.#ended : [...this.#ended, open];
  }

  /**
   * Ends the open bill, and opens another for what is booked from now on, once `restart` has the books begin anew. `about`:
   * what the history is to know of it.
   */
  begin(about: unknown, restart: () => void = () => {}): void {
    this.#ended = this.untold;
    restart();
    this.#open = opened(this.#books, about);
    this.#save({open: this.#open, ended: this.#ended});
  }

  /** The history has these now. */
  told(bills: readonly Bill[]): void {
    this.#ended = this.#ended.filter(bill => !bills.includes(bill));
    const open = bills.find(({id}) => id === this.#open.id);
    if (open !== undefined) this.#open = {...this.#open, told: open.by};
    this.#save({open: this.#open, ended: this.#ended});
  }
}

const NOTHING = spentSince(emptyTally(), undefined);

function isSame(one: SpendingBy, other: SpendingBy): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function opened(books: Tally, about: unknown): Open {
  return {id: randomUUID(), about, before: spentSince(books, undefined), told: undefined};
}
