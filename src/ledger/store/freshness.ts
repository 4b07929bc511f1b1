import type {Operation} from '../../operations/table.ts';
import type {StoredOutcome} from '../lookup.ts';
import type {Found} from './store-file.ts';

/** How long what the service said is good for, in milliseconds. */
export interface Terms {
  readonly answers: Readonly<Record<Operation, number>>;
  readonly rejections: number;
  /** How long beyond that an answer still serves where the service can't be asked. */
  readonly stale: number;
}

/**
 * - `fresh`: it is used, and nothing is asked.
 * - `due`: within its term, but its time has come to be asked for again; where that can't be, it is as good as fresh.
 * - `stale`: beyond its term, for where the service can't be asked.
 * - `past`: a rejection that is of no use any more, but for its code: the same one again is no news.
 */
export type Freshness = 'fresh' | 'due' | 'stale' | 'past';

/** The last part of a term, over which values fall due. */
const SPREAD = 1 / 5;

/**
 * The age at which a value falls due: each at its own moment of the last fifth of the term, by its key, which is a hash.
 * What was bought in one night does not fall due in one night, and a value always at the same age.
 */
export function dueAge(key: string, term: number): number {
  return term * (1 - SPREAD * shareOf(key));
}

/** 32 bits of a key as a number in [0, 1). */
function shareOf(key: string): number {
  return Buffer.from(key, 'base64url').readUInt32BE() / 2 ** 32;
}

export function termOf({status}: Pick<StoredOutcome, 'status'>, operation: Operation, terms: Terms): number {
  return status === 'ok' ? terms.answers[operation] : terms.rejections;
}

/** What something of this age is good for; undefined for nothing. All in milliseconds. */
export function freshnessOf(
  key: string,
  age: number,
  term: number,
  stale: number,
): Exclude<Freshness, 'past'> | undefined {
  if (age > term + stale) return undefined;
  if (age > term) return 'stale';
  return age > dueAge(key, term) ? 'due' : 'fresh';
}

/** The oldest that anything of an operation may be to be of use, in milliseconds. */
export function oldestUse(operation: Operation, {answers, rejections, stale}: Terms): number {
  return Math.max(answers[operation], rejections) + stale;
}

/** What the store knows of a value, and what that is good for. */
export interface Known extends Found {
  readonly freshness: Freshness;
}

/** For whom something is fresh or not: a run that was first started at `since`, in milliseconds since the epoch. */
export interface User {
  readonly operation: Operation;
  readonly terms: Terms;
  readonly since: number;
}

/**
 * The best of what the store has of a value. An answer goes before a rejection as long as it is within its term; a
 * rejection from before an answer says nothing.
 */
export function bestOf(key: string, found: readonly Found[], user: User): Known | undefined {
  const {operation, terms, since} = user;
  const known = found.flatMap((one): Known[] => {
    const freshness = freshnessOf(key, since - one.at, termOf(one.outcome, operation, terms), terms.stale);
    if (freshness !== undefined) return [{...one, freshness}];
    return one.outcome.status === 'ok' ? [] : [{...one, freshness: 'past'}];
  });
  const answeredAt = found.find(({outcome}) => outcome.status === 'ok')?.at ?? 0;
  const answer = known.find(({outcome}) => outcome.status === 'ok');
  const rejection = known.find(({outcome, at}) => outcome.status !== 'ok' && at >= answeredAt);
  const isWithin = (one: Known | undefined) => one?.freshness === 'fresh' || one?.freshness === 'due';
  return [answer, rejection].find(isWithin) ?? answer ?? rejection;
}
