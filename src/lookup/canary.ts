import type {Attempt} from '../client/attempt.ts';
import {policyNumbers as numbers} from './policy.ts';

/**
 * Watches the first calls of an operation: only a few are in flight until some values were tried, and if none of
 * those got anything but one and the same refusal, the settings are wrong and not the values.
 */
export class Canary {
  readonly #tried = new Set<string>();
  #inFlight = 0;
  #answered = false;
  #refusedBy: string | undefined;
  #refusals = 0;

  /** Whether one more call may be sent beside `planned` others. */
  allows(planned: number): boolean {
    const trusted = this.#answered && this.#tried.size >= numbers.canaryValues;
    return trusted || this.#inFlight + planned < numbers.canaryInFlight;
  }

  sent(key: string): void {
    this.#inFlight += 1;
    if (this.#tried.size < numbers.canaryValues) this.#tried.add(key);
  }

  /** The code that every value so far was refused with, once that is enough to stop. */
  heard(attempt: Attempt): string | undefined {
    this.#inFlight -= 1;
    if (attempt.kind === 'answered') this.#answered = true;
    if (this.#answered || (attempt.kind !== 'rejected' && attempt.kind !== 'unreadable')) return undefined;
    this.#refusals = this.#refusedBy === attempt.code ? this.#refusals + 1 : 1;
    this.#refusedBy = attempt.code;
    return this.#refusals >= numbers.canaryValues ? attempt.code : undefined;
  }
}
