import type {Period, PeriodBudget} from './account/period-budget.ts';
import type {Charge} from './lookup.ts';

export interface Limits {
  /** Most that may be spent, maybe spent and reserved together; in thousandths of a credit, as all money in here. */
  readonly maxCredits?: number | undefined;
  /** Budgets that this run shares with others: the job's of the day, the account's of day and month. */
  readonly shared?: readonly PeriodBudget[] | undefined;
}

/** What a shared budget came to. */
export interface PeriodUse {
  readonly owner: string;
  readonly period: Period;
  readonly limit: number;
  readonly used: number;
}

/** What calls in flight may cost, held against the run's limit and the shared ones: none is ever passed. */
export class Budget {
  readonly #maxCredits: number | undefined;
  readonly #shared: readonly PeriodBudget[];
  /** What is spent and maybe spent by now. */
  readonly #spent: () => number;
  #reserved = 0;
  #exhausted: PeriodBudget | undefined;
  #uses: readonly PeriodUse[] = [];
  #closed = false;

  constructor({maxCredits, shared = []}: Limits, spent: () => number) {
    this.#maxCredits = maxCredits;
    this.#shared = shared;
    this.#spent = spent;
  }

  /** What is spent, maybe spent, and reserved for calls in flight; that of attempts that were given up included. */
  get committed(): number {
    return this.#spent() + this.#reserved;
  }

  /** Whether there is room for `cost` more. */
  affords(cost: number): boolean {
    return this.#runAffords(cost) && this.#shared.every(budget => budget.affords(cost));
  }

  /** Reserves the credits of a call; false where they are more than is left. */
  take(key: string, cost: number): boolean {
    this.#exhausted = undefined;
    if (!this.#runAffords(cost)) return false;
    for (const [index, budget] of this.#shared.entries()) {
      if (budget.take(key, cost)) continue;
      for (const taken of this.#shared.slice(0, index)) taken.settle(key, cost, true);
      this.#exhausted = budget;
      return false;
    }
    this.#reserved += cost;
    return true;
  }

  /** The call is over: what it cost is booked from now on, and reserved no more. */
  release(key: string, cost: number, charge: Charge): void {
    this.#reserved -= cost;
    for (const budget of this.#shared) budget.settle(key, cost, charge === 'free');
  }

  /** The run's limit holds these credits again, for a call whose outcome came after all. */
  hold(cost: number): void {
    this.#reserved += cost;
  }

  /** No call is in flight any more. */
  clear(): void {
    this.#reserved = 0;
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

  close(): void {
    this.#uses = this.#shared.map(useOf);
    this.abandon();
  }

  /** Closes without reading what the shared budgets came to. */
  abandon(): void {
    this.#closed = true;
    for (const budget of this.#shared) budget.close();
  }

  #runAffords(cost: number): boolean {
    return this.#maxCredits === undefined || this.committed + cost <= this.#maxCredits;
  }
}

function useOf({owner, period, maxCredits: limit, used}: PeriodBudget): PeriodUse {
  return {owner, period, limit, used};
}
