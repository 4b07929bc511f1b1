import type {Answer, LookupKey, Outcome} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';

/** Validity of an operation's answers, in milliseconds. */
export interface Term {
  readonly answers: number;
  readonly rejections: number;
  /** Additional time for which answers and rejections are used while no call is possible. */
  readonly stale: number;
}

/**
 * - `fresh`: the answer is used without a call.
 * - `due`: it is within its term, but to be renewed. If the renewal fails, it is used like a fresh answer.
 * - `stale`: its term has ended, and it is used only while no call can be made.
 */
export type Validity = 'fresh' | 'due' | 'stale';

/**
 * Returns the validity of an outcome, wherever it was kept; undefined if the outcome was not bought, or is too old for
 * any use.
 */
export type Judge = (lookup: LookupKey, outcome: Outcome) => Validity | undefined;

/** Returns a {@link Judge} that applies a job's terms at the time `now`, in milliseconds since the epoch. */
export function judgeBy(terms: Readonly<Record<Operation, Term>>, now: number): Judge {
  return ({operation, key}, outcome) => validity(key, outcome, terms[operation], now);
}

/** Returns an outcome's validity at `now`; undefined if the outcome was not bought, or is too old for any use. */
export function validity(key: string, outcome: Outcome, term: Term, now: number): Validity | undefined {
  if (outcome.boughtAt === undefined) return undefined;
  const age = now - outcome.boughtAt;
  const end = endOf(outcome.status, term);
  if (age > end + term.stale) return undefined;
  if (age > end) return 'stale';
  return age > earliestDue(end) && age > dueAge(key, end) ? 'due' : 'fresh';
}

/** The age at which an answer's term ends. */
export function endOf(status: Outcome['status'], {answers, rejections}: Term): number {
  return status === 'ok' ? answers : rejections;
}

/** The greatest age at which any outcome is usable. */
export function longestUse({answers, rejections, stale}: Term): number {
  return Math.max(answers, rejections) + stale;
}

/** Values fall due for renewal in this last share of their term. */
const SPREAD = 1 / 5;

/**
 * The age at which a value falls due, in the last fifth of the term. The value's key, a hash, decides when. So values
 * of one night fall due on different nights, and each value always at the same age.
 */
export function dueAge(key: string, term: number): number {
  return term * (1 - SPREAD * shareOf(key));
}

/** The age at which the first values of a term fall due. */
function earliestDue(term: number): number {
  return term * (1 - SPREAD);
}

/** 32 bits of a key as a number in [0, 1). */
function shareOf(key: string): number {
  return Buffer.from(key, 'base64url').readUInt32BE() / 2 ** 32;
}

/** An earlier answer for a value, with its validity. */
export interface KnownAnswer {
  readonly outcome: Answer;
  /** `past`: an expired rejection, not given to rows. If a new call brings its code, the value is to blame. */
  readonly validity: Validity | 'past';
}

/**
 * The best stored outcome of a value. An answer within its term wins over a rejection. A rejection that is older than
 * the answer does not count.
 */
export function bestOf(lookup: LookupKey, found: readonly Answer[], judge: Judge): KnownAnswer | undefined {
  const [only] = found;
  if (found.length === 1 && only?.status === 'ok') {
    const validity = judge(lookup, only);
    return validity && {outcome: only, validity};
  }
  const known = found.flatMap((outcome): KnownAnswer[] => {
    const validity = judge(lookup, outcome) ?? (outcome.status === 'ok' ? undefined : 'past');
    return validity === undefined ? [] : [{outcome, validity}];
  });
  const answeredAt = found.find(({status}) => status === 'ok')?.boughtAt ?? 0;
  const answer = known.find(({outcome}) => outcome.status === 'ok');
  const rejection = known.find(({outcome}) => outcome.status !== 'ok' && outcome.boughtAt >= answeredAt);
  const isWithin = (one: KnownAnswer | undefined) => one?.validity === 'fresh' || one?.validity === 'due';
  return [answer, rejection].find(isWithin) ?? answer ?? rejection;
}
