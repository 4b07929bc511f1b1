import {type Guess, lacksCountry, MOSTLY} from './guess.ts';

/** Fewer cells repeat by chance. */
const FEW_VALUES = 5;
/** A person's own value stands in fewer rows on average than one of a manager, a seller or a branch. */
const ROWS_EACH = 2;
/** The same where no other column is of the kind: colleagues share a company's phone number. */
const ROWS_EACH_ALONE = 10;

/**
 * True for a column whose values are few and repeat, where another column's differ from row to row. Managers, sellers and shops
 * are such; a person's address is as various as the persons. A column alone of its kind is measured by the columns that tell
 * persons apart: e-mail addresses and phone numbers. IP addresses don't.
 */
export function isShared(guess: Guess, all: readonly Guess[]): boolean {
  const {operation, values, distinct} = guess;
  if (!isCandidate(guess) || values < FEW_VALUES) return false;
  const others = all.filter(other => other !== guess && isCandidate(other));
  const repeats = (rowsEach: number) => values > rowsEach * distinct;
  const isAmong = (other: Guess) => other.operation === operation && other.distinct > ROWS_EACH * distinct;
  if (repeats(ROWS_EACH) && others.some(isAmong)) return true;
  // One person visits from many IP addresses, and many from a few; a server has one.
  const isFew = values >= ROWS_EACH_ALONE * distinct && (operation !== 'ip' || distinct === 1);
  const tellsPersons = (other: Guess) =>
    other.operation !== 'ip' && other.operation !== operation && other.distinct >= MOSTLY * values;
  return isFew && others.some(tellsPersons);
}

/** True for a column that would be looked up, if need be with a country. */
function isCandidate(guess: Guess): boolean {
  return guess.aside === undefined && (guess.confidence === 'sure' || lacksCountry(guess));
}
