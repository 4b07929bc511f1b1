import type {Row} from '../../input/row.ts';
import {phoneCountry, saysNoCountry} from '../../operations/country.ts';
import {validPhone} from '../../operations/phone.ts';
import {type Column, columnsOf} from './column.ts';
import {tokensOf} from './tokens.ts';

/** What a column of countries is worth to the phone numbers of its rows. */
export interface CountryColumn {
  readonly column: Column;
  /** Share of its cells that name a country, of those that say something. */
  readonly share: number;
}

/** The column that says where phone numbers belong, or several of which none can be told to be the one. */
export type CountryChoice =
  | {readonly found: CountryColumn}
  | {readonly torn: readonly CountryColumn[]; readonly row: number | undefined}
  | undefined;

/** By how exactly its header names the phone numbers' country; in that order they are preferred. */
const ranks = ['phone', 'exact', 'address', 'elsewhere'] as const;
type Rank = (typeof ranks)[number];

interface Candidate extends CountryColumn {
  readonly rank: Rank;
  /** What the numbers in national form are with its countries: E.164, where that is valid. */
  readonly readings: readonly (string | undefined)[];
  /** Share of those that are valid, of the ones in whose row it names a country; undefined for no such numbers. */
  readonly fit: number | undefined;
}

/** Half of what a column says has to be countries, and half of the numbers valid with them. */
const MOSTLY = 0.5;
/** So many numbers in national form are tried. */
const MOST_TRIED = 200;

/**
 * An exact name first (`country`), then the one with whose countries the numbers are valid. Never one that is about
 * something else, as `IP Country` and `Birth Country`; and none where two would make different numbers of one.
 */
export function chooseCountry(
  columns: readonly Column[],
  phones: readonly Column[],
  sample: readonly Row[],
): CountryChoice {
  const national = nationalCells(phones, sample);
  const candidates = columns.flatMap(column => candidateOf(column, sample, national) ?? []);
  const isFit = ({fit = 1}: Candidate) => fit >= MOSTLY;
  const inOrder = candidates
    .filter(({rank}) => rank !== 'elsewhere')
    .sort((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank) || validOf(b) - validOf(a));
  const [first] = inOrder;
  if (first === undefined) return undefined;
  // Where nothing else is there to go by, an exact name is believed.
  if (!isFit(first) && (inOrder.length > 1 || first.rank === 'address'))
    return {torn: [...inOrder].sort((a, b) => validOf(b) - validOf(a)), row: undefined};
  const rivals = inOrder.filter(other => other !== first && other.rank === first.rank && isFit(other));
  for (const rival of rivals) {
    const at = first.readings.findIndex((reading, n) => isOther(reading, rival.readings[n]));
    if (at >= 0) return {torn: [first, rival], row: national[at]?.row.record};
  }
  return {found: first};
}

/** From this share of the numbers on, a column without such a name is worth offering to a person. */
const SPEAKS = 0.9;

/**
 * The column with whose countries these phone numbers in national form are valid, though its header does not say so: for a
 * person to confirm. Undefined where none does. One that is named as a country was not taken for a reason, such as `IP Country`.
 */
export function countryColumnOf(
  phones: readonly string[],
  names: readonly string[],
  rows: readonly Row[],
): string | undefined {
  const columns = columnsOf(names);
  const national = nationalCells(
    columns.filter(({name}) => phones.includes(name)),
    rows,
  );
  const valid = ({cell}: Column) =>
    national.filter(({row, text}) => {
      const country = cell(row);
      return phoneCountry(country) !== undefined && validPhone(text, country) !== undefined;
    }).length;
  const [best] = columns
    .filter(({name, says}) => !phones.includes(name) && !says.has('country') && !isElsewhere(tokensOf(name)))
    .map(column => ({column, valid: valid(column)}))
    .filter(one => one.valid > 0 && one.valid >= SPEAKS * national.length)
    .sort((a, b) => b.valid - a.valid);
  return best?.column.name;
}

function validOf({readings}: Candidate): number {
  return readings.filter(reading => reading !== undefined).length;
}

function isOther(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

interface NationalCell {
  readonly row: Row;
  readonly text: string;
}

/** The numbers that need a country to be read. */
function nationalCells(phones: readonly Column[], sample: readonly Row[]): NationalCell[] {
  const some: NationalCell[] = [];
  for (const row of sample)
    for (const {cell} of phones) {
      if (some.length >= MOST_TRIED) return some;
      const text = cell(row) ?? '';
      if (/^[^+]*\d{3}/.test(text)) some.push({row, text});
    }
  return some;
}

function candidateOf(
  column: Column,
  sample: readonly Row[],
  national: readonly NationalCell[],
): Candidate | undefined {
  const says = column.says.get('country');
  if (says === undefined) return undefined;
  const texts = sample.map(row => column.cell(row) ?? '').filter(text => text.trim() !== '');
  const said = texts.filter(text => !saysNoCountry(text));
  const share = said.filter(text => phoneCountry(text) !== undefined).length / Math.max(1, said.length);
  if (share < MOSTLY) return undefined;
  const countries = national.map(({row}) => column.cell(row) ?? '');
  const readings = national.map(({text}, n) => validPhone(text, countries[n]));
  const tried = countries.filter(text => phoneCountry(text) !== undefined).length;
  const fit = tried === 0 ? undefined : readings.filter(reading => reading !== undefined).length / tried;
  return {column, share, rank: rankOf(says.ahead, column.isAnothers), readings, fit};
}

/** The country of a phone, a birth, an address on the Internet, a card, a bank: of nobody's phone numbers. */
const ELSEWHERE =
  /^(?:birth|born|ip|geo|card|issu|bank|origin|citizen|national|passport|tax|vat|server|host|browser|locale|currency|store|shop|warehouse|merchant|dest|geburt|herkunft|naissance|nacimiento|nascimento|nascita|出身|出生)/;

function isElsewhere(words: readonly string[]): boolean {
  return words.some(word => ELSEWHERE.test(word));
}

function rankOf(ahead: readonly string[], isAnothers: boolean): Rank {
  if (isAnothers || isElsewhere(ahead)) return 'elsewhere';
  if (ahead.length === 0) return 'exact';
  return ahead.every(word => PHONE.has(word)) ? 'phone' : 'address';
}

const PHONE: ReadonlySet<string> = new Set(
  tokensOf('phone telephone tel mobile cell telefon handy telefono telefone téléphone'),
);
