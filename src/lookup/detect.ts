import type {Row} from '../input/row.ts';
import {type Intelligence, intelligenceNames, operations, perIntelligence} from '../operations/table.ts';
import {type CellReader, cellReader} from './targets.ts';

/** What a column seems to hold, and why. */
export interface Guess {
  readonly operation: Intelligence | 'country';
  readonly column: string;
  /** `sure` is used without asking; `unsure` wants a flag. */
  readonly confidence: 'sure' | 'unsure';
  /** Share of the sample's non-empty cells that can be such a value, 0 to 1; undefined where all were empty. */
  readonly share: number | undefined;
  /** Share of those cells that lack nothing but their country: phone numbers in national form. */
  readonly national: number;
  readonly byHeader: boolean;
}

/**
 * Header words that name a kind of value, in the languages that exports mostly come in; matched on whole words, so that
 * `zip` is no IP. A number may follow.
 */
const words: Readonly<Record<Guess['operation'], RegExp>> = {
  ...perIntelligence(name => header(operations[name].header)),
  country: header({
    named: 'country|countrycode|cc|iso2|land|landercode|pais|pays|paese',
    detail: 'code|iso|iso2',
  }),
};

function header({named, detail}: {named: string; detail: string}): RegExp {
  return new RegExp(`^(?:.*[\\s_.-])?(?:${named})(?:[\\s_.-](?:${detail}))?[\\s_.#-]*\\d*$`, 'i');
}

/** Matches `Signup IP`, `signup_ip` and `signupIp` alike, and `Téléphone` as `telephone`. */
function hasWord(kind: Guess['operation'], name: string): boolean {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '');
  return words[kind].test(plain.trim().replace(/([a-z\d])([A-Z])/g, '$1_$2'));
}

/** From this share on, the content alone speaks for a kind, or confirms a header. */
const CONTENT_SPEAKS = 0.9;
const CONTENT_CONFIRMS = 0.5;

interface Column {
  readonly name: string;
  readonly cell: CellReader;
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
  const countryOf = (row: Row) => countryCell?.(row) || country.fallback;
  const guesses: Guess[] = countryGuess === undefined ? [] : [countryGuess];
  for (const column of columns) {
    const guess = intelligenceNames
      .map(operation => guessColumn(operation, column, sample, countryOf))
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
  countryOf: (row: Row) => string | undefined,
): Guess | undefined {
  const byHeader = hasWord(operation, column.name);
  const {canonical, isTelling} = operations[operation];
  let values = 0;
  let valid = 0;
  let national = 0;
  let telling = 0;
  for (const row of sample) {
    const text = column.cell(row);
    if (text === undefined) continue;
    const judged = canonical(text, countryOf(row));
    if (judged.state === 'empty') continue;
    values += 1;
    if (judged.state === 'invalid' && judged.code === 'country_unknown') national += 1;
    if (judged.state !== 'value') continue;
    valid += 1;
    if (isTelling?.(text) !== false) telling += 1;
  }
  const share = values === 0 ? undefined : valid / values;
  const base = {
    operation,
    column: column.name,
    share,
    national: values === 0 ? 0 : national / values,
    byHeader,
  };
  if (byHeader)
    return {...base, confidence: share === undefined || share >= CONTENT_CONFIRMS ? 'sure' : 'unsure'};
  if (share === undefined || share < CONTENT_SPEAKS) return undefined;
  if (telling / values >= CONTENT_SPEAKS && values >= 5) return {...base, confidence: 'sure'};
  return isTelling === undefined ? {...base, confidence: 'unsure'} : undefined;
}

function guessCountry(column: Column, sample: readonly Row[]): Guess | undefined {
  if (!hasWord('country', column.name)) return undefined;
  const texts = sample.map(row => column.cell(row)?.trim() ?? '').filter(text => text !== '');
  const share =
    texts.length === 0 ? undefined : texts.filter(text => /^[A-Za-z]{2}$/.test(text)).length / texts.length;
  const confidence = share !== undefined && share >= CONTENT_SPEAKS ? 'sure' : 'unsure';
  return {operation: 'country', column: column.name, confidence, share, national: 0, byHeader: true};
}

/** Whether a column is unsure for nothing but the country of its numbers. */
export function lacksCountry({confidence, share = 0, national}: Guess): boolean {
  return national > 0 && confidence === 'unsure' && share + national >= CONTENT_CONFIRMS;
}
