import {UsageError} from '../errors.ts';
import {didYouMean} from '../sentence.ts';

/**
 * For each option of a function, its description in words, its check, and if it is required. Any other that is undefined
 * has its default.
 */
export type OptionChecks<Options> = {
  readonly [Name in keyof Options]-?: readonly [
    expected: string,
    isValid: (value: unknown) => boolean,
    isRequired?: boolean,
  ];
};

/**
 * @throws {UsageError} for an unknown option, or an invalid one, as a program without types may give it. `refuse` makes it
 * of a message and the option's name.
 */
export function checkOptions<Options extends object>(
  given: Options,
  checks: OptionChecks<Options>,
  refuse = (message: string, name?: string) =>
    new UsageError(name === 'timeoutMs' ? 'timeout_invalid' : 'settings', message),
): void {
  const known = Object.keys(checks);
  if (typeof given !== 'object' || given === null)
    throw refuse(`Expected an object with options, such as {${known[0]}}.`);
  const unknown = Object.keys(given).find(name => !known.includes(name));
  if (unknown !== undefined) throw refuse(`There is no option "${unknown}".${didYouMean(unknown, known)}`);
  for (const name of known) {
    const [expected, isValid, isRequired] = checks[name as keyof Options];
    const value = given[name as keyof Options];
    if (value === undefined ? isRequired : !isValid(value))
      throw refuse(`${name}: expected ${expected}.`, name);
  }
}

/** A check of a number from `least` to `most`, of this unit. */
export const numberWithin = (least: number, most: number, unit = '') =>
  [
    `${least} to ${most}${unit}`,
    (value: unknown) => typeof value === 'number' && value >= least && value <= most,
  ] as const;

export const milliseconds = (least: number, most: number) => numberWithin(least, most, ' milliseconds');

export const wholeFromOne = [
  'a whole number from 1',
  (value: unknown) => (Number.isInteger(value) && Number(value) > 0) || value === Number.POSITIVE_INFINITY,
] as const;

export const isText = (value: unknown) => typeof value === 'string';

export const isFunction = (value: unknown) => typeof value === 'function';

export const isAbortSignal = (value: unknown) => isFunction(Object(value).addEventListener);
