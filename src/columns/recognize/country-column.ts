import type {Row} from '../../input/row.ts';
import {areMostlyUsStates, readCountryCell} from '../../operations/country.ts';
import {validPhone} from '../../operations/phone.ts';
import type {Column} from './column.ts';
import {CONFIRMING_SHARE, type ColumnGuess} from './guess.ts';
import {hasHeaderWord as namesWord} from './header.ts';
import {createHeaderVocabulary, listPhrases, tokenize} from './vocabulary.ts';

export interface CountryColumn {
  readonly column: Column;
  /** Share of the column's filled cells that are countries. Placeholders such as n/a do not count as filled. */
  readonly share: number;
}

/**
 * The country column of phone numbers (`found`), else the possible ones. `row`: the first row in which two of them give
 * different numbers.
 */
export interface CountryColumnChoice {
  readonly found?: Column;
  readonly columns: readonly CountryColumn[];
  readonly row?: number | undefined;
}

/**
 * Kinds of country columns by their headers, best first. `phone`: `phone_country`. `own`: it begins as its phone
 * column does (`shipping_country`, `shipping_phone`). `exact`: `country`. `address`: the country of another
 * address of the person (`billing_country`). `elsewhere`: the country of something else, such as a birth, an IP
 * address or a card, which is never chosen.
 */
const ranks = ['phone', 'own', 'exact', 'address', 'elsewhere'] as const;
type Rank = (typeof ranks)[number];

/** The evidence for a column of countries. */
interface CountryCandidate extends CountryColumn {
  readonly rank: Rank;
  /** The sample's national phone numbers in E.164 form, by this column's countries; undefined if invalid. */
  readonly readings: readonly (string | undefined)[];
  readonly valid: number;
  /** Share of these phone numbers that are valid, among rows with a country; 1 without such rows. */
  readonly fit: number;
}

/** Maximum number of national phone numbers that are read with each country column, to compare these columns. */
const MOST_TRIED = 200;

/** The country column of each phone column: of those that were known when it was chosen, and of any other. */
export interface CountryColumns {
  readonly of: (phone: string) => CountryColumnChoice | undefined;
  /** The columns with countries: sure, or only possible. */
  readonly guesses: readonly ColumnGuess[];
}

/**
 * Chooses a country column for each phone column, since `shipping_phone` may be of another country than
 * `billing_phone`. Prefers the header by its rank, then the column with which most numbers are valid. Chooses none if
 * two equally good columns would give a phone number different countries. If `named` has one column, trusts it; if it
 * has several, chooses among them.
 */
export function chooseCountries(
  columns: readonly Column[],
  phones: readonly Column[],
  sample: readonly Row[],
  named: readonly string[] = [],
): CountryColumns {
  const meant = columns.filter(({name}) => named.includes(name));
  const [only] = meant;
  if (only !== undefined && meant.length === 1)
    return choicesOf([], {found: only, columns: [{column: only, share: 1}]});
  const asked = meant.length > 0 ? meant : columns.filter(({says}) => says.has('country'));
  const some = asked.flatMap(column => countriesIn(column, sample) ?? []);
  const choose = (phone: Column | undefined, national: readonly NationalCell[]) => {
    const candidates = some.map(one => candidateOf(one, phone, national));
    const isNamed = candidates.some(({rank}) => rank !== 'address' && rank !== 'elsewhere');
    return {isNamed, choice: chosen(candidates, national)};
  };
  const others = choose(undefined, nationalCells(phones, sample, MOST_TRIED)).choice;
  const each = Math.ceil(MOST_TRIED / Math.max(1, phones.length));
  const choiceOf = (phone: Column) => {
    const national = nationalCells([phone], sample, each);
    const {isNamed, choice} = choose(phone, national);
    if (national.length > 0 || isNamed) return choice;
    // Neither this column's header nor its numbers can decide. If the other columns' can't either, chooses none: later
    // numbers must not be read with a country that may not be theirs.
    return others?.found === undefined ? undefined : others;
  };
  return choicesOf(
    phones.map(phone => [phone.name, choiceOf(phone)]),
    others,
  );
}

type Chosen = readonly [phone: string | undefined, choice: CountryColumnChoice | undefined];

function choicesOf(known: readonly Chosen[], others: CountryColumnChoice | undefined): CountryColumns {
  const choices = new Map(known);
  return {
    of: phone => (choices.has(phone) ? choices.get(phone) : others),
    guesses: guessesOf(known.length > 0 ? known : [[undefined, others]]),
  };
}

function chosen(
  candidates: readonly CountryCandidate[],
  national: readonly NationalCell[],
): CountryColumnChoice | undefined {
  const inOrder = candidates
    .filter(({rank}) => rank !== 'elsewhere')
    .sort((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank) || b.valid - a.valid);
  const [first, ...others] = inOrder;
  if (first === undefined) return undefined;
  // If the first candidate's countries don't fit the numbers, the choice is unclear. A single candidate is
  // trusted anyway, unless it is the country of another address of the person.
  if (first.fit < CONFIRMING_SHARE && (others.length > 0 || first.rank === 'address'))
    return {columns: inOrder.sort((a, b) => b.valid - a.valid)};
  for (const rival of others.filter(({rank, fit}) => rank === first.rank && fit >= CONFIRMING_SHARE)) {
    const at = first.readings.findIndex((reading, n) => isOther(reading, rival.readings[n]));
    if (at >= 0) return {columns: [first, rival], row: national[at]?.row.record};
  }
  return {found: first.column, columns: [first]};
}

/** The fields of a guess that a country column does not need. */
const NO_VALUES = {national: 0, listed: 0, values: 0, distinct: 0, header: 'plain'} as const;

/** Returns a sure guess for each chosen country column, and an unsure one for each that is only possible. */
function guessesOf(choices: readonly Chosen[]): ColumnGuess[] {
  const guesses = new Map<string, ColumnGuess>();
  for (const [phone, {found, columns = [], row} = {}] of choices)
    for (const {column, share} of columns) {
      const confidence = found === undefined ? 'unsure' : 'sure';
      const key = `${confidence} ${column.name}`;
      const before = guesses.get(key);
      const numbers = [...(before?.numbers ?? []), ...(phone === undefined ? [] : [phone])];
      const own = {operation: 'country', column: column.name, confidence, share, ofKind: share, row} as const;
      guesses.set(key, {...NO_VALUES, ...own, ...before, numbers});
    }
  return [...guesses.values()];
}

/** Share of phone numbers that must be valid with a column's countries to suggest the column despite its name. */
const SPEAKS = 0.9;

/**
 * Finds a column to suggest as country column: it makes the national numbers valid, though its header does not
 * name countries. Undefined if no column does. Columns whose header names countries, such as `IP Country`, were
 * judged before, so this function skips them.
 */
export function suggestCountryColumn(
  phone: Column,
  columns: readonly Column[],
  sample: readonly Row[],
): string | undefined {
  const national = nationalCells([phone], sample, MOST_TRIED);
  const [best] = columns
    .filter(({name, says}) => name !== phone.name && !says.has('country') && !isElsewhere(tokenize(name)))
    .map(column => {
      // Two letters may also be a language, a state or a canton. So they count only under a header with a
      // word for country.
      const mayBeCode = namesWord(column.heading, 'country');
      const says = ({row}: NationalCell) => {
        const text = column.cell(row) ?? '';
        return (mayBeCode || !/^\p{L}{1,3}$/u.test(text.trim())) && isCountry(text);
      };
      return candidateOf({column, share: 0}, undefined, national.filter(says));
    })
    .filter(({valid}) => valid > 0 && valid >= SPEAKS * national.length)
    .sort((a, b) => b.valid - a.valid);
  return best?.column.name;
}

const isCountry = (text: string) => typeof readCountryCell(text) === 'object';
const isOther = (a: string | undefined, b: string | undefined) =>
  a !== undefined && b !== undefined && a !== b;

interface NationalCell {
  readonly row: Row;
  readonly text: string;
}

/** Returns at most `most` phone numbers that need a country to be read (national ones), with their rows. */
function nationalCells(phones: readonly Column[], sample: readonly Row[], most: number): NationalCell[] {
  const some: NationalCell[] = [];
  for (const row of sample)
    for (const {cell} of phones) {
      if (some.length >= most) return some;
      const text = cell(row) ?? '';
      if (/^[^+]*\d{3}/.test(text)) some.push({row, text});
    }
  return some;
}

/**
 * Returns the column if at least half of its texts are countries. Returns undefined for states of the US,
 * since some of them are also countries, such as `georgia`.
 */
function countriesIn(column: Column, sample: readonly Row[]): CountryColumn | undefined {
  const said = sample.map(row => column.cell(row) ?? '').filter(text => readCountryCell(text) !== 'none');
  if (areMostlyUsStates(said)) return undefined;
  const share = said.filter(isCountry).length / Math.max(1, said.length);
  return share < CONFIRMING_SHARE ? undefined : {column, share};
}

function candidateOf(
  {column, share}: CountryColumn,
  phone: Column | undefined,
  national: readonly NationalCell[],
): CountryCandidate {
  const countries = national.map(({row}) => column.cell(row) ?? '');
  const readings = national.map(({text}, n) => validPhone(text, countries[n]));
  const tried = countries.filter(isCountry).length;
  const valid = readings.filter(reading => reading !== undefined).length;
  return {column, share, rank: rankOf(column, phone), readings, valid, fit: tried === 0 ? 1 : valid / tried};
}

const ELSEWHERE = new RegExp(`^(?:${listPhrases('elsewhere').join('|')})`);
const isElsewhere = (words: readonly string[]) => words.some(word => ELSEWHERE.test(word));
const isPhone = (word: string) => createHeaderVocabulary('phone').matches([word], 0).length > 0;

function rankOf({says, isAnothers}: Column, phone: Column | undefined): Rank {
  const ahead = says.get('country')?.ahead ?? [];
  const whose = phone?.says.get('phone')?.ahead ?? [];
  const isOwn = ahead.length > 0 && ahead.join(' ') === whose.filter(word => !isPhone(word)).join(' ');
  if (isOwn) return 'own';
  if (isAnothers || isElsewhere(ahead)) return 'elsewhere';
  if (ahead.length === 0) return 'exact';
  return ahead.every(isPhone) ? 'phone' : 'address';
}
