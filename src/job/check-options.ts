import {UsageError} from '../errors.ts';
import {didYouMean} from '../sentence.ts';

/** For each option of a function, its description in words and its check. An undefined option has its default. */
export type OptionChecks<Options> = {
  readonly [Name in keyof Options]-?: readonly [expected: string, isValid: (value: unknown) => boolean];
};

/** @throws {UsageError} for an unknown option, or an invalid one, as a program without types may give it. */
export function checkOptions<Options extends object>(given: Options, checks: OptionChecks<Options>): void {
  const known = Object.keys(checks);
  if (typeof given !== 'object' || given === null)
    throw new UsageError('settings', `Expected an object with options, such as {${known[0]}}.`);
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name))
      throw new UsageError('settings', `There is no option "${name}".${didYouMean(name, known)}`);
    const [expected, isValid] = checks[name as keyof Options];
    if (value === undefined || isValid(value)) continue;
    throw new UsageError(
      name === 'timeoutMs' ? 'timeout_invalid' : 'settings',
      `${name}: expected ${expected}.`,
    );
  }
}

/** A check of a number in milliseconds from `least` to `most`. */
export const milliseconds = (least: number, most: number) =>
  [
    `${least} to ${most} milliseconds`,
    (value: unknown) => typeof value === 'number' && value >= least && value <= most,
  ] as const;

export const wholeFromOne = [
  'a whole number from 1',
  (value: unknown) => (Number.isInteger(value) && Number(value) > 0) || value === Number.POSITIVE_INFINITY,
] as const;

export const isFunction = (value: unknown) => typeof value === 'function';

export const isAbortSignal = (value: unknown) => isFunction(Object(value).addEventListener);
