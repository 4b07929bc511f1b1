import type {ValueHistory} from '../ledger/run/value-history.ts';
import type {Call} from './call.ts';
import type {Unsettled} from './pace/circuit-breaker.ts';
import {type PolicySettings, sendsLeft} from './policy.ts';

/** The values that need calls and are not settled yet. */
export class OpenCalls implements Unsettled {
  readonly #policy: PolicySettings;
  readonly #calls = new Set<Call>();
  /** Number of callers with more values, which wait until a queue has room. */
  blocked = 0;

  constructor(policy: PolicySettings) {
    this.#policy = policy;
  }

  get size(): number {
    return this.#calls.size;
  }

  get count(): number {
    return this.blocked === 0 ? this.#calls.size : Number.POSITIVE_INFINITY;
  }

  get sendsLeft(): number {
    if (this.blocked > 0) return Number.POSITIVE_INFINITY;
    return [...this.#calls].reduce((sum, {entry}) => sum + this.sendsLeftOf(entry.history), 0);
  }

  sendsLeftOf(history: ValueHistory): number {
    return sendsLeft(history, this.#policy);
  }

  add(call: Call): void {
    this.#calls.add(call);
  }

  delete(call: Call): void {
    this.#calls.delete(call);
  }
}
