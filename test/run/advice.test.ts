import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {lists} from './lists/all.ts';
import {look, type Situation} from './lists/situation.ts';

/** The most times that advice is followed. */
const MOST_TIMES = 3;
/** The country of lists from elsewhere than Germany. The user fills it in. */
const COUNTRIES: Readonly<Record<string, string>> = {
  'full-width digits without a country': 'JP',
  'US digits with names beside them': 'US',
};

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-advice-'));
});
afterAll(() => rmSync(directory, {recursive: true}));

interface Followed {
  readonly stops: readonly string[];
  readonly last: Awaited<ReturnType<typeof look>>;
}

/** Follows the advice of each error as it stands. `COUNTRY` is the one word that the user fills in. */
async function follow(folder: string, situation: Situation): Promise<Followed> {
  const stops: string[] = [];
  let list = situation;
  for (let times = 0; ; times++) {
    const last = await look(join(folder, String(times)), list);
    const {stop} = last;
    const {flags = [], pipe} = stop?.remedy ?? {};
    if (stop === undefined || (flags.length === 0 && pipe === undefined) || times === MOST_TIMES)
      return {stops, last};
    stops.push(`${stop.code}: ${stop.message}`);
    if (pipe !== undefined) list = {...list, list: piped(folder, list, pipe.command)};
    list = {...list, flags: added(list, flags)};
  }
}

function piped(folder: string, {list, file}: Situation, command: string): Buffer {
  mkdirSync(folder, {recursive: true});
  const path = join(folder, basename(file));
  writeFileSync(path, list);
  return execFileSync('/bin/sh', ['-c', `${command} "$0"`, path]);
}

/** The flags with the advised ones in their place, as the command line takes them. */
function added({name, flags: given}: Situation, advised: readonly string[]): string[] {
  const more: string[] = [];
  for (const word of advised) {
    if (word.startsWith('--')) more.push(word);
    else if (more.length > 0) more.push(`${more.pop()} ${word.replace('COUNTRY', COUNTRIES[name] ?? 'DE')}`);
  }
  const names = new Set(more.map(flag => flag.split(' ')[0]));
  return [...given.filter(flag => !names.has(flag.split(' ')[0])), ...more];
}

test.each(lists.map((situation, index) => ({...situation, index})))(
  '$name',
  async ({index, ...situation}) => {
    const {stops, last} = await follow(join(directory, String(index)), situation);
    if (stops.length === 0) return;
    const told = [...stops, last.stop?.message, last.said].join('\n');
    expect(last.stop, `the advice does not end in a run:\n${told}`).toBeUndefined();
    expect(new Set(stops).size, `the same error twice:\n${told}`).toBe(stops.length);
    expect(unnamed(last), `left out without a word:\n${told}`).toEqual([]);
    expect(last.altered, `cells that are not in the list:\n${told}`).toEqual([]);
  },
);

const VALUES = [/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/, /^\d{1,3}(?:\.\d{1,3}){3}$/, /^\+\d[\d ()/.-]{6,}$/];

/** Columns in which half of the filled cells are plainly values, but that are neither looked up nor spoken of. */
function unnamed({table, columns, looked, said}: Awaited<ReturnType<typeof look>>): string[] {
  return columns.filter((name, at) => {
    const cells = table.map(fields => fields[at]?.trim() ?? '').filter(cell => cell !== '');
    const holds = VALUES.some(value => cells.filter(cell => value.test(cell)).length >= cells.length / 2);
    return cells.length > 0 && holds && !looked.includes(name) && !said.includes(name);
  });
}
