import {endCodes, inputCodes, outputCodes, stateCodes, usageCodes} from '../../src/error-codes.ts';
import {exitCodes} from '../../src/errors.ts';

const byKind = [
  [exitCodes.usage, usageCodes],
  [exitCodes.input, inputCodes],
  [exitCodes.output, outputCodes],
  [exitCodes.state, stateCodes],
] as const;

const entries = [
  ...byKind.flatMap(([exit, codes]) =>
    Object.entries(codes).map(([code, explained]) => [code, [...explained, `${exit}`]] as const),
  ),
  ...Object.entries(endCodes),
];

/** Every code of an error in alphabetical order, once, with all of its exit codes. */
export const errorCodes = [...new Set(entries.map(([code]) => code))].sort().map(code => {
  const [[when = '', advice = ''] = []] = entries.flatMap(([name, row]) => (name === code ? [row] : []));
  const exits = entries.flatMap(([name, [, , exit = '']]) => (name === code ? exit.split(', ') : []));
  return {code, exits, when, advice};
});
