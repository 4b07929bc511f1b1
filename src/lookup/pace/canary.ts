import type {Attempt} from '../../client/attempt.ts';
import {policyNumbers as numbers} from '../policy.ts';

/**
 * Watches the first calls of an operation: only a few are in flight until one is answered, and if the first got nothing
 * but one and the same refusal, the settings are wrong and not the values. Unless the service is known to answer: what
 * is left of a list whose good values are known is only what it rejects, night after night.
 */
export class Canary {
  readonly #isKnownToAnswer: () => boolean;
  #inFlight = 0;
  #answered = false;
  #refusedBy: string | undefined;
  readonly #refused = new Set<string>();

  /** `isKnownToAnswer` is asked before a stop. */
  constructor(isKnownToAnswer: () => boolean) {
    this.#isKnownToAnswer = isKnownToAnswer;
  }

  /** Whether one more call may be sent beside `planned` others. */
  allows(planned: number): boolean {
    return this.#answered || this.#inFlight + planned < numbers.canaryInFlight;
  }

  sent(): void {
    this.#inFlight += 1;
  }

  /** The code that every value so far was refused with, once enough distinct ones were. */
  ended(attempt: Attempt, value: string): string | undefined {
    this.#inFlight -= 1;
    if (attempt.kind === 'answered') this.#answered = true;
    if (this.#answered || (attempt.kind !== 'rejected' && attempt.kind !== 'unreadable')) return undefined;
    if (this.#refusedBy !== attempt.code) this.#refused.clear();
    this.#refusedBy = attempt.code;
    this.#refused.add(value);
    return this.#refused.size >= numbers.canaryValues && !this.#isKnownToAnswer() ? attempt.code : undefined;
  }
}
