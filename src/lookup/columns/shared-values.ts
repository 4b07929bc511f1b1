import {type Guess, lacksCountry, MOSTLY} from './guess.ts';

/** Number of filled cells that a column needs to be judged. In fewer cells, values may repeat by chance. */
const FEW_VALUES = 5;
/** Average rows per value above which the values are of managers, sellers or branches, not of persons. */
const ROWS_EACH = 2;
/**
 * {@link ROWS_EACH} for a column that is the only one of its kind. It is higher, since colleagues share
 * a phone number.
 */
const ROWS_EACH_ALONE = 10;

/**
 * True for a column with few values that repeat: they are of managers, sellers or shops, not of the row's
 * person. A column of the same kind with more different values confirms this. Without one, the values must
 * repeat more often, and one of two things must confirm it. Either the column's header has a word that may
 * mean someone else (`strange`), or another column, of e-mail addresses or phone numbers, differs by person.
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
  // One person visits from many IP addresses, and many persons may share a few. So few IP addresses prove
  // nothing, but a single one is a server's.
  const isFew = values >= ROWS_EACH_ALONE * distinct && (operation !== 'ip' || distinct === 1);
  const tellsPersons = (other: Guess) =>
    other.operation !== 'ip' && other.operation !== operation && other.distinct >= MOSTLY * values;
  return isFew && others.some(tellsPersons);
}

/** True if the column would be looked up, if it lacks only a country, or if only its values identify it. */
function isCandidate(guess: Guess): boolean {
  return isBare(guess) || (guess.aside === undefined && (guess.confidence === 'sure' || lacksCountry(guess)));
}

/** True for a column that only its values identify. A column with a telling header is not compared with it. */
const isBare = ({aside}: Guess) => aside === 'values';
