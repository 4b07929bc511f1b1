import type {Charge} from '../../job/settings/cost.ts';
import type {Period, PeriodBudget} from '../account/period-budget.ts';
import {type Books, type Draw, nothingSpent, totalSpending} from './books.ts';
import type {Reservation} from './entry.ts';

export interface Limits {
  /**
   * Maximum for spent, maybe spent and reserved credits together. Money in this file is in thousandths of a credit.
   */
  readonly maxCredits?: number | undefined;
  /** The account's daily and monthly budgets. Other runs share them. */
  readonly shared?: readonly PeriodBudget[] | undefined;
}

export interface PeriodUse {
  readonly period: Period;
  readonly limit: number;
  readonly used: number;
  /** Credits that the count lacked when the session opened it, and that were added. */
  readonly lacked: number;
}

/** A session that takes credits of shared budgets, in blocks. */
export interface Holding {
  readonly holder: string;
  /** By a limit's name: the credits that the run had taken of it when this was saved. */
  readonly taken: Readonly<Record<string, number>>;
}

interface CreditLimit {
  /** Key of the limit in `Books.draws`, which counts the credits that the run took of each limit. */
  readonly name: string;
  left(): number;
}

/** Reserves the credits of each call, from the run's own limit and the shared ones. No limit is ever exceeded. */
export class Budget {
  readonly #run: CreditLimit | undefined;
  readonly #shared: readonly PeriodBudget[];
  readonly #books: Books;
  /** Number of the endpoint and account whose spending counts. */
  readonly #scope: number;
  /**
   * By a limit's name: the credits that the run took plus those left, when the limit was last read. Renewals
   * may use half of this sum.
   */
  readonly #lastRoom = new Map<string, number>();
  #reserved = 0;
  #exhausted: PeriodBudget | undefined;
  #uses: readonly PeriodUse[] = [];
  #closed = false;

  constructor({maxCredits, shared = []}: Limits, books: Books, scope: number) {
    this.#books = books;
    this.#scope = scope;
    this.#shared = shared;
    if (maxCredits !== undefined) this.#run = {name: 'run', left: () => maxCredits - this.committed};
  }

  /**
   * This session's part of the shared budgets; undefined without any. It is saved, so that after a kill the next
   * session can give back the unspent credits.
   */
  get holding(): Holding | undefined {
    const holder = this.#shared[0]?.holder;
    if (holder === undefined) return undefined;
    const taken = Object.entries(this.#books.draws).map(([name, draw]) => [name, draw.taken] as const);
    return {holder, taken: Object.fromEntries(taken)};
  }

  /** Returns a function from a limit's name to the credits that the run took of it since `taken` was saved. */
  takenSince({taken}: Holding): (name: string) => number {
    return name => (this.#books.draws[name]?.taken ?? 0) - (taken[name] ?? 0);
  }

  /** Spent, maybe spent and reserved credits since the count began. */
  get committed(): number {
    const {spent, maybeSpent} = totalSpending(this.#books.spending[this.#scope] ?? nothingSpent());
    return spent + maybeSpent + this.#reserved;
  }

  /**
   * True if every limit has room for `cost`. Renewals of known answers (`renews`) may use only half of each limit.
   * The other half is left for values without an answer, which may be at the end of the list.
   */
  affords(cost: number, renews = false): boolean {
    return this.#limits.every(limit => (renews ? this.#hasHalfFor(limit, cost) : cost <= limit.left()));
  }

  /** Reserves the credits of a call. Returns the names of the limits that they are of; undefined without room in one. */
  take(cost: number, renews = false): readonly string[] | undefined {
    this.#exhausted = undefined;
    if (renews && !this.affords(cost, renews)) return undefined;
    if (this.#run !== undefined && cost > this.#run.left()) return undefined;
    if (!this.#takeShared(cost)) return undefined;
    const names = this.#limits.map(({name}) => name);
    this.#reserved += cost;
    this.#draw(names, cost, renews);
    return names;
  }

  /** Takes the credits of a call from all shared budgets, or from none. */
  #takeShared(cost: number): boolean {
    const taken: PeriodBudget[] = [];
    try {
      for (const budget of this.#shared) {
        this.#exhausted = budget;
        if (!budget.take(cost)) return false;
        taken.push(budget);
      }
      this.#exhausted = undefined;
      return true;
    } finally {
      if (taken.length < this.#shared.length) for (const budget of taken) budget.refund(budget.name, cost);
    }
  }

  /** Ends the reservation of a call, whose credits are of the limits `names`. A free call gives them back. */
  release(names: readonly string[], {cost, renews = false}: Reservation, charge: Charge): void {
    this.#reserved -= cost;
    if (charge !== 'free') return;
    this.#draw(names, -cost, renews);
    for (const budget of this.#shared) for (const name of names) budget.refund(name, cost);
  }

  /** The shared budget that refused the last reservation; undefined if none did. */
  get exhausted(): PeriodBudget | undefined {
    return this.#exhausted;
  }

  get uses(): readonly PeriodUse[] {
    if (!this.#closed)
      this.#uses = this.#shared.map(({period, maxCredits, used, lacked}) => ({
        period,
        limit: maxCredits,
        used,
        lacked,
      }));
    return this.#uses;
  }

  /** Closes all shared budgets, then throws the first error of theirs. */
  close(): void {
    if (this.#closed) return;
    const read = () => {
      this.#uses = this.uses;
    };
    const [error] = attemptAll([read]);
    this.#closed = true;
    const errors = attemptAll(this.#shared.map(budget => () => budget.close()));
    if (error !== undefined || errors.length > 0) throw error ?? errors[0];
  }

  get #limits(): readonly CreditLimit[] {
    return this.#run === undefined ? this.#shared : [this.#run, ...this.#shared];
  }

  /**
   * True if the limit has room for a renewal of this cost, and all renewals together take at most half of the
   * run's share. The share is the credits that the run took plus those that remain: the run's own calls don't
   * change it. If the share as last read has no room for the renewal, the limit is not read again.
   */
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

  #draw(names: readonly string[], cost: number, renews: boolean): void {
    for (const name of names) {
      const draw = this.#drawOf(name);
      draw.taken += cost;
      if (renews) draw.renewed += cost;
    }
  }
}

/** Does all of the work, though some of it fails. Returns the errors. */
export function attemptAll(all: readonly (() => void)[]): unknown[] {
  return all.flatMap(work => {
    try {
      work();
      return [];
    } catch (error) {
      return [error];
    }
  });
}
