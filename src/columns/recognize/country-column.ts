import type {Row} from '../../input/row.ts';
import {areMostlyUsStates, readCountryCell} from '../../operations/country.ts';
import {validPhone} from '../../operations/phone.ts';
import type {Column} from './column.ts';
import {type CountryChoice, HALF, type OtherCountries} from './guess.ts';
import {hasHeaderWord} from './header.ts';
import {createHeaderVocabulary} from './vocabulary.ts';

/**
 * Kinds of country columns by their headers, best first; any other column is only named, with the flag that takes it.
 *
 * | header | evidence needed | |
 * |---|---|---|
 * | `phone`: `phone_country`, or a calling code beside the number (`dial_code`) | half of the cells are countries | taken |
 * | `own`: it begins as its phone column does (`shipping_country`, `shipping_phone`) | the same | taken |
 * | `exact`: `country` | the same; beside others, half of the numbers are valid with it | taken, else asked |
 * | `address`: a person, an address or a container is named (`billing_country`) | both | taken, else asked |
 * | `Country Code` with digits | each is a calling code, and nine of ten numbers are valid with it | taken, else named |
 * | anything else (`login_country`) | half of the cells are countries | named |
 */
const ranks = ['phone', 'own', 'exact', 'address'] as const;
type Rank = (typeof ranks)[number];

interface CountryCandidate {
  readonly column: Column;
  readonly rank: Rank | undefined;
  /** The sample's national phone numbers in E.164 form, by this column's countries; undefined if invalid. */
  readonly readings: readonly (string | undefined)[];
  readonly valid: number;
  /** Share of these phone numbers that are valid, among rows with a country; 1 without such rows. */
  readonly fit: number;
}

/** Maximum number of national phone numbers that are read with each country column, to compare these columns. */
const MOST_TRIED = 200;
/** Share of phone numbers that must be valid with a column's countries or calling codes, if its name is no proof. */
const SPEAKS = 0.9;

/** The country column of each phone column: of those that were known when it was chosen, and of any other. */
export interface CountryColumns {
  readonly of: (phone: string) => CountryChoice | undefined;
  /** Finds the columns with countries that are not taken by their header, for the numbers of a column without one. */
  readonly others: (phone: Column) => OtherCountries;
  readonly named: readonly Column[];
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
  const rankOf = rankerOf(columns, phones, meant);
  const all = nationalCells(phones, sample, MOST_TRIED);
  const asked =
    meant.length > 0 ? meant : columns.filter(column => column.says.has('country') || isDialling(column));
  const read = asked.map(column => readCodes(column, sample, all));
  const others = (phone: Column) => {
    const isFree = (column: Column) => column.name !== phone.name && rankOf(column, phone) === undefined;
    return othersFor(nationalCells([phone], sample, MOST_TRIED), columns.filter(isFree), sample);
  };
  const [only] = read;
  if (only !== undefined && meant.length === 1)
    return {named: read, of: () => ({found: only, columns: [only]}), others};
  const found = read.filter(column => hasCountries(column, sample));
  const choose = (national: readonly NationalCell[], phone?: Column) =>
    chosen(
      found.map(column => candidateOf(column, rankOf(column, phone), national)),
      national,
    );
  const usual = choose(all);
  const most = Math.ceil(MOST_TRIED / Math.max(1, phones.length));
  const choiceOf = (phone: Column) => {
    const national = nationalCells([phone], sample, most);
    const isOwn = (column: Column) => ![undefined, 'address'].includes(rankOf(column, phone));
    if (national.length > 0 || found.some(isOwn)) return choose(national, phone);
    // Nothing of this column can decide. If the others' numbers can't either, chooses none: later numbers must not be
    // read with a country that may not be theirs.
    return usual?.found && usual;
  };
  const known = new Map(phones.map(phone => [phone.name, choiceOf(phone)]));
  return {
    named: meant.length > 0 ? read : [],
    of: phone => (known.has(phone) ? known.get(phone) : usual),
    others,
  };
}

function chosen(
  candidates: readonly CountryCandidate[],
  national: readonly NationalCell[],
): CountryChoice | undefined {
  const placeOf = ({rank}: CountryCandidate) => ranks.indexOf(rank as Rank);
  const inOrder = candidates
    .filter(({rank}) => rank !== undefined)
    .sort((a, b) => placeOf(a) - placeOf(b) || b.valid - a.valid);
  const [first, ...others] = inOrder;
  if (first === undefined) return undefined;
  // If the first candidate's countries don't fit the numbers, the choice is unclear. A single candidate is
  // trusted anyway, unless it is the country of another address of the person.
  if (first.fit < HALF && (others.length > 0 || first.rank === 'address'))
    return {columns: inOrder.sort((a, b) => b.valid - a.valid).map(({column}) => column)};
  for (const rival of others.filter(({rank, fit}) => rank === first.rank && fit >= HALF)) {
    const at = first.readings.findIndex((reading, n) => isOther(reading, rival.readings[n]));
    if (at >= 0) return {columns: [first.column, rival.column], row: national[at]?.row.record};
  }
  // A row without a calling code has the country that the other columns say.
  const cells = (first.rank === 'phone' ? inOrder : [first]).map(({column}) => column.cell);
  const cell = (row: Row) => cells.map(read => read(row)).find(saysSomething);
  return {found: {...first.column, cell}, columns: [first.column]};
}

function othersFor(
  national: readonly NationalCell[],
  columns: readonly Column[],
  sample: readonly Row[],
): OtherCountries {
  const found = columns.flatMap(column => {
    // Two letters may also be a language, a state or a canton, if no word for country is in the header.
    const mayBeCode = column.says.has('country') || hasHeaderWord(column.heading, 'country');
    const cell: Column['cell'] = row => {
      const text = column.cell(row) ?? '';
      return mayBeCode || !/^\p{L}{1,3}$/u.test(text.trim()) ? text : '-?';
    };
    const read = {...column, cell};
    return hasCountries(read, sample) ? [candidateOf(read, undefined, national)] : [];
  });
  const [best] = found.toSorted((a, b) => b.valid - a.valid);
  const said = new Set(best === undefined ? [] : national.map(({row}) => best.column.cell(row)?.trim()));
  const isShown = best !== undefined && best.valid >= SPEAKS * national.length && said.size > 1;
  return {named: found.map(({column}) => column.name), fitting: isShown ? best.column.name : undefined};
}

const isCountry = (text: string) => typeof readCountryCell(text) === 'object';
const saysSomething = (text: string | undefined) => readCountryCell(text) !== 'none';
const isOther = (a: string | undefined, b: string | undefined) =>
  a !== undefined && b !== undefined && a !== b;

const countryTexts = ({cell}: Column, sample: readonly Row[]) =>
  sample.map(row => cell(row) ?? '').filter(saysSomething);

interface NationalCell {
  readonly row: Row;
  readonly text: string;
}

/** Returns at most `most` phone numbers that need a country to be read (national ones), with their rows. */
function nationalCells(phones: readonly Column[], sample: readonly Row[], most: number): NationalCell[] {
  const cells = sample.flatMap(row => phones.map(({cell}) => ({row, text: cell(row) ?? ''})));
  return cells.filter(({text}) => /^[^+]*\d{3}/.test(text)).slice(0, most);
}

/** True if at least half of a column's texts are countries. States of the US do not count: some are also countries, such as `georgia`. */
function hasCountries(column: Column, sample: readonly Row[]): boolean {
  const said = countryTexts(column, sample);
  return said.filter(isCountry).length >= HALF * Math.max(1, said.length) && !areMostlyUsStates(said);
}

function candidateOf(
  column: Column,
  rank: Rank | undefined,
  national: readonly NationalCell[],
): CountryCandidate {
  const countries = national.map(({row}) => column.cell(row) ?? '');
  const readings = national.map(({text}, n) => validPhone(text, countries[n]));
  const tried = countries.filter(isCountry).length;
  const valid = readings.filter(reading => reading !== undefined).length;
  return {column, rank, readings, valid, fit: tried === 0 ? 1 : valid / tried};
}
const isDialling = ({heading}: Column) => hasHeaderWord(heading, 'dialling');
/** Event trackers write what they know of the visit, not of the person: `$country_code`, `mp_country_code`, `ga:country`. */
const OF_EVENT = /(?:^|[.\s])(?:\$|mp_|ga:)[^.]*$/;

/** Returns the rank of a column by its header; undefined if its countries may be of something else than the number. */
function rankerOf(columns: readonly Column[], phones: readonly Column[], meant: readonly Column[]) {
  // Calling codes are to the right of their numbers, or to the left: as with the first of both.
  const first = columns.find(column => isDialling(column) || phones.includes(column));
  const step = first !== undefined && phones.includes(first) ? 1 : -1;
  const rankOf = (column: Column, phone: Column | undefined): Rank | undefined => {
    const isBeside = phone && (phones.length === 1 || column.place - phone.place === step);
    if (isDialling(column)) return isBeside ? 'phone' : 'address';
    const says = column.says.get('country');
    if (says === undefined || OF_EVENT.test(column.name)) return undefined;
    const {ahead, isPlain} = says;
    const isWith = (other: Column) => {
      const whose = other.says.get('phone')?.ahead.filter(word => !isPhone(word)) ?? [];
      return ahead.length > 0 && ahead.join(' ') === whose.join(' ') && (isPlain || !ahead.some(isOfVisit));
    };
    if (phone !== undefined && isWith(phone)) return 'own';
    if (!isPlain) return phones.some(isWith) ? 'address' : undefined;
    if (ahead.length === 0) return 'exact';
    return ahead.every(isPhone) ? 'phone' : 'address';
  };
  return (column: Column, phone: Column | undefined) =>
    rankOf(column, phone) ?? (meant.some(({name}) => name === column.name) ? 'exact' : undefined);
}

/** True for words of a visit, whose country is that of an IP address: `login_country`. */
const isOfVisit = (word: string) =>
  createHeaderVocabulary('visits', 'visitors', 'neutral').matches([word], 0).length > 0;
const isPhone = (word: string) => createHeaderVocabulary('phone').matches([word], 0).length > 0;

/** A calling code without its plus, as databases hold it and a spreadsheet makes of it: `49`, `49.0`, `1684`. */
const BARE_CODE = /^(\d{1,4})(?:\.0)?$/;

/**
 * The column, whose digits are read as calling codes if they are: a header of dialling says so. Under any other, such
 * as `Country Code` or `Vorwahl`, each text is a calling code, and nine of ten numbers are valid with theirs.
 */
function readCodes(column: Column, sample: readonly Row[], national: readonly NationalCell[]): Column {
  const withPlus = (text = '') => {
    const code = text.trim().replace(BARE_CODE, '+$1');
    return isCountry(code) ? code : text;
  };
  const read: Column = {...column, cell: row => withPlus(column.cell(row))};
  if (isDialling(column) && !hasHeaderWord(column.heading, 'areaCodes')) return read;
  const areCodes = countryTexts(read, sample).every(text => /^\W*\+/.test(text) && isCountry(text));
  const {fit, valid} = candidateOf(read, undefined, national);
  return areCodes && valid > 0 && fit >= SPEAKS ? read : column;
}
