import tables from '../../src/error-codes.json' with {type: 'json'};
import {exitCodes} from '../../src/errors.ts';

const {end, ...byExit} = tables;

const entries = [
  ...Object.entries(byExit).flatMap(([kind, codes]) => {
    const exit = `${exitCodes[kind as keyof typeof byExit]}`;
    return Object.entries(codes).map(([code, texts]) => [code, [...texts, exit]] as const);
  }),
  ...Object.entries(end),
];

/** Every code of an error in alphabetical order, once, with all of its exit codes. */
export const errorCodes = [...new Set(entries.map(([code]) => code))].sort().map(code => {
  const [[when = '', advice = ''] = []] = entries.flatMap(([name, row]) => (name === code ? [row] : []));
  const exits = entries.flatMap(([name, [, , exit = '']]) => (name === code ? exit.split(', ') : []));
  return {code, exits, when, advice};
});
