import {join} from 'node:path';
import {expect} from 'vitest';
import {type look, lookAt, type Situation, written} from '../columns/lists/situation.ts';
import type {KnownList} from './known-list.ts';
import {listAt, listCount} from './lists.ts';
import {adviceOf, pasted, typed} from './pasted.ts';
import {lacksOnlyAdvice} from './play.ts';

/** The most times that advice is followed. */
const MOST_TIMES = 3;

/** A list in a file, and the flags of its run. */
export type Listed = Pick<Situation, 'text' | 'list' | 'file' | 'flags'>;

/** The list as a file. Its run gets no country but the one that the list has as a setting. */
function listedOf({header, rows, defaultCountry}: KnownList): Listed {
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const text = `${[header, ...rows].map(row => row.map(cell).join(',')).join('\n')}\n`;
  const flags = defaultCountry === undefined ? [] : [`--default-country ${defaultCountry}`];
  return {text, list: Buffer.from(text), file: 'list.csv', flags};
}

interface Followed {
  readonly stops: readonly string[];
  readonly last: Awaited<ReturnType<typeof look>>;
}

/** Runs the line that each error prints, as it stands. */
async function follow(folder: string, situation: Listed, country: string): Promise<Followed> {
  const stops: string[] = [];
  const flags = situation.flags.flatMap(flag => flag.split(/ (.*)/).filter(word => word !== ''));
  let line = await typed(['run', written(folder, situation), ...flags]);
  for (;;) {
    const last = await lookAt(line.inputs, line.flags, situation.text, line.stdin);
    const {stop} = last;
    const advice = stop && adviceOf(line, stop, country);
    if (stop === undefined || advice === undefined || stops.length === MOST_TIMES) return {stops, last};
    stops.push(`${stop.code}: ${stop.message}\nTry: ${advice}`);
    line = await pasted(advice);
  }
}

/**
 * Follows the advice of a list that stops: it ends in a run, by no error twice, in which no column of values is lost,
 * and no cell altered. Returns the number of stops. `country`: what the user fills in.
 */
export async function demandGoodAdvice(folder: string, listed: Listed, country: string): Promise<number> {
  const {stops, last} = await follow(folder, listed, country);
  // Without advice that can be pasted, the list is refused for a reason of its own.
  expect(last.stop?.code).not.toBe('internal');
  if (stops.length === 0) return 0;
  const told = [listed.text.slice(0, 300), ...stops, last.stop?.message, last.said].join('\n');
  expect(last.stop, `the advice does not end in a run:\n${told}`).toBeUndefined();
  expect(new Set(stops).size, `the same error twice:\n${told}`).toBe(stops.length);
  expect(unnamed(last), `left out without a word:\n${told}`).toEqual([]);
  expect(last.altered, `cells that are not in the list:\n${told}`).toEqual([]);
  return stops.length;
}

/**
 * Follows the advice for lists of known values, and returns how often one stopped. Left out are lists whose values are
 * not bought with their country either, such as numbers that lost a zero: no advice helps them.
 */
export async function followKnown(directory: string, isPlayed: (index: number) => boolean): Promise<number> {
  let stops = 0;
  for (let index = 0; index < listCount; index++) {
    const list = isPlayed(index) ? listAt(index) : undefined;
    if (list !== undefined && lacksOnlyAdvice(list))
      stops += await demandGoodAdvice(join(directory, `known-${index}`), listedOf(list), list.country);
  }
  return stops;
}

const VALUES = [/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/, /^\d{1,3}(?:\.\d{1,3}){3}$/, /^\+\d[\d ()/.-]{6,}$/];

/** Columns in which half of the filled cells are plainly values, but that are neither looked up nor spoken of. */
function unnamed({table, columns, looked, said}: Awaited<ReturnType<typeof look>>): string[] {
  return columns.filter((name, at) => {
    const cells = table.map(fields => fields[at]?.trim() ?? '').filter(cell => cell !== '');
    const holds = VALUES.some(value => cells.filter(cell => value.test(cell)).length >= cells.length / 2);
    return cells.length > 0 && holds && !looked.includes(name) && !said.includes(name);
  });
}
