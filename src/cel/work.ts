/**
 * Maximum steps of an expression for one row. A loop takes one step for each element. If its body reads a
 * value, each element also costs steps for the value's size: one per member of a list or object, or one per
 * 64 characters of a text. Steps are counted, not timed, so that a row's result is the same on any machine.
 */
const MOST_STEPS = 10_000;
const CHARACTERS_OF_A_STEP = 64;
/** Maximum product of two texts' lengths if one is searched in the other. Such a search takes about 0.1 s. */
const MOST_COMPARED = 100_000_000;

/**
 * An expression beyond its limit may throw one of these at each further element. They are made once, since
 * making an error is slow.
 */
const TOO_MUCH = new Error('it would take too long: more than 10,000 elements to go over');
const TOO_LONG = new Error('it would take too long: both texts are long');

/** Counts the work of an expression for one row, and throws beyond a limit. */
export class WorkBound {
  #left = 0;

  begin(): void {
    this.#left = MOST_STEPS;
  }

  /** Counts the elements of a list or map before a loop visits them. */
  readonly over = (value: unknown): unknown => this.#spend(value, 1 + elementsOf(value));

  /** Throws once the steps are used up. It returns true, so that an expression can call it as a condition. */
  readonly within = (): boolean => this.#spend(true, 0);

  /**
   * Counts the size of a value that a loop reads for each element, since the library may search all of the value.
   * A Map costs nothing: it is looked up by hash.
   */
  readonly read = (value: unknown): unknown => {
    if (typeof value === 'string') return this.#spend(value, Math.floor(value.length / CHARACTERS_OF_A_STEP));
    return value instanceof Map ? value : this.#spend(value, elementsOf(value));
  };

  #spend<T>(value: T, steps: number): T {
    this.#left -= steps;
    if (this.#left < 0) throw TOO_MUCH;
    return value;
  }

  readonly searched = (text: unknown, sought: unknown): unknown => {
    if (typeof text !== 'string' || typeof sought !== 'string') return text;
    if (text.length * sought.length > MOST_COMPARED) throw TOO_LONG;
    return text;
  };
}

function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map || value instanceof Set) return value.size;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
