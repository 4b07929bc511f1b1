import type {Row} from '../../input/row.ts';
import type {CellRules} from '../../operations/cell.ts';
import {rowCountry} from '../../operations/country.ts';
import {type Intelligence, intelligenceNames, operations} from '../../operations/table.ts';
import {type Column, fieldPaths, type HeaderStructure, listColumns} from './column.ts';
import {type CountryColumns, chooseCountries} from './country-column.ts';
import {guessColumn} from './evidence.ts';
import {type ColumnGuess, HALF} from './guess.ts';
import {namesSomeoneElse, hasHeaderWord as namesWord} from './header.ts';
import {setAsideColumns} from './set-aside-columns.ts';

export interface ColumnHints extends HeaderStructure {
  /** Columns that settings name: phone columns (`numbers`), and country columns (`countries`). */
  readonly numbers?: readonly string[] | undefined;
  readonly countries?: readonly string[] | undefined;
  /** The default country, for rows without a country. */
  readonly fallback?: string | undefined;
  readonly rules?: CellRules | undefined;
}

export interface Detected {
  readonly guesses: readonly ColumnGuess[];
  readonly choices: CountryColumns;
}

/** Guesses from headers and first rows which kind of value each column has, and how sure that is. */
export function detectColumns(
  given: readonly string[],
  sample: readonly Row[],
  known: ColumnHints = {},
): Detected {
  const found = sample.some(row => row.type === 'ndjson') ? fieldPaths(given, sample) : given;
  const {numbers = []} = known;
  const names = [...new Set([...found, ...numbers, ...(known.countries ?? [])])];
  const columns = listColumns(names, given, known).map((column, at, all) =>
    isLabelledAnothers(column, all[at - 1], sample) ? {...column, isAnothers: true} : column,
  );
  const phones = phonesOf(columns, numbers);
  const choices = chooseCountries(columns, phones, sample, known.countries);
  const detected = intelligenceNames.filter(name => operations[name].isDetected);
  const guesses = columns.flatMap(column => {
    const country = choices.of(column.name);
    const cells = sample.map(row => ({
      row: row.record,
      text: column.cell(row) ?? '',
      country: rowCountry(country?.found?.cell(row), known.fallback),
    }));
    const surest = surestOf(column, detected, name => guessColumn(name, column, cells, known.rules));
    if (surest === undefined) return [];
    const guess = {
      ...withoutArea(surest, column, columns, country?.found?.name, sample),
      ...(surest.operation === 'phone' && known.countries === undefined && {country}),
    };
    const isOpen = guess.national > 0 && country?.found === undefined;
    return isOpen ? {...guess, otherCountries: choices.others(column)} : guess;
  });
  return {guesses: setAsideColumns(withoutTwins(guesses, columns, sample), known.headless === true), choices};
}

/** Leaves out each column that has, in each row, the value of one with a shorter name, and no plain header. */
function withoutTwins(
  guesses: readonly ColumnGuess[],
  columns: readonly Column[],
  sample: readonly Row[],
): ColumnGuess[] {
  const open = guesses.filter(({reason, values}) => reason === undefined && values > 0);
  const cells = new Map(columns.map(({name, cell}) => [name, cell]));
  const isTwin = (guess: ColumnGuess, other: ColumnGuess) =>
    other.operation === guess.operation &&
    (other.column.length < guess.column.length || other.header === 'plain') &&
    sample.every(row => cells.get(guess.column)?.(row) === cells.get(other.column)?.(row));
  return guesses.map((guess): ColumnGuess => {
    const mayBe = guess.header !== 'plain' && open.includes(guess);
    const isLeft = mayBe && open.some(other => other !== guess && isTwin(guess, other));
    return isLeft ? {...guess, verdict: 'name', reason: 'twin'} : guess;
  });
}

/**
 * True for `Phone 2 - Value` if the column before it, `Phone 2 - Label`, has a cell that names someone other than
 * the row's person, such as `Spouse`.
 */
function isLabelledAnothers({heading}: Column, label: Column | undefined, sample: readonly Row[]): boolean {
  const stemOf = (text: string) => / - /.test(text) && text.slice(0, text.lastIndexOf(' - '));
  if (label === undefined || stemOf(heading) === false || stemOf(heading) !== stemOf(label.heading))
    return false;
  return sample.some(row => namesSomeoneElse(label.cell(row) ?? ''));
}

/**
 * The guess, only named if the numbers lack their area code and it is in another column: `030` beside `2312500`. Without
 * it they may be those of another area. A calling code may stand before the area code.
 */
function withoutArea(
  guess: ColumnGuess,
  {cell}: Column,
  columns: readonly Column[],
  codes: string | undefined,
  sample: readonly Row[],
): ColumnGuess {
  const digitsOf = (text = '') => text.replace(/\D/g, '').replace(/^0+/, '');
  const isParted = (area: Column) => {
    const pairs = sample
      .map(row => [digitsOf(area.cell(row)), cell(row) ?? ''] as const)
      .filter(([code, text]) => /^\d{1,6}$/.test(code) && /\d/.test(text));
    const lacking = pairs.filter(
      ([code, text]) =>
        !/^\W*[+＋]/.test(text) &&
        !digitsOf(text)
          .slice(0, code.length + 3)
          .includes(code),
    );
    return lacking.length > 0 && lacking.length >= HALF * pairs.length;
  };
  if (guess.operation !== 'phone' || guess.reason !== undefined) return guess;
  const areas = columns.filter(({name, heading}) => name !== codes && namesWord(heading, 'areaCodes'));
  return areas.some(isParted) ? {...guess, verdict: 'name', reason: 'parted'} : guess;
}

/**
 * The phone columns that need a country column: those that settings name, and those whose headers say phone.
 * A header with an unknown word (`Accountant Phone`) counts only if no phone header has known words alone
 * (`Billing Phone 2`).
 */
function phonesOf(columns: readonly Column[], numbers: readonly string[]): Column[] {
  const isMeant = ({name}: Column) => numbers.includes(name);
  const named = columns.filter(({says, isAnothers}) => {
    const strength = says.get('phone')?.strength;
    return strength !== undefined && strength !== 'mentioned' && !isAnothers;
  });
  const plain = named.filter(({says}) => says.get('phone')?.isPlain === true);
  const own = plain.length > 0 ? plain : named;
  return columns.filter(column => isMeant(column) || own.includes(column));
}

/**
 * The surest of a column's guesses. Among equally sure ones, prefers one that is not only named, then one that the header supports. Once nothing can be surer, the cells are judged for no other kind: that
 * takes most of a short run's time.
 */
function surestOf(
  {says}: Column,
  names: readonly Intelligence[],
  guessAs: (name: Intelligence) => ColumnGuess | undefined,
): ColumnGuess | undefined {
  const doubtsOf = ({verdict, header}: ColumnGuess) =>
    ({sure: 0, ask: 4, name: 6})[verdict] + (header === 'silent' ? 1 : 0);
  let surest: ColumnGuess | undefined;
  for (const name of names.toSorted((a, b) => Number(says.has(b)) - Number(says.has(a)))) {
    const guess = guessAs(name);
    if (guess && (surest === undefined || doubtsOf(guess) < doubtsOf(surest))) surest = guess;
    if (surest && doubtsOf(surest) === 0) break;
  }
  return surest;
}
