import type {Attempt} from '../../client/attempt.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {policyNumbers as numbers} from '../policy.ts';

/** Values of an operation that were refused one after the other, with nothing answered in between. */
export interface Streak {
  readonly count: number;
  /** The code of the last one. */
  readonly code: string;
  /** True if there were other codes. */
  readonly isMixed: boolean;
  /** True if all of them speak of the caller. */
  readonly credentials: boolean;
  /** True if the operation was answered before, in this run or an earlier one. */
  readonly isKnownToAnswer: boolean;
}

/**
 * Watches what an operation's calls are refused with. Only a few are in flight until one is answered, and if the first
 * ones are all refused, the settings are wrong and not the values. Unless the service is known to answer: what is left of
 * a list whose good values are known is only what it rejects, night after night. Then only a long streak ends the run.
 *
 * Refused values are counted, and not equal codes: a service may have a code for every value.
 */
export class Canary {
  readonly #isKnownToAnswer: () => boolean;
  #inFlight = 0;
  #answered = false;
  /** Those of the streak, until it is long enough: one value that is refused again and again says nothing of others. */
  readonly #refused: Set<string>;
  #count: number;
  #credentials: boolean;
  #code: string | undefined;
  #isMixed = false;

  /** `isKnownToAnswer` is asked once a streak is long enough to stop for; `before`: the streak that a killed session left. */
  constructor(isKnownToAnswer: () => boolean, before: readonly string[] = []) {
    this.#isKnownToAnswer = isKnownToAnswer;
    this.#refused = new Set(before);
    this.#count = before.length;
    this.#credentials = before.length === 0;
  }

  /** True if one more call may be sent beside `planned` others. */
  allows(planned: number): boolean {
    return this.#answered || this.#inFlight + planned < numbers.canaryInFlight;
  }

  sent(): void {
    this.#inFlight += 1;
  }

  /** True if so many values were refused in a row that they are not to blame. */
  get isStreak(): boolean {
    return this.#count >= numbers.refusalStreak;
  }

  /** Returns the streak that this attempt makes longer. `isKnown`: its value was refused so before, which is no news. */
  ended(attempt: Attempt, value: string, isKnown = false): Streak | undefined {
    this.#inFlight -= 1;
    if (attempt.kind === 'answered') this.#endStreak();
    if ((attempt.kind !== 'rejected' && attempt.kind !== 'unreadable') || isKnown) return undefined;
    if (this.isStreak) this.#count += 1;
    else this.#count = this.#refused.add(value).size;
    this.#credentials &&= attempt.status === 403 || attempt.code === INVALID_TOKEN;
    this.#isMixed ||= this.#code !== undefined && this.#code !== attempt.code;
    this.#code = attempt.code;
    return this.isStreak ? this.#streak(attempt.code) : undefined;
  }

  #endStreak(): void {
    this.#answered = true;
    this.#refused.clear();
    this.#count = 0;
    this.#credentials = true;
    this.#code = undefined;
    this.#isMixed = false;
  }

  #streak(code: string): Streak {
    return {
      count: this.#count,
      code,
      isMixed: this.#isMixed,
      credentials: this.#credentials,
      isKnownToAnswer: this.#answered || this.#isKnownToAnswer(),
    };
  }
}
