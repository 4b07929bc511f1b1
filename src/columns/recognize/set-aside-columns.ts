import {type ColumnGuess, HALF, lacksCountry, type Reason} from './guess.ts';

/** Why a column is left out among all others; undefined if it is not. */
type ReasonOf = (guess: ColumnGuess, all: readonly ColumnGuess[], headless: boolean) => Reason | undefined;

/**
 * Leaves out the columns whose values may be of someone other than the row's person. A column with a `strange`
 * header ({@link ColumnGuess.header}) is used only if no other column of its kind is as likely or has a `plain` header. A
 * column that only its values identify is used only if no other column of its kind is as likely, and no header
 * names a kind.
 */
export function setAsideColumns(all: readonly ColumnGuess[], headless: boolean): ColumnGuess[] {
  return REASONS.reduce(
    (guesses, reasonOf) =>
      guesses.map((guess): ColumnGuess => {
        const reason = reasonOf(guess, guesses, headless);
        return reason === undefined ? guess : {...guess, verdict: 'name', reason};
      }),
    [...all],
  ).filter(({reason, ofKind}) => reason !== 'strange' || ofKind >= HALF);
}

const besideHeaders: ReasonOf = (guess, all, headless) => {
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

/** True if a column may hold its kind: it has no values, or at least half of them seem to be of the kind. */
function mayHold({share, ofKind}: ColumnGuess): boolean {
  return share === undefined || ofKind >= HALF;
}

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
const repeats: ReasonOf = (guess, all) => (isShared(guess, all) ? 'shared' : undefined);

function isShared(guess: ColumnGuess, all: readonly ColumnGuess[]): boolean {
  const {operation, values, distinct, header} = guess;
  if (!isCandidate(guess) || values < FEW_VALUES) return false;
  const others = all.filter(
    other => other !== guess && isCandidate(other) && (isBare(guess) || !isBare(other)),
  );
  const isRepeated = (rowsEach: number) => values > rowsEach * distinct;
  const isAmong = (other: ColumnGuess) =>
    other.operation === operation && other.distinct > ROWS_EACH * distinct;
  if (isRepeated(ROWS_EACH) && others.some(isAmong)) return true;
  if (header === 'strange' && values >= ROWS_EACH_ALONE * distinct) return true;
  // One person visits from many IP addresses, and many persons may share a few. So few IP addresses prove
  // nothing, but a single one is a server's.
  const isFew = values >= ROWS_EACH_ALONE * distinct && (operation !== 'ip' || distinct === 1);
  const tellsPersons = (other: ColumnGuess) =>
    other.operation !== 'ip' && other.operation !== operation && other.distinct >= HALF * values;
  return isFew && others.some(tellsPersons);
}

/** True if the column would be looked up, if it lacks only a country, or if only its values identify it. */
function isCandidate(guess: ColumnGuess): boolean {
  return isBare(guess) || guess.verdict === 'sure' || (guess.verdict === 'ask' && lacksCountry(guess));
}

/** True for a column that only its values identify. A column with a telling header is not compared with it. */
const isBare = ({reason}: ColumnGuess) => reason === 'values';

/** In this order: each looks at what those before it left. */
const REASONS: readonly ReasonOf[] = [besideHeaders, repeats, amongEquals, withoutValues];
