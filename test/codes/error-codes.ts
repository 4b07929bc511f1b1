import codes from '../../src/codes.json' with {type: 'json'};
import {exitCodes} from '../../src/errors.ts';

const {usage, input, output, state, end} = codes;
const byExit = {usage, input, output, state};

interface ErrorText {
  readonly meaning: string;
  readonly advice?: string;
  readonly exits?: string;
}

const entries = [
  ...Object.entries(byExit).flatMap(([kind, texts]) =>
    Object.entries<ErrorText>(texts).map(
      ([code, text]) => [code, {...text, exits: `${exitCodes[kind as keyof typeof byExit]}`}] as const,
    ),
  ),
  ...Object.entries<ErrorText>(end),
];

/** Every code of an error in alphabetical order, once, with all of its exit codes. */
export const errorCodes = [...new Set(entries.map(([code]) => code))].sort().map(code => {
  const [{meaning: when = '', advice = ''} = {}] = entries.flatMap(([name, text]) =>
    name === code ? [text] : [],
  );
  const exits = entries.flatMap(([name, {exits = ''}]) => (name === code ? exits.split(', ') : []));
  return {code, exits, when, advice};
});
