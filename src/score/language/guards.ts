/**
 * Checks of a conversion's argument, by conversion. They accept fewer texts than the library, which reads an empty text
 * as 0, `0b11` as a number, and February 30 as a day in March: the rule would judge the row by a value that it lacks.
 */
export const conversionChecks = {
  int: texts(/^[+-]?\d+$/, 'int() takes a whole number, such as "7"'),
  uint: texts(/^\+?\d+$/, 'uint() takes a whole number from 0 on, such as "7"'),
  double: texts(/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i, 'double() takes a number, such as "7.5"', text =>
    Number.isFinite(Number(text)),
  ),
  timestamp: dates(),
  duration: texts(
    /^[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/,
    'duration() takes hours, minutes and seconds, such as "1h30m"; 7 days are "168h"',
  ),
} as const;

type Read = (value: unknown) => unknown;

/** Makes a check of a text's shape. Its error is made once, since making one for each row would be slow. */
function texts(shape: RegExp, otherwise: string, isRight = (_: string) => true): Read {
  const error = new Error(otherwise);
  return value => {
    if (typeof value === 'string' && !(shape.test(value) && isRight(value))) throw error;
    return value;
  };
}

/** RFC 3339, section 5.6 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6), also in small letters. */
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function dates(): Read {
  const error = new Error('timestamp() takes a date with time and zone, such as "2026-01-31T00:00:00Z"');
  return value => {
    // A program's rows may hold dates, as a database driver gives them.
    if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
    if (typeof value !== 'string') return value;
    const [, year, month, day, time, fraction = '', zone = ''] = DATE.exec(value) ?? [];
    const date = `${year}-${month}-${day}`;
    // JavaScript turns February 30 into a day of March. A date that changes like this is refused.
    const midnight = new Date(`${date}T00:00:00Z`);
    if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) throw error;
    return `${date}T${time}${fraction.slice(0, MILLISECONDS)}${zone.toUpperCase()}`;
  };
}

/** Characters of a fraction that are kept: its point and three digits. The library counts milliseconds. */
const MILLISECONDS = 4;

/** One error for all rows, since making one for each row would be slow. */
const NO_NUMBER = new Error('its result is not a number, as after a division by zero');

/** Returns a result of arithmetic. Throws for infinity and NaN: they compare like numbers but mean nothing. */
export function requireFinite(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw NO_NUMBER;
  return value;
}

/** Maximum steps of one evaluation. It has room for ten loops over 100,000 entries. Not time, so that a resume decides the same. */
const MOST_STEPS = 1_000_000;

export const TOO_MANY_STEPS =
  'it takes more than 1,000,000 steps, such as entries of lists in loops within loops';

/** Counts the steps of evaluations, one at a time: each loop and each `in` takes one for each entry of its list. */
export class StepLimit {
  #left = 0;

  /** To be called before each evaluation. */
  restart(): void {
    this.#left = MOST_STEPS;
  }

  /** True if the evaluation under way took too many steps, whatever its result. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

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
}

function sizeOf(entries: object): number {
  return entries instanceof Map || entries instanceof Set ? entries.size : Object.keys(entries).length;
}
