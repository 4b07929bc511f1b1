import type {Answer, LookupKey, Outcome} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';

/** For how long an operation's answers are valid, in milliseconds. */
export interface Term {
  readonly answers: number;
  readonly rejections: number;
  /** Additional time for which answers and rejections are used while no call is possible. */
  readonly stale: number;
}

/**
 * - `fresh`: the answer is used without a call.
 * - `due`: it is within its term, but a call shall renew it. If that fails, it is used like a fresh answer.
 * - `stale`: its term has ended, and it is used only while no call can be made.
 */
export type Validity = 'fresh' | 'due' | 'stale';

/** Returns the validity of an outcome; undefined if the outcome was not bought, or is too old for any use. */
export type Judge = (lookup: LookupKey, outcome: Outcome) => Validity | undefined;

/** Returns a {@link Judge} that applies a job's terms at the time `now`, in milliseconds since the epoch. */
export function judgeBy(terms: Readonly<Record<Operation, Term>>, now: number): Judge {
  return ({operation, key}, outcome) => validity(key, outcome, terms[operation], now);
}

/**
 * Judges an outcome as a {@link Judge} does, by its operation's term. `key`: the value's key. `now`:
 * milliseconds since the epoch.
 */
export function validity(key: string, outcome: Outcome, term: Term, now: number): Validity | undefined {
  if (outcome.boughtAt === undefined) return undefined;
  const age = now - outcome.boughtAt;
  const end = endOf(outcome.status, term);
  if (age > end + term.stale) return undefined;
  if (age > end) return 'stale';
  // The cheap condition comes first: it is false for most answers.
  return age > end * (1 - SPREAD) && age > dueAge(key, end) ? 'due' : 'fresh';
}

/** The age at which an answer's term ends. */
export function endOf(status: Outcome['status'], {answers, rejections}: Term): number {
  return status === 'ok' ? answers : rejections;
}

/** The age up to which any outcome is usable. */
export function longestUse({answers, rejections, stale}: Term): number {
  return Math.max(answers, rejections) + stale;
}

/** Share of the term, at its end, in which answers fall due for renewal. */
const SPREAD = 1 / 5;

/**
 * The age at which a value's answer falls due, in the last fifth of the term. It depends on the value's key, a
 * hash. So answers of one night fall due on different nights, and each value's answer always at the same age.
 */
export function dueAge(key: string, term: number): number {
  return term * (1 - SPREAD * shareOf(key));
}

/** A number in [0, 1) from 32 bits of a key. Keys are hashes, so these numbers are spread evenly. */
function shareOf(key: string): number {
  return Buffer.from(key, 'base64url').readUInt32BE() / 2 ** 32;
}

/** An earlier answer for a value, with its validity. */
export interface KnownAnswer {
  readonly outcome: Answer;
  /**
   * `past`: an expired rejection. Rows don't get it. If a new call brings the same error code, the value is
   * to blame, not the account.
   */
  readonly validity: Validity | 'past';
}

/**
 * The best stored outcome of a value. The order: an answer within its term, a rejection within its term, an
 * expired answer, an expired rejection. A rejection that is older than the answer does not count.
 */
export function bestOf(lookup: LookupKey, found: readonly Answer[], judge: Judge): KnownAnswer | undefined {
  // Shortcut for the most frequent case.
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
