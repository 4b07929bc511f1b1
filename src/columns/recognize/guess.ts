import {type Intelligence, operations} from '../../operations/table.ts';
import type {CellReader} from '../targets.ts';
import type {Column} from './column.ts';

/** The country column of phone numbers, else the possible ones. `row`: where two of them differ first. */
export interface CountryChoice {
  readonly found?: Column;
  readonly columns: readonly Column[];
  readonly row?: number | undefined;
}

/** The columns with countries that are not taken: their header may mean another country than that of the numbers. */
export interface OtherCountries {
  readonly named: readonly string[];
  /** Of these, the one that shows to be that of the numbers: different countries in it make nearly all of them valid. */
  readonly fitting?: string | undefined;
}

export interface ColumnGuess {
  readonly operation: Intelligence;
  readonly column: string;
  readonly cell: CellReader;
  /** `sure`: the run looks the column up. `ask`: it stops and asks for a flag. `name`: it names the column, and its flag. */
  readonly verdict: 'sure' | 'ask' | 'name';
  readonly reason?: Reason | undefined;
  /** Share (0 to 1) of the sample's filled cells that are valid values; undefined if all cells are empty. */
  readonly share: number | undefined;
  /** Share of the filled cells that only lack a country: phone numbers in national form. */
  readonly national: number;
  readonly listed: number;
  /** Share of the filled cells of this kind, also if they lack something for a lookup, or are unknown there. */
  readonly ofKind: number;
  /** Number of filled cells in the sample. `distinct`: number of different values in them. */
  readonly values: number;
  readonly distinct: number;
  /**
   * `plain`: the header names the kind, and all its other words are known as harmless. `strange`: it names the kind
   * and has an unknown word, which may mean someone else (`agent_phone`). `silent`: it does not name the kind.
   */
  readonly header: 'plain' | 'strange' | 'silent';
  /** The most frequent fault of the cells that are not valid values, with the first row that has it. */
  readonly fault?: CellFault | undefined;
  readonly country?: CountryChoice | undefined;
  /** For phone numbers in national form without a country column: the columns that have countries. */
  readonly otherCountries?: OtherCountries | undefined;
}

interface ReasonText {
  /** Stands behind the column in a message, in brackets. */
  readonly says?: string | ((guess: ColumnGuess) => string);
  /** Set if the user may want this column anyway, so that a suggested command includes it. */
  readonly isOffered?: true;
  /** Set if no flag makes the run get answers for the column. */
  readonly isInVain?: true;
}

const reasons = {
  another: {says: 'its name means another party than the person'},
  fax: {says: 'its name means fax or pager'},
  strange: {says: 'its name may mean another party than the person', isOffered: true},
  /** Only its values speak for it. */
  values: {isOffered: true},
  list: {says: 'the first entry of a list', isOffered: true},
  masked: {says: 'masked or anonymized'},
  twin: {says: 'another column has the same value in each row'},
  alike: {says: ({operation}) => `they may be ${operations[operation].others}`},
  shared: {
    says: ({distinct, values}) =>
      `only ${distinct === 1 ? 'one value' : `${distinct} values`} in ${values} rows, where other columns differ: they may be another party's`,
  },
  unknowable: {says: 'all of them private or IPv6', isInVain: true},
  parted: {says: 'its area code is in another column: write the whole number in one', isInVain: true},
  /** None of its values fits, or few. */
  nothing: {isInVain: true},
} as const satisfies Readonly<Record<string, ReasonText>>;

export type Reason = keyof typeof reasons;

/** The text and the remedies of the reason why a column is not looked up; none for one with the verdict `ask`. */
export const reasonOf = ({reason}: ColumnGuess): ReasonText => (reason === undefined ? {} : reasons[reason]);

export interface CellFault {
  readonly code: string;
  readonly row: number | undefined;
  /** The text of most cells of the column, if it repeats: perhaps the list's own word for no value. */
  readonly text: string | undefined;
}

export function mostFrequent<Text extends string>(texts: readonly Text[]): {text?: Text; count: number} {
  const counts = new Map<Text, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [first] = [...counts].sort((a, b) => b[1] - a[1]);
  return first === undefined ? {count: 0} : {text: first[0], count: first[1]};
}

/** Minimum number of equal cells for a word of its own for no value, and its maximum length. */
const FEW_EQUAL = 5;
const LONGEST_WORD = 40;

/** The text that most of these cells have, if it may be the list's own word for no value. `values`: filled cells. */
export function placeholderText(cells: readonly string[], values: number): string | undefined {
  const {text = '', count} = mostFrequent(cells.map(cell => cell.trim()));
  const isWord = text.length <= LONGEST_WORD && !/@|(?:\d\D?){4}/.test(text);
  return isWord && count >= FEW_EQUAL && count > HALF * values ? text : undefined;
}

/** Share of a column's values that must fit its kind to confirm it. */
export const HALF = 0.5;

/** True if a column is unsure only because its phone numbers lack a country. */
export function lacksCountry({verdict, share = 0, national}: ColumnGuess): boolean {
  return national > 0 && verdict !== 'sure' && share + national >= HALF;
}

export function lacksListChoice({verdict, share = 0, listed}: ColumnGuess): boolean {
  return listed > 0 && verdict !== 'sure' && share + listed >= HALF;
}

/** Minimum share of fitting values for a column to be in a suggested command. */
const LEAST_WORTH_NAMING = 0.1;

export function countriesOf(guesses: readonly ColumnGuess[]): string[] {
  return [...new Set(guesses.flatMap(({country}) => country?.found?.name ?? []))];
}

/** The flags with which a suggested command names the guessed columns, sure and unsure ones, and their country columns. */
export function columnFlags(
  guesses: readonly ColumnGuess[],
  countries: readonly string[] = countriesOf(guesses),
): string[] {
  const named = guesses.filter(({share, ofKind}) => share === undefined || ofKind >= LEAST_WORTH_NAMING);
  // A country alone is nothing to look up.
  if (named.length === 0) return [];
  const national = named.filter(lacksCountry);
  return [
    ...named.flatMap(({operation, column}) => [
      `--${operation}`,
      formatColumnChoice(operation, column, named.filter(one => one.operation === operation).length > 1),
    ]),
    ...countries.flatMap(name => ['--country', name]),
    ...(named.some(lacksListChoice) ? ['--from-list', 'first'] : []),
    ...(national.length === 0 || countries.length > 0 ? [] : countryFlags(national)),
  ];
}

/** `--country` with the column that fits these phone columns, else `--default-country COUNTRY`, to be completed. */
export function countryFlags(phones: readonly ColumnGuess[]): [string, string] {
  const [column, ...others] = new Set(phones.map(({otherCountries}) => otherCountries?.fitting));
  return column === undefined || others.length > 0 ? ['--default-country', 'COUNTRY'] : ['--country', column];
}

/** The column as a flag's value. `a=b` alone means column `a`, prefix `b`: a name with `=` gets an explicit prefix. */
export function formatColumnChoice(operation: Intelligence, column: string, isOneOfSeveral = false): string {
  if (!column.includes('=')) return column;
  return `${column}=${isOneOfSeveral ? `${column.replaceAll('=', '_')}_` : operations[operation].prefix}`;
}
