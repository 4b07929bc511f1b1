import type {Row} from '../input/row.ts';
import type {CellRules} from '../operations/cell.ts';
import {phoneCountry, saysNoCountry} from '../operations/country.ts';
import {type Intelligence, intelligenceNames, operations, perIntelligence} from '../operations/table.ts';
import {fieldPaths} from './field-paths.ts';
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
  /** Share of those cells that hold several IP addresses. */
  readonly listed: number;
  readonly byHeader: boolean;
}

/**
 * Header words that name a kind of value, in the languages that exports mostly come in; matched on whole words, so that
 * `zip` is no IP. A number may follow.
 */
const words: Readonly<Record<Guess['operation'], RegExp>> = {
  ...perIntelligence(name => header(operations[name].header)),
  country: header({
    named:
      'country|countrycode|countryname|cc|iso[23]|land|landercode|laendercode|nation|pais|pays|paese|kraj|zeme|maa|ulke|страна|国家?',
    detail: 'code|name|iso|iso[23]',
  }),
};

function header({named, detail}: {named: string; detail: string}): RegExp {
  return new RegExp(`^(?:.*[\\s_.-])?(?:${named})(?:[\\s_.-](?:${detail}))?[\\s_.#-]*\\d*$`, 'i');
}

/** Matches `Signup IP`, `signup_ip`, `signupIp` and `📍IP` alike, and `Téléphone` as `telephone`. */
function hasWord(kind: Guess['operation'], name: string): boolean {
  const plain = name
    .normalize('NFD')
    .replace(/[\p{So}\p{Sk}\p{Cf}]+/gu, ' ')
    .replace(/\p{M}/gu, '');
  return words[kind].test(plain.trim().replace(/([a-z\d])([A-Z])/g, '$1_$2'));
}

/** From this share on, the content alone speaks for a kind, or confirms a header. */
const CONTENT_SPEAKS = 0.9;
const CONTENT_CONFIRMS = 0.5;

/** Codes of what is of its kind, though it can't be looked up as it stands. */
const OF_ITS_KIND: ReadonlySet<string> = new Set(['ipv6_unsupported', 'ip_private', 'calling_code_unclear']);

interface Column {
  readonly name: string;
  readonly cell: CellReader;
}

/** What is known of a list before its columns are guessed. */
export interface Known {
  /** The column of countries. */
  readonly column?: string | undefined;
  /** The country where no column says it. */
  readonly fallback?: string | undefined;
  readonly rules?: CellRules | undefined;
  /** Whether columns have numbers for names, which say nothing. */
  readonly headless?: boolean;
}

/** Looks at header words and at the first rows: which column holds what, and how sure that is. */
export function detectColumns(given: readonly string[], sample: readonly Row[], known: Known = {}): Guess[] {
  const names = sample.some(row => row.type === 'ndjson') ? fieldPaths(given, sample) : given;
  const columns = names.map(name => ({name, cell: cellReader(name, names)}));
  const countryGuess =
    known.column === undefined
      ? columns.map(column => guessCountry(column, sample)).find(guess => guess?.confidence === 'sure')
      : undefined;
  const countryName = known.column ?? countryGuess?.column;
  const countryCell = countryName === undefined ? undefined : cellReader(countryName, names);
  const countryOf = (row: Row) => countryCell?.(row) || known.fallback;
  const guesses: Guess[] = countryGuess === undefined ? [] : [countryGuess];
  for (const column of columns) {
    const guess = intelligenceNames
      .map(operation => guessColumn(operation, column, sample, countryOf, known))
      .filter(found => found !== undefined)
      .sort(
        (a, b) =>
          Number(b.confidence === 'sure') - Number(a.confidence === 'sure') ||
          Number(b.byHeader) - Number(a.byHeader),
      )[0];
    if (guess !== undefined) guesses.push(guess);
  }
  return guesses.filter(
    guess =>
      !isFaint(guess) || !guesses.some(other => other.operation === guess.operation && !isFaint(other)),
  );
}

/** What only most of its values speak for is mentioned where nothing else is of its kind. */
function isFaint({byHeader, confidence, share = 0}: Guess): boolean {
  return !byHeader && confidence === 'unsure' && share < CONTENT_SPEAKS;
}

function guessColumn(
  operation: Intelligence,
  column: Column,
  sample: readonly Row[],
  countryOf: (row: Row) => string | undefined,
  {rules, headless = false}: Known,
): Guess | undefined {
  const byHeader = hasWord(operation, column.name);
  const {isTelling} = operations[operation];
  const {values, valid, national, listed, telling, others} = tallyOf(
    operation,
    sample.map(row => [column.cell(row) ?? '', countryOf(row)]),
    rules,
  );
  const share = values === 0 ? undefined : valid / values;
  const base = {
    operation,
    column: column.name,
    share,
    national: values === 0 ? 0 : national / values,
    listed: values === 0 ? 0 : listed / values,
    byHeader,
  };
  if (byHeader)
    return {
      ...base,
      confidence: share === undefined || share + others / values >= CONTENT_CONFIRMS ? 'sure' : 'unsure',
    };
  if (share === undefined || valid === 0) return undefined;
  const isMost = values >= 5 && telling / values >= CONTENT_CONFIRMS;
  if (share + others / values < CONTENT_SPEAKS) return isMost ? {...base, confidence: 'unsure'} : undefined;
  // Where no header could say otherwise, a few values are enough if there is nothing else.
  const isEnough = values >= 5 || (headless && telling === values);
  if ((telling + others) / values >= CONTENT_SPEAKS && isEnough) return {...base, confidence: 'sure'};
  return isTelling === undefined ? {...base, confidence: 'unsure'} : undefined;
}

type Cells = readonly (readonly [text: string, country: string | undefined])[];

/** What a column's cells are, by the counts that a guess is made of. */
function tallyOf(operation: Intelligence, cells: Cells, rules: CellRules | undefined, isKnown = false) {
  const {canonical, habits, isTelling} = operations[operation];
  /** `others` are of the same kind, though they can't be looked up as they stand. */
  const tally = {values: 0, valid: 0, national: 0, listed: 0, telling: 0, others: 0};
  for (const [text, country] of cells) {
    const judged = canonical(text, country, rules);
    if (judged.state === 'empty') continue;
    tally.values += 1;
    if (judged.state === 'value') {
      tally.valid += 1;
      if (isTelling?.(text) !== false) tally.telling += 1;
      continue;
    }
    // How the column is written is worth finding out only where single cells don't tell.
    if (judged.code === 'calling_code_unclear' && !isKnown)
      return tallyOf(operation, cells, {...rules, ...habits?.(cells)}, true);
    if (judged.code === 'country_unknown') tally.national += 1;
    if (judged.code === 'ip_list') tally.listed += 1;
    if (OF_ITS_KIND.has(judged.code)) tally.others += 1;
  }
  return tally;
}

function guessCountry(column: Column, sample: readonly Row[]): Guess | undefined {
  if (!hasWord('country', column.name)) return undefined;
  const texts = sample.map(row => column.cell(row) ?? '').filter(text => text.trim() !== '');
  const said = texts.filter(text => !saysNoCountry(text));
  const named = said.filter(text => phoneCountry(text) !== undefined);
  const share = said.length === 0 ? undefined : named.length / said.length;
  // Rows whose country is not known are not asked about, whatever the other rows say.
  const confidence = share !== undefined && share >= CONTENT_CONFIRMS ? 'sure' : 'unsure';
  return {
    operation: 'country',
    column: column.name,
    confidence,
    share,
    national: 0,
    listed: 0,
    byHeader: true,
  };
}

/** Whether a column is unsure for nothing but the country of its numbers. */
export function lacksCountry({confidence, share = 0, national}: Guess): boolean {
  return national > 0 && confidence === 'unsure' && share + national >= CONTENT_CONFIRMS;
}

/** Whether a column is unsure for nothing but which of several addresses in a cell is meant. */
export function lacksChoice({confidence, share = 0, listed}: Guess): boolean {
  return listed > 0 && confidence === 'unsure' && share + listed >= CONTENT_CONFIRMS;
}
