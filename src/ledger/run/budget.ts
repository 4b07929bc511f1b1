import type {ChargeKind} from '../../job/settings/cost.ts';
import type {AccountBudget, ExhaustedLimit} from '../account/account-budget.ts';
import type {LedgerEntry, Reservation} from './ledger-entry.ts';
import {type RunCounts, totalSpending} from './tally.ts';

export interface CreditLimits {
  /** Maximum of spent, maybe spent and reserved credits, in thousandths of a credit, as all money in this file. */
  readonly maxCredits?: number | undefined;
  /** The account's limits of a day and a month. Other runs share them. */
  readonly account?: AccountBudget | undefined;
}

/** Reserves the credits of calls, from the run's own limit and the account's. No limit is ever exceeded. */
export class Budget {
  readonly account: AccountBudget | undefined;
  readonly #maxCredits: number;
  readonly #counts: RunCounts;
  /** Credits of the calls in flight, and the part of them that renews known answers. */
  #reserved = 0;
  #renewing = 0;
  /** Credits of calls that are about to be taken from the account's limits. */
  #taking = 0;
  /** The account's limit that refused the last call; undefined if none did. */
  exhausted: ExhaustedLimit | undefined;

  /** `counts`: what the run has spent, as it is now. */
  constructor({maxCredits = Number.POSITIVE_INFINITY, account}: CreditLimits, counts: RunCounts) {
    this.#counts = counts;
    this.account = account;
    this.#maxCredits = maxCredits;
  }

  /** Spent, maybe spent and reserved credits since the count began, but for answers that have expired since. */
  get committed(): number {
    const {spent, maybeSpent} = totalSpending(this.#counts.spending);
    return spent + maybeSpent + this.#reserved - this.#counts.expired;
  }

  /**
   * Credits that all limits leave; infinite without a limit. Renewals of known answers (`renews`) get at most half of the
   * run's share of each limit, which is what the run took and what remains: its own calls don't change it. The other half
   * is left for values without an answer, which may be at the end of the list.
   */
  left(renews = false): number {
    const {account, committed} = this;
    const own = this.#maxCredits - committed;
    const all =
      account === undefined
        ? [own]
        : [own, ...account.limits.map(limit => account.left(limit) - this.#taking)];
    const left = Math.min(...all);
    const renewed = this.#counts.renewed + this.#renewing;
    return renews ? Math.min(left, (committed + left) / 2 - renewed) : left;
  }

  /** Reserves the credits of calls, in order. Returns how many all limits have room for. */
  reserve(batch: readonly Reservation[]): number {
    if (batch.length === 0) return 0;
    const short = batch.findIndex(call => !this.#takeOwn(call));
    const own = short === -1 ? batch : batch.slice(0, short);
    let granted = 0;
    try {
      granted = own.length === 0 ? 0 : (this.account?.take(own.map(({cost}) => cost)) ?? own.length);
    } finally {
      this.#taking = 0;
      for (const call of own.slice(granted)) this.#giveOwn(call);
    }
    this.exhausted = granted < own.length ? this.account?.exhausted : undefined;
    const reservedAt = this.account?.now();
    if (reservedAt !== undefined) for (const call of own.slice(0, granted)) call.reservedAt = reservedAt;
    return granted;
  }

  /** Ends the reservation of a call. A free call gives its credits back. */
  release(call: Reservation, charge: ChargeKind): void {
    this.#giveOwn(call);
    if (charge === 'free') this.account?.refund(call.cost, call.reservedAt ?? 0);
  }

  close(): void {
    this.account?.close();
  }

  #takeOwn({cost, renews = false}: Reservation): boolean {
    if (this.committed + cost > this.#maxCredits || (renews && cost > this.left(renews))) return false;
    this.#reserved += cost;
    this.#taking += cost;
    if (renews) this.#renewing += cost;
    return true;
  }

  #giveOwn({cost, renews = false}: Reservation): void {
    this.#reserved -= cost;
    if (renews) this.#renewing -= cost;
  }
}

/** Later than all runs before: this one has asked for the value. */
const NOW = Number.MAX_SAFE_INTEGER;

/** When a value was last asked for: by this run, or at the time that the store has of an earlier one; 0 for never. */
export function lastAsked(entry: LedgerEntry | undefined, askedAt = 0): number {
  return entry !== undefined && entry.sendOrder > 0 ? NOW : askedAt;
}

/**
 * Shares the credits of a run that can't buy all of its list: values that no run has asked for come first, then those that
 * runs asked for longest ago, whatever came of it. Within a run, in the order of the list. Memory is flat: each run that
 * asked has one time.
 */
export class CreditTurns {
  /** Cost of the values that need calls, by the time of the run that last asked for them (0: none did). */
  readonly #costs = new Map<number, number>();
  /** Values that were asked for before this time have their turn, those of this time as long as credits are left. */
  #last = Number.POSITIVE_INFINITY;
  #left = 0;

  /** Adds a value that needs a call. Money is in thousandths of a credit. */
  add(askedAt: number, cost: number): void {
    this.#costs.set(askedAt, (this.#costs.get(askedAt) ?? 0) + cost);
  }

  /** Shares `credits` among the values that were added. Returns what is left of them. */
  share(credits: number): number {
    let left = credits;
    for (const [askedAt, cost] of [...this.#costs].sort(([a], [b]) => a - b)) {
      if (cost > left) {
        this.#last = askedAt;
        this.#left = left;
        return 0;
      }
      left -= cost;
    }
    return left;
  }

  /** Takes the credits of a value. Returns false if its turn comes in a later run. */
  take(askedAt: number, cost: number): boolean {
    if (askedAt !== this.#last) return askedAt < this.#last;
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
