import type {DailyBudget} from './daily-budget.ts';
import type {Charge} from './lookup.ts';

export interface Limits {
  /** Most that may be spent, maybe spent and reserved together; in thousandths of a credit, as all money in here. */
  readonly maxCredits?: number | undefined;
  /** The job's budget of the day, where it has one. */
  readonly daily?: DailyBudget | undefined;
}

/** What calls in flight may cost, held against the run's limit and the day's: neither is ever passed. */
export class Budget {
  readonly #limits: Limits;
  /** What is spent and maybe spent by now. */
  readonly #spent: () => number;
  #reserved = 0;
  #reached: 'run' | 'day' | undefined;
  #dayUsed = 0;
  #closed = false;

  constructor(limits: Limits, spent: () => number) {
    this.#limits = limits;
    this.#spent = spent;
  }

  /** What is spent, maybe spent, and reserved for calls in flight; that of attempts that were given up included. */
  get committed(): number {
    return this.#spent() + this.#reserved;
  }

  /** Whether there is room for `cost` more. */
  affords(cost: number): boolean {
    return this.#runAffords(cost) && this.#limits.daily?.affords(cost) !== false;
  }

  /** Reserves the credits of a call; false where they are more than is left. */
  take(key: string, cost: number): boolean {
    this.#reached = undefined;
    if (!this.#runAffords(cost)) this.#reached = 'run';
    else if (this.#limits.daily?.take(key, cost) === false) this.#reached = 'day';
    else this.#reserved += cost;
    return this.#reached === undefined;
  }

  /** The call is over: what it cost is booked from now on, and reserved no more. */
  release(key: string, cost: number, charge: Charge): void {
    this.#reserved -= cost;
    this.#limits.daily?.settle(key, cost, charge === 'free');
  }

  /** The run's limit holds these credits again, for a call whose outcome came after all. */
  hold(cost: number): void {
    this.#reserved += cost;
  }

  /** No call is in flight any more. */
  clear(): void {
    this.#reserved = 0;
  }

  /** The day's budget, where it is what the last reservation was refused for. */
  get exhaustedDay(): DailyBudget | undefined {
    return this.#reached === 'day' ? this.#limits.daily : undefined;
  }

  /** What the job's budget of the day came to, where it has one. */
  get day(): {readonly limit: number; readonly used: number} | undefined {
    const {daily} = this.#limits;
    if (daily === undefined) return undefined;
    if (!this.#closed) this.#dayUsed = daily.used;
    return {limit: daily.maxCredits, used: this.#dayUsed};
  }

  close(): void {
    this.#dayUsed = this.#limits.daily?.used ?? 0;
    this.abandon();
  }

  /** Closes without reading what the day came to. */
  abandon(): void {
    this.#closed = true;
    this.#limits.daily?.close();
  }

  #runAffords(cost: number): boolean {
    const {maxCredits} = this.#limits;
    return maxCredits === undefined || this.committed + cost <= maxCredits;
  }
}
