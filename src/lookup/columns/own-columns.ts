import {type Aside, type Guess, holdsSeveral, MOSTLY} from './guess.ts';
import {isShared} from './shared-values.ts';

/**
 * Leaves out the columns whose values may be of someone other than the row's person. A column with a `strange`
 * header ({@link Guess.header}) is used only if no other column of its kind is as likely or has a `plain` header. A
 * column that only its values identify is used only if no other column of its kind is as likely, and no header
 * names a kind.
 */
export function chooseColumns(all: readonly Guess[], headless: boolean): Guess[] {
  const found = all.filter(guess => mayHold(guess) || guess.ofKind > 0);
  const beside = all.map(guess => leaveOut(guess, besideHeaders(guess, found, headless)));
  const varied = beside.map(guess => leaveOut(guess, isShared(guess, beside) ? 'shared' : undefined));
  const own = varied.map(guess => leaveOut(guess, amongEquals(guess, varied)));
  return own
    .map(guess => (holdsLists(guess) ? leaveOut(guess, 'nothing') : guess))
    .filter(({aside, ofKind}) => aside !== 'strange' || ofKind >= MOSTLY)
    .map(guess => leaveOut(guess, withoutValues(guess, own)));
}

/** True for a `strange` column whose cells have several values, so that they can't be looked up. */
const holdsLists = (guess: Guess) =>
  guess.aside === 'strange' && guess.ofKind < MOSTLY && holdsSeveral(guess);

function leaveOut(guess: Guess, aside: Aside | undefined): Guess {
  return aside === undefined ? guess : {...guess, confidence: 'unsure', aside};
}

/** `found`: all columns that may hold their kind. */
function besideHeaders(guess: Guess, found: readonly Guess[], headless: boolean): Aside | undefined {
  if (guess.aside !== undefined) return undefined;
  const isPlainOne = ({operation, header, aside}: Guess) =>
    operation === guess.operation && header === 'plain' && (aside === undefined || aside === 'list');
  if (guess.header === 'strange' && found.some(isPlainOne)) return 'strange';
  const isSilent = guess.header === 'silent' && !headless;
  return isSilent && found.some(({header}) => header !== 'silent') ? 'values' : undefined;
}

/** A reason to leave a column out if another of its kind is as likely: only the user knows which to use. */
function amongEquals(guess: Guess, all: readonly Guess[]): Aside | undefined {
  if (guess.aside !== undefined || guess.header === 'plain') return undefined;
  const isEqual = (other: Guess) =>
    other !== guess &&
    other.operation === guess.operation &&
    (other.aside === undefined ? other.header !== 'plain' : other.aside === 'values' && isCertain(other)) &&
    mayHold(other);
  if (!all.some(isEqual)) return undefined;
  return guess.header === 'strange' ? 'strange' : 'values';
}

/** True if a column's values alone identify it: the run would use it if no other column competed with it. */
function isCertain({share = 0, ofKind}: Guess): boolean {
  return share >= MOSTLY && ofKind >= MOSTLY;
}

/**
 * Returns `nothing` for an unsure column without any value of its kind, if another column of that kind is
 * sure. Then the run does not stop because of the unsure column.
 */
function withoutValues(
  {operation, confidence, aside, ofKind}: Guess,
  all: readonly Guess[],
): Aside | undefined {
  const isEmpty = confidence === 'unsure' && aside === undefined && ofKind === 0;
  const isSure = (other: Guess) => other.operation === operation && other.confidence === 'sure';
  return isEmpty && all.some(isSure) ? 'nothing' : undefined;
}

/** True if a column may hold its kind: it has no values, or at least half of them seem to be of the kind. */
function mayHold({share, ofKind}: Guess): boolean {
  return share === undefined || ofKind >= MOSTLY;
}
