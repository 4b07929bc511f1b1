/**
 * Maximum number of steps of one evaluation: each loop and each `in` takes one for each entry of its list. It has room
 * for ten loops over 100,000 entries. Steps are counted, and not time, so that a resume decides the same.
 */
const MOST_STEPS = 1_000_000;

/** An evaluation took more than {@link MOST_STEPS}. */
export class TooManyStepsError extends Error {
  constructor() {
    super('it takes more than 1,000,000 steps, such as entries of lists in loops within loops');
  }
}

/** Counts the steps of evaluations, one at a time. */
export class StepLimit {
  /** Steps left of the evaluation under way; below 0 if it took too many. */
  #left = 0;

  /** The entries that a loop reads. A loop over a map visits its names. */
  count(entries: unknown): unknown {
    return this.#take(entries, Array.isArray(entries) ? entries.length : sizeOf(Object(entries)));
  }

  /** The entries that `in` searches. A map finds an entry by its name. */
  countSearch(entries: unknown): unknown {
    return this.#take(entries, Array.isArray(entries) ? entries.length : 0);
  }

  /** Once there are too many, lists are empty: an error would not end a loop, which continues with the next entry. */
  #take(entries: unknown, steps: number): unknown {
    this.#left -= steps;
    return this.#left < 0 ? [] : entries;
  }

  /** @throws {TooManyStepsError} if the evaluation takes too many steps. */
  run(evaluate: () => unknown): unknown {
    this.#left = MOST_STEPS;
    try {
      const result = evaluate();
      if (this.#left >= 0) return result;
    } catch (error) {
      if (this.#left >= 0) throw error;
    }
    throw new TooManyStepsError();
  }
}

function sizeOf(entries: object): number {
  return entries instanceof Map || entries instanceof Set ? entries.size : Object.keys(entries).length;
}
