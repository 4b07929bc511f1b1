import type {Intelligence} from '../client/wire.ts';
import type {Row} from '../input/row.ts';
import {canonicalEmail, canonicalIp, canonicalPhone} from './canonical.ts';
import {type Cell, cellReader} from './targets.ts';

/** What a column seems to hold, and why. */
export interface Guess {
  readonly operation: Intelligence | 'country';
  readonly column: string;
  /** `sure` is used without asking; `unsure` wants a flag. */
  readonly confidence: 'sure' | 'unsure';
  /** Share of the sample's non-empty cells that can be such a value, 0 to 1; undefined where all were empty. */
  readonly share: number | undefined;
  readonly byHeader: boolean;
}

/** Header words that name a kind of value; matched on whole words, so that `zip` is no IP. A number may follow. */
const words: Readonly<Record<Intelligence | 'country', RegExp>> = {
  ip: header('ip|ipv4|ip[\\s_.-]?addr(?:ess)?', 'v4|address|addr'),
  phone: header(
    'phone|phonenumber|telephone|tel|telefon|mobile|cell|cellphone|msisdn',
    'no|nr|num|number|e164',
  ),
  email: header('e[\\s_.-]?mail|mail', 'address|addr'),
  country: header('country|countrycode|cc|iso2', 'code|iso|iso2'),
};

function header(named: string, detail: string): RegExp {
  return new RegExp(`^(?:.*[\\s_.-])?(?:${named})(?:[\\s_.-](?:${detail}))?[\\s_.#-]*\\d*$`, 'i');
}

/** Matches `Signup IP`, `signup_ip` and `signupIp` alike. */
function hasWord(kind: Guess['operation'], name: string): boolean {
  return words[kind].test(name.trim().replace(/([a-z\d])([A-Z])/g, '$1_$2'));
}

/** From this share on, the content alone speaks for a kind, or confirms a header. */
const CONTENT_SPEAKS = 0.9;
const CONTENT_CONFIRMS = 0.5;

interface Column {
  readonly name: string;
  readonly cell: Cell;
}

/** Looks at header words and at the first rows: which column holds what, and how sure that is. */
export function detectColumns(
  names: readonly string[],
  sample: readonly Row[],
  country: {column?: string | undefined; fallback?: string | undefined} = {},
): Guess[] {
  const columns = names.map(name => ({name, cell: cellReader(name, names)}));
  const countryGuess =
    country.column === undefined
      ? columns.map(column => guessCountry(column, sample)).find(guess => guess?.confidence === 'sure')
      : undefined;
  const countryName = country.column ?? countryGuess?.column;
  const countryCell = countryName === undefined ? undefined : cellReader(countryName, names);
  const judges: Readonly<Record<Intelligence, (text: string, row: Row) => string>> = {
    ip: text => canonicalIp(text).state,
    email: text => canonicalEmail(text).state,
    phone: (text, row) => canonicalPhone(text, countryCell?.(row) || country.fallback).state,
  };
  const guesses: Guess[] = countryGuess === undefined ? [] : [countryGuess];
  for (const column of columns) {
    const guess = (['email', 'ip', 'phone'] as const)
      .map(operation => guessColumn(operation, column, sample, judges[operation]))
      .filter(found => found !== undefined)
      .sort(
        (a, b) =>
          Number(b.confidence === 'sure') - Number(a.confidence === 'sure') ||
          Number(b.byHeader) - Number(a.byHeader),
      )[0];
    if (guess !== undefined) guesses.push(guess);
  }
  return guesses;
}

function guessColumn(
  operation: Intelligence,
  column: Column,
  sample: readonly Row[],
  judge: (text: string, row: Row) => string,
): Guess | undefined {
  const byHeader = hasWord(operation, column.name);
  let values = 0;
  let valid = 0;
  let telling = 0;
  for (const row of sample) {
    const text = column.cell(row);
    if (text === undefined) continue;
    const state = judge(text, row);
    if (state === 'empty') continue;
    values += 1;
    if (state !== 'value') continue;
    valid += 1;
    // Any long number can be a phone number: without a header only the international form speaks for one.
    if (operation !== 'phone' || text.trim().startsWith('+')) telling += 1;
  }
  const share = values === 0 ? undefined : valid / values;
  const base = {operation, column: column.name, share, byHeader};
  if (byHeader)
    return {...base, confidence: share === undefined || share >= CONTENT_CONFIRMS ? 'sure' : 'unsure'};
  if (share === undefined || share < CONTENT_SPEAKS) return undefined;
  if (telling / values >= CONTENT_SPEAKS && values >= 5) return {...base, confidence: 'sure'};
  return operation === 'phone' ? undefined : {...base, confidence: 'unsure'};
}

function guessCountry(column: Column, sample: readonly Row[]): Guess | undefined {
  if (!hasWord('country', column.name)) return undefined;
  const texts = sample.map(row => column.cell(row)?.trim() ?? '').filter(text => text !== '');
  const share =
    texts.length === 0 ? undefined : texts.filter(text => /^[A-Za-z]{2}$/.test(text)).length / texts.length;
  const confidence = share !== undefined && share >= CONTENT_SPEAKS ? 'sure' : 'unsure';
  return {operation: 'country', column: column.name, confidence, share, byHeader: true};
}
