import type {Period, PeriodBudget} from '../account/period-budget.ts';
import type {Charge} from '../job/settings/cost.ts';
import {type Draw, spendingOf, type Tally} from './tally.ts';

export interface Limits {
  /** Most that may be spent, maybe spent and reserved together; in thousandths of a credit, as all money in here. */
  readonly maxCredits?: number | undefined;
  /** Budgets that this run shares with others: its account's of day and month. */
  readonly shared?: readonly PeriodBudget[] | undefined;
}

/** What a shared budget came to. */
export interface PeriodUse {
  readonly period: Period;
  readonly limit: number;
  readonly used: number;
}

/** The session that takes blocks of shared budgets, and what its run had taken of each limit before, by the limit's name. */
export interface Holding {
  readonly holder: string;
  readonly taken: Readonly<Record<string, number>>;
}

/** A limit of a run: its own, or a shared one. */
interface CreditLimit {
  /** By which the books have what the run took of it. */
  readonly name: string;
  /** Credits that may still be spent. */
  left(): number;
}

/** What calls in flight may cost, held against the run's limit and the shared ones: none is ever passed. */
export class Budget {
  readonly #run: CreditLimit | undefined;
  readonly #shared: readonly PeriodBudget[];
  readonly #books: Tally;
  /** Calls that have taken their credits and are not booked yet, by their keys. */
  readonly #inFlight = new Map<string, {readonly renews: boolean; readonly draws: readonly Draw[]}>();
  /** What this run took of a limit and what was left of it, together, when that was last read. */
  readonly #lastRoom = new Map<string, number>();
  #reserved = 0;
  #exhausted: PeriodBudget | undefined;
  #uses: readonly PeriodUse[] = [];
  #closed = false;

  constructor({maxCredits, shared = []}: Limits, books: Tally) {
    this.#books = books;
    this.#shared = shared;
    if (maxCredits !== undefined) this.#run = {name: 'run', left: () => maxCredits - this.committed};
  }

  /** What the next session needs to give back what a kill leaves of this one's blocks; undefined where there are none. */
  get holding(): Holding | undefined {
    const holder = this.#shared[0]?.holder;
    if (holder === undefined) return undefined;
    const taken = Object.entries(this.#books.draws).map(([name, draw]) => [name, draw.taken] as const);
    return {holder, taken: Object.fromEntries(taken)};
  }

  /** What the run took of a limit since then, by the limit's name. */
  takenSince({taken}: Holding): (name: string) => number {
    return name => (this.#books.draws[name]?.taken ?? 0) - (taken[name] ?? 0);
  }

  /** What is spent, maybe spent, and reserved for calls in flight; that of attempts that were given up included. */
  get committed(): number {
    const {spent, maybeSpent} = spendingOf(this.#books);
    return spent + maybeSpent + this.#reserved;
  }

  /**
   * True if every limit has room for `cost` more. A value that has an answer (`renews`) goes by half of each: values
   * without one get the other half, wherever they stand in the list.
   */
  affords(cost: number, renews = false): boolean {
    return this.#limits.every(limit => (renews ? this.#hasHalfFor(limit, cost) : cost <= limit.left()));
  }

  /** Reserves the credits of a call; false where they are more than {@link affords} allows. */
  take(key: string, cost: number, renews = false): boolean {
    this.#exhausted = undefined;
    if (renews && !this.affords(cost, renews)) return false;
    if (this.#run !== undefined && cost > this.#run.left()) return false;
    if (!this.#takeShared(key, cost)) return false;
    this.#reserved += cost;
    const draws = this.#limits.map(({name}) => this.#drawOf(name));
    book(draws, cost, renews);
    this.#inFlight.set(key, {renews, draws});
    return true;
  }

  /** Takes the credits from each shared budget, or from none of them. */
  #takeShared(key: string, cost: number): boolean {
    const taken: PeriodBudget[] = [];
    try {
      for (const budget of this.#shared) {
        this.#exhausted = budget;
        if (!budget.take(key, cost)) return false;
        taken.push(budget);
      }
      this.#exhausted = undefined;
      return true;
    } finally {
      if (taken.length < this.#shared.length) for (const budget of taken) budget.release(key, cost, 'free');
    }
  }

  /** The call is over: what it cost is booked from now on, and reserved no more. */
  release(key: string, cost: number, charge: Charge): void {
    this.#reserved -= cost;
    for (const budget of this.#shared) budget.release(key, cost, charge);
    const {renews, draws} = this.#inFlight.get(key) ?? {renews: false, draws: []};
    if (charge === 'free') book(draws, -cost, renews);
    this.#inFlight.delete(key);
  }

  /** The run's limit holds these credits again, for a call whose outcome came after all. */
  hold(cost: number): void {
    this.#reserved += cost;
  }

  /** No call is in flight any more. */
  clear(): void {
    this.#reserved = 0;
    this.#inFlight.clear();
  }

  /** The shared budget that the last reservation was refused for, where it was one. */
  get exhausted(): PeriodBudget | undefined {
    return this.#exhausted;
  }

  /** What the shared budgets came to. */
  get uses(): readonly PeriodUse[] {
    if (!this.#closed) this.#uses = this.#shared.map(useOf);
    return this.#uses;
  }

  /** Closes all shared budgets, then throws the first error of any of them. */
  close(): void {
    if (this.#closed) return;
    const errors: unknown[] = [];
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        errors.push(error);
      }
    };
    attempt(() => {
      this.#uses = this.uses;
    });
    this.#closed = true;
    for (const budget of this.#shared) attempt(() => budget.close());
    if (errors.length > 0) throw errors[0];
  }

  get #limits(): readonly CreditLimit[] {
    return this.#run === undefined ? this.#shared : [this.#run, ...this.#shared];
  }

  /** The run's own calls leave the room as it is, so it is read again only where it may suffice. */
  #hasHalfFor(limit: CreditLimit, cost: number): boolean {
    const {name} = limit;
    const {taken, renewed} = this.#drawOf(name);
    if (renewed + cost > (this.#lastRoom.get(name) ?? Number.POSITIVE_INFINITY) / 2) return false;
    const left = limit.left();
    this.#lastRoom.set(name, taken + left);
    return cost <= left && renewed + cost <= (taken + left) / 2;
  }

  #drawOf(name: string): Draw {
    const known = this.#books.draws[name];
    if (known !== undefined) return known;
    const draw = {taken: 0, renewed: 0};
    this.#books.draws[name] = draw;
    return draw;
  }
}

function book(draws: readonly Draw[], cost: number, renews: boolean): void {
  for (const draw of draws) {
    draw.taken += cost;
    if (renews) draw.renewed += cost;
  }
}

function useOf({period, maxCredits: limit, used}: PeriodBudget): PeriodUse {
  return {period, limit, used};
}
