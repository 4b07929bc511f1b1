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

/** A limit of the run, or a period's. */
interface CreditLimit {
  /** A period's name changes when the next period begins. */
  readonly name: string;
  readonly left: number;
}

/** Reserves the credits of calls, from the run's own limit and the account's. No limit is ever exceeded. */
export class Budget {
  readonly account: AccountBudget | undefined;
  readonly #maxCredits: number;
  readonly #counts: RunCounts;
  /** The run's credits plus those left, by a limit's name, when the limit was last read. */
  readonly #shares = new Map<string, number>();
  /** Credits of the calls in flight, and the part of them that renews known answers. */
  #reserved = 0;
  #renewing = 0;
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

  /** Credits that all limits leave for values, or for renewals of known answers; infinite without a limit. */
  left(renews = false): number {
    const {renewed} = this.#counts;
    return this.#limits().reduce((least, {left}) => {
      const share = renews ? (this.committed + left) / 2 - renewed - this.#renewing : left;
      return Math.min(least, share);
    }, Number.POSITIVE_INFINITY);
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

  /**
   * Takes the credits of a call from the run's limit. Renewals of known answers may use only half of each limit: the
   * other half is left for values without an answer, which may be at the end of the list.
   */
  #takeOwn({cost, renews = false}: Reservation): boolean {
    if (this.committed + cost > this.#maxCredits) return false;
    if (renews && !this.#limits().every(limit => this.#hasHalfFor(limit, cost))) return false;
    this.#reserved += cost;
    if (renews) this.#renewing += cost;
    return true;
  }

  #giveOwn({cost, renews = false}: Reservation): void {
    this.#reserved -= cost;
    if (renews) this.#renewing -= cost;
  }

  #limits(): readonly CreditLimit[] {
    const {account} = this;
    const own = {name: 'run', left: this.#maxCredits - this.committed};
    const shared = account?.limits.map(limit => ({
      name: account.nameOf(limit),
      get left() {
        return account.left(limit);
      },
    }));
    return [...(own.left === Number.POSITIVE_INFINITY ? [] : [own]), ...(shared ?? [])];
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
    const {left} = limit;
    this.#shares.set(name, this.committed + left);
    return cost <= left && isWithin(this.committed + left);
  }
}
