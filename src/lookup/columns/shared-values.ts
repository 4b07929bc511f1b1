import {type Guess, lacksCountry, MOSTLY} from './guess.ts';

/** Number of filled cells that a column needs to be judged. In fewer cells, values may repeat by chance. */
const FEW_VALUES = 5;
/** Average rows per value above which the values are of managers, sellers or branches, not of persons. */
const ROWS_EACH = 2;
/** The same limit for the only column of its kind. It is higher, since colleagues share a phone number. */
const ROWS_EACH_ALONE = 10;

/**
 * True for a column with few, repeated values, if the values of another column of its kind differ from row to row.
 * The few values are of managers, sellers or shops, not of the row's person. The only column of its kind is
 * compared with columns whose values differ by person: e-mail addresses and phone numbers, but not IP addresses. A
 * column with a `strange` header needs no such comparison.
 */
export function isShared(guess: Guess, all: readonly Guess[]): boolean {
  const {operation, values, distinct, header} = guess;
  if (!isCandidate(guess) || values < FEW_VALUES) return false;
  const others = all.filter(
    other => other !== guess && isCandidate(other) && (isBare(guess) || !isBare(other)),
  );
  const repeats = (rowsEach: number) => values > rowsEach * distinct;
  const isAmong = (other: Guess) => other.operation === operation && other.distinct > ROWS_EACH * distinct;
  if (repeats(ROWS_EACH) && others.some(isAmong)) return true;
  if (header === 'strange' && values >= ROWS_EACH_ALONE * distinct) return true;
  // One person visits from many IP addresses, and many persons may share a few. Only a server has a single one.
  const isFew = values >= ROWS_EACH_ALONE * distinct && (operation !== 'ip' || distinct === 1);
  const tellsPersons = (other: Guess) =>
    other.operation !== 'ip' && other.operation !== operation && other.distinct >= MOSTLY * values;
  return isFew && others.some(tellsPersons);
}

/** True for a column that would be looked up, that lacks only a country, or that only its values identify. */
function isCandidate(guess: Guess): boolean {
  return isBare(guess) || (guess.aside === undefined && (guess.confidence === 'sure' || lacksCountry(guess)));
}

/** True for a column that only its values identify. Others are not compared with it. */
function isBare({aside}: Guess): boolean {
  return aside === 'values';
}
