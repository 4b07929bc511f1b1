import type {Attempt} from '../../client/attempt.ts';
import {type RefusalStreak, type StreakTally, zeroRefusalStreak} from '../../ledger/run/tally.ts';
import {INVALID_TOKEN_CODE} from '../../operations/operation.ts';
import {policyNumbers as numbers} from '../retry-policy.ts';

/** Refusals of many values in a row: too many for the values to be the reason. */
export interface LongRefusalStreak extends Readonly<RefusalStreak> {
  /** True if this session reports the streak for the first time. */
  readonly isNew: boolean;
  /** True if the operation was answered before, in this run or an earlier one. */
  readonly isKnownToAnswer: boolean;
}

/**
 * Watches the refusals of an operation. Until its first answer, only a few of its calls are in flight: if all of
 * them are refused, the settings are wrong, and not the values.
 *
 * If the operation was answered before, only a long streak ends the run. In a nightly run that knows all good
 * values, the only calls are for values that the service rejects.
 *
 * Counts refused values whatever their codes: a service may have a code for every value.
 */
export class Canary {
  readonly #isKnownToAnswer: () => boolean;
  readonly #tally: StreakTally;
  #answered = false;
  #isTold = false;
  /** Values refused in a row in this session. Before a streak, further refusals of a value do not count. */
  readonly #values = new Set<string>();

  /** `isKnownToAnswer` is called only when there is a streak. `tally` is updated. */
  constructor(isKnownToAnswer: () => boolean, tally: StreakTally) {
    this.#isKnownToAnswer = isKnownToAnswer;
    this.#tally = tally;
  }

  /** True if one more call of the operation may be sent. `inFlight` counts the others. */
  allows(inFlight: () => number): boolean {
    return this.#answered || inFlight() < numbers.canaryInFlight;
  }

  get #isStreak(): boolean {
    return this.#tally.refused.count >= numbers.refusalStreak;
  }

  /**
   * Notes the end of a call. Returns the streak of refusals if this call belongs to one. `isKnown`: true if
   * the service rejected the value with the same code before. Such a rejection does not count for a streak.
   */
  ended(attempt: Attempt, value: string, isKnown = false): LongRefusalStreak | undefined {
    if (attempt.kind === 'answered') this.#answeredOne();
    if ((attempt.kind !== 'rejected' && attempt.kind !== 'unreadable') || isKnown) return undefined;
    const {code, status} = attempt;
    const {refused} = this.#tally;
    if (this.#isStreak || !this.#values.has(value)) refused.count += 1;
    if (!this.#isStreak) this.#values.add(value);
    refused.credentials &&= status === 403 || code === INVALID_TOKEN_CODE;
    refused.isMixed ||= refused.code !== '' && refused.code !== code;
    refused.code = code;
    if (!this.#isStreak) return undefined;
    this.#tally.longestStreak = Math.max(this.#tally.longestStreak, refused.count);
    const isNew = !this.#isTold;
    this.#isTold = true;
    return {...refused, isNew, isKnownToAnswer: this.#answered || this.#isKnownToAnswer()};
  }

  #answeredOne(): void {
    this.#answered = true;
    if (this.#tally.refused.count === 0) return;
    this.#isTold = false;
    this.#values.clear();
    Object.assign(this.#tally.refused, zeroRefusalStreak());
  }
}
