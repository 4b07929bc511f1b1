import type {Row} from '../../input/row.ts';
import type {CellRules} from '../../operations/cell.ts';
import {rowCountry} from '../../operations/country.ts';
import {type Intelligence, intelligenceNames, operations} from '../../operations/table.ts';
import {type Column, fieldPaths, type HeaderStructure, listColumns} from './column.ts';
import {type CountryColumns, chooseCountries} from './country-column.ts';
import {guessColumn} from './evidence.ts';
import {type ColumnGuess, HALF, lacksCountry, type Reason} from './guess.ts';
import {hasHeaderWord, namesSomeoneElse} from './header.ts';

export interface ColumnHints extends HeaderStructure {
  /** Columns that settings name: phone columns (`numbers`), and country columns (`countries`). */
  readonly numbers?: readonly string[] | undefined;
  readonly countries?: readonly string[] | undefined;
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
    const guess = surestOf(column, detected, name => guessColumn(name, column, cells, known.rules));
    if (guess === undefined) return [];
    const isChosen = guess.operation === 'phone' && known.countries === undefined;
    const isOpen = guess.national > 0 && country?.found === undefined;
    return {
      ...guess,
      ...(isChosen && {country}),
      ...(isOpen && {otherCountries: choices.others(column)}),
    };
  });
  const list = {columns, sample, choices, headless: known.headless === true};
  return {guesses: setAsideColumns(guesses, list), choices};
}

/** True for `Phone 2 - Value` if the column before it, `Phone 2 - Label`, has a cell such as `Spouse`. */
function isLabelledAnothers({heading}: Column, label: Column | undefined, sample: readonly Row[]): boolean {
  const stemOf = (text: string) => / - /.test(text) && text.slice(0, text.lastIndexOf(' - '));
  const stem = stemOf(heading);
  if (label === undefined || stem === false || stem !== stemOf(label.heading)) return false;
  return sample.some(row => namesSomeoneElse(label.cell(row) ?? ''));
}

/**
 * The phone columns that need a country column: those that settings name, and those whose headers say phone. A header
 * with an unknown word (`Accountant Phone`) counts only if no phone header has known words alone (`Billing Phone 2`).
 */
function phonesOf(columns: readonly Column[], numbers: readonly string[]): Column[] {
  const named = columns.filter(({says, isAnothers}) => {
    const strength = says.get('phone')?.strength;
    return strength !== undefined && strength !== 'mentioned' && !isAnothers;
  });
  const plain = named.filter(({says}) => says.get('phone')?.isPlain === true);
  const headed = plain.length > 0 ? plain : named;
  return columns.filter(column => numbers.includes(column.name) || headed.includes(column));
}

/** The surest of a column's guesses. Once nothing can be surer, the cells are judged for no other kind: that takes long. */
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

interface GuessedList {
  readonly columns: readonly Column[];
  readonly sample: readonly Row[];
  readonly choices: CountryColumns;
  readonly headless: boolean;
}

/** Why a column is left out among all others; undefined if it is not. */
type ReasonOf = (guess: ColumnGuess, all: readonly ColumnGuess[], list: GuessedList) => Reason | undefined;

/** Leaves out the columns against which another column speaks, and of strange ones those that mostly lack such values. */
function setAsideColumns(all: readonly ColumnGuess[], list: GuessedList): ColumnGuess[] {
  return REASONS.reduce(
    (guesses, reasonOf) =>
      guesses.map((guess): ColumnGuess => {
        const reason = reasonOf(guess, guesses, list);
        return reason === undefined ? guess : {...guess, verdict: 'name', reason};
      }),
    [...all],
  ).filter(({reason, ofKind}) => reason !== 'strange' || ofKind >= HALF);
}

/**
 * The numbers lack their area code, which is in another column: `030` beside `2312500`. Without it they may be those of
 * another area. A calling code may stand before the area code.
 */
const withoutArea: ReasonOf = ({operation, column, reason, cell}, _, {columns, sample, choices}) => {
  if (operation !== 'phone' || reason !== undefined) return undefined;
  const digitsOf = (text = '') => text.replace(/\D/g, '').replace(/^0+/, '');
  const isParted = (area: Column) => {
    const pairs = sample
      .map(row => [digitsOf(area.cell(row)), cell(row) ?? ''] as const)
      .filter(([code, text]) => /^\d{1,6}$/.test(code) && /\d/.test(text));
    const isLacking = (code: string, text: string) =>
      !/^\W*[+＋]/.test(text) &&
      !digitsOf(text)
        .slice(0, code.length + 3)
        .includes(code);
    const lacking = pairs.filter(([code, text]) => isLacking(code, text)).length;
    return lacking > 0 && lacking >= HALF * pairs.length;
  };
  const codes = choices.of(column)?.found?.name;
  const areas = columns.filter(({name, heading}) => name !== codes && hasHeaderWord(heading, 'areaCodes'));
  return areas.some(isParted) ? 'parted' : undefined;
};

/** It has, in each row, the value of a column with a shorter name or a plain header. */
const asTwin: ReasonOf = (guess, all, {sample}) => {
  const mayBe = ({operation, reason, values}: ColumnGuess) =>
    operation === guess.operation && reason === undefined && values > 0;
  if (guess.header === 'plain' || !mayBe(guess)) return undefined;
  const isTwin = (other: ColumnGuess) =>
    other !== guess &&
    mayBe(other) &&
    (other.column.length < guess.column.length || other.header === 'plain') &&
    sample.every(row => guess.cell(row) === other.cell(row));
  return all.some(isTwin) ? 'twin' : undefined;
};

/** A `strange` header beside a plain one of its kind, or values alone beside a header that names any kind. */
const besideHeaders: ReasonOf = (guess, all, {headless}) => {
  if (guess.reason !== undefined) return undefined;
  // An empty column, such as one that a survey tool always writes, is no reason to leave a full one out.
  const isWorthLess = (other: ColumnGuess) => other.values === 0 && guess.values > 0;
  const found = all.filter(other => (mayHold(other) || other.ofKind > 0) && !isWorthLess(other));
  const isPlainOne = ({operation, header, reason}: ColumnGuess) =>
    operation === guess.operation && header === 'plain' && (reason === undefined || reason === 'list');
  if (guess.header === 'strange' && found.some(isPlainOne)) return 'strange';
  const isSilent = guess.header === 'silent' && !headless;
  return isSilent && found.some(({header}) => header !== 'silent') ? 'values' : undefined;
};

/** A reason to leave a column out if another of its kind is as likely: only the user knows which to use. */
const amongEquals: ReasonOf = (guess, all) => {
  if (guess.reason !== undefined || guess.header === 'plain') return undefined;
  // True if the run would use the column by its values alone, if no other column competed with it.
  const isCertain = ({share = 0, ofKind}: ColumnGuess) => share >= HALF && ofKind >= HALF;
  const isEqual = (other: ColumnGuess) =>
    other !== guess &&
    other.operation === guess.operation &&
    (other.reason === undefined ? other.header !== 'plain' : other.reason === 'values' && isCertain(other)) &&
    mayHold(other);
  if (!all.some(isEqual)) return undefined;
  return guess.header === 'strange' ? 'strange' : 'values';
};

/** The run does not stop for an unsure column without any value of its kind if another of that kind is sure. */
const withoutValues: ReasonOf = ({operation, verdict, ofKind}, all) => {
  const isEmpty = verdict === 'ask' && ofKind === 0;
  const isSure = (other: ColumnGuess) => other.operation === operation && other.verdict === 'sure';
  return isEmpty && all.some(isSure) ? 'nothing' : undefined;
};

/** True if a column has no values, or at least half of them seem to be of its kind. */
const mayHold = ({share, ofKind}: ColumnGuess) => share === undefined || ofKind >= HALF;

const FEW_VALUES = 5;
/** Average rows per value above which the values are of managers, sellers or branches, not of persons. */
const ROWS_EACH = 2;
/** The same for a column that is the only one of its kind: colleagues share a phone number. */
const ROWS_EACH_ALONE = 10;

/**
 * Few values that repeat are of managers, sellers or shops. A column of the same kind with more different values
 * confirms this. Without one, they must repeat more often, below a `strange` header or beside e-mail addresses or phone
 * numbers that differ by person.
 */
const repeats: ReasonOf = (guess, all) => {
  const {operation, values, distinct, header} = guess;
  if (!isCandidate(guess) || values < FEW_VALUES) return undefined;
  const others = all.filter(
    other => other !== guess && isCandidate(other) && (isBare(guess) || !isBare(other)),
  );
  const isAmong = (other: ColumnGuess) =>
    other.operation === operation && other.distinct > ROWS_EACH * distinct;
  const isRare = values >= ROWS_EACH_ALONE * distinct;
  // Many persons may share a few IP addresses, but a single one is a server's.
  const isFew = isRare && (operation !== 'ip' || distinct === 1);
  const tellsPersons = (other: ColumnGuess) =>
    other.operation !== 'ip' && other.operation !== operation && other.distinct >= HALF * values;
  const isShared =
    (values > ROWS_EACH * distinct && others.some(isAmong)) ||
    (header === 'strange' && isRare) ||
    (isFew && others.some(tellsPersons));
  return isShared ? 'shared' : undefined;
};

/** True if the column would be looked up, if it lacks only a country, or if only its values identify it. */
function isCandidate(guess: ColumnGuess): boolean {
  return isBare(guess) || guess.verdict === 'sure' || (guess.verdict === 'ask' && lacksCountry(guess));
}

/** True for a column that only its values identify. A column with a telling header is not compared with it. */
const isBare = ({reason}: ColumnGuess) => reason === 'values';

/** In this order: each looks at what those before it left. */
const REASONS: readonly ReasonOf[] = [
  withoutArea,
  asTwin,
  besideHeaders,
  repeats,
  amongEquals,
  withoutValues,
];
