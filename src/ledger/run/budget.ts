import type {Sqlite} from '../../disk/sqlite.ts';
import type {ChargeKind} from '../../job/settings/cost.ts';
import type {PeriodBudget} from '../account/period-budget.ts';
import type {Reservation} from './ledger-entry.ts';
import {readMeta, toChecksummedJson, writeMeta} from './ledger-file.ts';
import {type RunCounts, totalSpending} from './tally.ts';

export interface CreditLimits {
  /**
   * Maximum for spent, maybe spent and reserved credits together. Money in this file is in thousandths of a credit.
   */
  readonly maxCredits?: number | undefined;
  /** The account's daily and monthly budgets. Other runs share them. */
  readonly shared?: readonly PeriodBudget[] | undefined;
}

/** A limit of the run, or a period's. */
interface CreditLimit {
  /** A period's name changes when the next period begins. */
  readonly name: string;
  left(): number;
}

/** Reserves the credits of each call, from the run's own limit and the shared ones. No limit is ever exceeded. */
export class Budget {
  readonly #run: CreditLimit | undefined;
  readonly shared: readonly PeriodBudget[];
  readonly #counts: RunCounts;
  /** The run's credits plus those left, by a limit's name, when the limit was last read. */
  readonly #shares = new Map<string, number>();
  /** Credits of the calls in flight, and the part of them that renews known answers. */
  #reserved = 0;
  #renewing = 0;
  /** The shared budget that refused the last reservation; undefined if none did. */
  exhausted: PeriodBudget | undefined;

  /** `counts`: what the run has spent, as it is now. */
  constructor({maxCredits, shared = []}: CreditLimits, counts: RunCounts) {
    this.#counts = counts;
    this.shared = shared;
    if (maxCredits !== undefined) this.#run = {name: 'run', left: () => maxCredits - this.committed};
  }

  /** The session, as the shared budgets know it; undefined without any. */
  get holder(): string | undefined {
    return this.shared[0]?.holder;
  }

  /** Spent, maybe spent and reserved credits since the count began, but for answers that have expired since. */
  get committed(): number {
    return this.spent + this.#reserved - this.#counts.expired;
  }

  /** Spent and maybe spent credits since the count began. */
  get spent(): number {
    const {spent, maybeSpent} = totalSpending(this.#counts.spending);
    return spent + maybeSpent;
  }

  /**
   * True if every limit has room for `cost`. Renewals of known answers (`renews`) may use only half of each limit.
   * The other half is left for values without an answer, which may be at the end of the list.
   */
  affords(cost: number, renews = false): boolean {
    return this.#limits.every(limit => (renews ? this.#hasHalfFor(limit, cost) : cost <= limit.left()));
  }

  /** Credits that all limits leave for values, or for renewals of known answers; infinite without a limit. */
  left(renews = false): number {
    const {renewed} = this.#counts;
    return this.#limits.reduce((least, limit) => {
      const left = limit.left();
      return Math.min(least, renews ? (this.committed + left) / 2 - renewed - this.#renewing : left);
    }, Number.POSITIVE_INFINITY);
  }

  /** Reserves the credits of a call. Returns the names of the shared limits; undefined without room in a limit. */
  take({cost, renews = false}: Pick<Reservation, 'cost' | 'renews'>): readonly string[] | undefined {
    this.exhausted = undefined;
    if (renews && !this.affords(cost, renews)) return undefined;
    if (this.#run !== undefined && cost > this.#run.left()) return undefined;
    if (!this.#takeShared(cost)) return undefined;
    this.#reserved += cost;
    if (renews) this.#renewing += cost;
    return this.shared.map(({name}) => name);
  }

  /** Takes the credits of a call from all shared budgets, or from none. */
  #takeShared(cost: number): boolean {
    const taken: PeriodBudget[] = [];
    try {
      for (const budget of this.shared) {
        this.exhausted = budget;
        if (!budget.take(cost)) return false;
        taken.push(budget);
      }
      this.exhausted = undefined;
      return true;
    } finally {
      if (taken.length < this.shared.length) for (const budget of taken) budget.refund(budget.name, cost);
    }
  }

  /** Ends the reservation of a call. A free call gives its credits back. */
  release({cost, renews = false, limits = []}: Reservation, charge: ChargeKind): void {
    this.#reserved -= cost;
    if (renews) this.#renewing -= cost;
    if (charge !== 'free') return;
    for (const budget of this.shared) for (const name of limits) budget.refund(name, cost);
  }

  /** Closes all shared budgets, then throws the first error of theirs. */
  close(): void {
    const [error] = collectErrors(this.shared.map(budget => () => budget.close()));
    if (error !== undefined) throw error;
  }

  get #limits(): readonly CreditLimit[] {
    return this.#run === undefined ? this.shared : [this.#run, ...this.shared];
  }

  /**
   * True if the limit has room for a renewal of this cost, and all renewals together take at most half of the
   * run's share. The share is the credits that the run took plus those that remain: the run's own calls don't
   * change it. If the share as last read has no room for the renewal, the limit is not read again.
   */
  #hasHalfFor(limit: CreditLimit, cost: number): boolean {
    const {name} = limit;
    const renewed = this.#counts.renewed + this.#renewing + cost;
    const isWithin = (share: number) => renewed <= share / 2;
    if (!isWithin(this.#shares.get(name) ?? Number.POSITIVE_INFINITY)) return false;
    const left = limit.left();
    this.#shares.set(name, this.committed + left);
    return cost <= left && isWithin(this.committed + left);
  }
}

/** Does all of the work, though some of it fails. Returns the errors. */
export function collectErrors(all: readonly (() => void)[]): unknown[] {
  return all.flatMap(work => {
    try {
      work();
      return [];
    } catch (error) {
      return [error];
    }
  });
}

/** A session that takes credits of shared budgets, in blocks. */
interface Holding {
  readonly holder: string;
  /** The run's credits, spent and maybe spent, when it began. */
  readonly before: number;
}

/** Returns unspent credits of the killed session `holder` to budgets. `spent`: the credits that it spent. */
export type RefundKilledSession = (holder: string, spent: number) => void;

/** Gives back the unspent credits of a killed session. */
export function refundKilledSession(
  db: Sqlite,
  {spending}: RunCounts,
  giveBack: RefundKilledSession | undefined,
): void {
  const last = readMeta<Holding>(db, 'holding');
  if (last === undefined) return;
  const {spent, maybeSpent} = totalSpending(spending);
  giveBack?.(last.holder, spent + maybeSpent - last.before);
}

/** Saves by which the next session sees, after a kill, how much of its blocks this one spent. */
export function saveBudgetHolder(db: Sqlite, holding: Holding): void {
  writeMeta(db, 'holding', toChecksummedJson(holding));
}
