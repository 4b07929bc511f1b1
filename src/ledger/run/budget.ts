import type {ChargeKind} from '../../job/settings/cost.ts';
import type {AccountBudget, ExhaustedLimit} from '../account/account-budget.ts';
import type {Reservation} from './ledger-entry.ts';
import {type RunCounts, totalSpending} from './tally.ts';

export interface CreditLimits {
  /**
   * Maximum for spent, maybe spent and reserved credits together. Money in this file is in thousandths of a credit.
   */
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

  /** Takes the credits of a call from the run's limit. */
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
