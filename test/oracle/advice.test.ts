import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {lists} from '../run/lists/all.ts';
import {type look, lookAt, type Situation, written} from '../run/lists/situation.ts';
import {adviceOf, pasted, typed} from './pasted.ts';

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

/** Runs the line that each error prints, as it stands. */
async function follow(folder: string, situation: Situation): Promise<Followed> {
  const stops: string[] = [];
  const flags = situation.flags.flatMap(flag => flag.split(/ (.*)/).filter(word => word !== ''));
  let line = await typed(['run', written(folder, situation), ...flags]);
  for (;;) {
    const last = await lookAt(line.inputs, line.flags, situation.text, line.stdin);
    const {stop} = last;
    const advice = stop && adviceOf(line, stop, COUNTRIES[situation.name] ?? 'DE');
    if (stop === undefined || advice === undefined || stops.length === MOST_TIMES) return {stops, last};
    stops.push(`${stop.code}: ${stop.message}\nTry: ${advice}`);
    line = await pasted(advice);
  }
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
