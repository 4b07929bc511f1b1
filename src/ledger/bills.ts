import {randomUUID} from 'node:crypto';
import {type Books, nothingSpent, type SpendingBy, spentSince} from './books.ts';

/**
 * The spending of one session of a run at one endpoint and account. The history of runs has one line for each bill.
 */
export interface Bill {
  /** Identifies the bill. If the history gets a bill twice, it keeps one line. */
  readonly id: string;
  /** Facts for the bill's line in the history, without the money; known when the bill is opened. */
  readonly about: unknown;
  /** Time of the last booking, in milliseconds since the epoch. */
  readonly at: number;
  readonly by: SpendingBy;
}

interface Open {
  readonly id: string;
  readonly about: unknown;
  /** Number of the endpoint and account that the bill is of. */
  readonly scope: number;
  /** Calls and credits, by operation, that the run had counted there when this bill was opened. */
  readonly before: SpendingBy;
  /** The part of the bill that the history of runs already has. */
  readonly told: SpendingBy | undefined;
}

export interface SavedBills {
  readonly open: Open;
  readonly ended: readonly Bill[];
}

/**
 * The bills of a run's sessions, until the history of runs has them. A bill counts the calls and credits that were
 * booked since it was opened. If a session is killed, the next session books the calls in flight before it opens
 * its own bill. So these calls are on the killed session's bill.
 */
export class Bills {
  readonly #books: Books;
  readonly #save: (bills: SavedBills) => void;
  readonly #scope: number;
  #open: Open;
  #ended: readonly Bill[];

  /** `save` writes the bills to the disk before it returns. `scope`: number of the session's endpoint and account. */
  constructor(books: Books, scope: number, saved: SavedBills | undefined, save: (bills: SavedBills) => void) {
    this.#books = books;
    this.#scope = scope;
    this.#save = save;
    this.#open = saved?.open ?? this.#opened(undefined);
    this.#ended = saved?.ended ?? [];
  }

  /** The bill that bookings go to. Until {@link begin} it is the last session's bill, then this session's. */
  get open(): Bill {
    const {id, about, scope, before} = this.#open;
    const by = spentSince(this.#books.spending[scope] ?? nothingSpent(), before);
    return {id, about, at: this.#books.bookedAt, by};
  }

  /** Bills that the history may not have in full. */
  get untold(): readonly Bill[] {
    const {open} = this;
    const isTold = JSON.stringify(open.by) === JSON.stringify(this.#open.told ?? nothingSpent());
    return isTold ? this.#ended : [...this.#ended, open];
  }

  /** Ends the open bill, runs `recount`, which may reset the counts, and opens a bill with the facts `about`. */
  begin(about: unknown, recount: () => void = () => {}): void {
    this.#ended = this.untold;
    recount();
    this.#open = this.#opened(about);
    this.#save({open: this.#open, ended: this.#ended});
  }

  /** Notes that the history has these bills. */
  told(bills: readonly Bill[]): void {
    this.#ended = this.#ended.filter(bill => !bills.includes(bill));
    const open = bills.find(({id}) => id === this.#open.id);
    if (open !== undefined) this.#open = {...this.#open, told: open.by};
    this.#save({open: this.#open, ended: this.#ended});
  }

  #opened(about: unknown): Open {
    const before = this.#books.spending[this.#scope] ?? nothingSpent();
    return {id: randomUUID(), about, scope: this.#scope, before, told: undefined};
  }
}
