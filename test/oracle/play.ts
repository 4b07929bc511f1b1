import {makeJobFromFlags} from '../../src/cli/job-from-flags.ts';
import {CodedError} from '../../src/errors.ts';
import {memoize} from '../../src/operations/memoize.ts';
import {resolveColumnMapping} from '../../src/run/layout/column-mapping.ts';
import {makeRunFacts} from '../../src/score/run-facts.ts';
import {csvRows} from '../lookup/rows.ts';
import type {KnownList} from './known-list.ts';
import {listAt, listCount} from './lists.ts';

export interface Played {
  right: number;
  notBought: number;
  undecidable: number;
  /** Number of lists whose run stops with advice, or without. */
  stops: number;
  /** Each value that was bought as another one. */
  readonly wrong: string[];
  /** Each list with a column of values that no message names. */
  readonly unnamed: string[];
}

const background = memoize(() => makeRunFacts(undefined, 0));
const jobs = new Map<string | undefined, ReturnType<typeof makeJobFromFlags>['job']>();

function jobOf(defaultCountry: string | undefined) {
  const known = jobs.get(defaultCountry);
  if (known !== undefined) return known;
  const flags = {endpoint: 'embedded', score: 'none', defaultCountry};
  const {job} = makeJobFromFlags(['list.csv'], flags, {makesCalls: false});
  jobs.set(defaultCountry, job);
  return job;
}

const none = (): Played => ({right: 0, notBought: 0, undecidable: 0, stops: 0, wrong: [], unnamed: []});

/** True if a run of the list stops, and one that knows the list's country buys a value of it. */
export function lacksOnlyAdvice(list: KnownList): boolean {
  const [asItIs, known] = [none(), none()];
  playList(list, asItIs);
  playList({...list, defaultCountry: list.country}, known);
  return asItIs.stops > 0 && known.right > 0;
}

/** Plays the lists of these indexes: a bought value is the value meant; no column with values goes unnamed. */
export function play(isPlayed: (index: number) => boolean): Record<KnownList['kind'], Played> {
  const all = {phone: none(), email: none(), ip: none()};
  for (let index = 0; index < listCount; index++) {
    const list = isPlayed(index) ? listAt(index) : undefined;
    if (list !== undefined) playList(list, all[list.kind]);
  }
  return all;
}

function playList(list: KnownList, played: Played): void {
  const {kind, header, rows, meant, undecidable, defaultCountry} = list;
  const column = header[kind === 'phone' ? 0 : 1] ?? '';
  const plain = {kind: 'csv', delimiter: ',', eol: '\n', bom: false, encoding: 'utf-8'} as const;
  const format = {...plain, header, columns: header};
  const sample = csvRows(...rows);
  const values = meant.filter(value => value !== undefined).length;
  try {
    const job = jobOf(defaultCountry);
    const {targets, planRow, doubts} = resolveColumnMapping(job, format, sample, background());
    const at = targets.findIndex(target => target.column === column && target.operation === kind);
    if (at < 0 && values > 0 && !doubts.some(doubt => String(doubt).includes(`"${column}"`)))
      played.unnamed.push(list.name);
    for (const [n, row] of sample.entries()) {
      const cell = at < 0 ? undefined : planRow(row)[at];
      if (cell?.status === 'ask') {
        const value = Object.values(cell.lookup.params).join();
        if (value === meant[n]) played.right += 1;
        else if (undecidable[n] !== undefined) played.undecidable += 1;
        else played.wrong.push(`${rows[n]?.join(' | ')} → ${value}, meant ${meant[n]} (${list.name})`);
      } else if (meant[n] !== undefined) played.notBought += 1;
    }
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    played.notBought += values;
    played.stops += 1;
    const said = [error.message, ...(error.remedy.flags ?? [])].join(' ');
    // Fewer than half of the cells are values: such a column may be one of notes.
    if (values * 2 >= rows.length && !said.includes(column)) played.unnamed.push(`${list.name}: ${said}`);
  }
}

export function totalsOf(played: Record<KnownList['kind'], Played>) {
  const all = Object.values(played);
  return {
    wrong: all.flatMap(({wrong}) => wrong),
    unnamed: all.flatMap(({unnamed}) => unnamed),
    right: all.reduce((sum, {right}) => sum + right, 0),
  };
}

/** The table in README.md. */
export function tableOf(played: Record<KnownList['kind'], Played>): string {
  const row = (name: string, {right, notBought, undecidable, wrong}: Played) =>
    `| ${[name, right, notBought, wrong.length, undecidable].map(cell => cell.toLocaleString('en')).join(' | ')} |`;
  const names = {phone: 'phone numbers', email: 'e-mail addresses', ip: 'IP addresses'} as const;
  return Object.entries(names)
    .map(([kind, name]) => row(name, played[kind as KnownList['kind']]))
    .join('\n');
}
