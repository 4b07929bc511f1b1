import type {Operation} from '../../operations/table.ts';
import type {Answer, LookupKey, Outcome} from '../lookup-outcome.ts';

/** For how long an operation's answers are valid, in milliseconds. */
export interface ValidityTerm {
  readonly answers: number;
  readonly rejections: number;
  /** Additional time for which answers and rejections are used while no call is possible. */
  readonly stale: number;
}

/**
 * - `fresh`: the answer is used without a call.
 * - `stale`: its term has ended ({@link expiryAgeMs}), and it is used only while no call can be made.
 * - `early`: a refusal that came once, too short a time ago for a second one to be believed. It is not used.
 * - `past`: a refusal that has expired, or came once. It is not used, and a second one is believed.
 */
export type Validity = 'fresh' | 'stale' | 'early' | 'past';

/** Milliseconds after which a second refusal of a value is believed: by the next night's run, by none of the same night. */
const BELIEVED_AFTER_MS = 12 * 3_600_000;

/** Returns the validity of an outcome; undefined if the outcome was not bought, or is of no use. */
export type ValidityJudge = (lookup: LookupKey, outcome: Outcome) => Validity | undefined;

/** Share of the maximum age, at its end, in which the terms of answers end. */
const SPREAD = 1 / 5;

/** Maximum difference between two clocks that count as correct, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Returns a {@link ValidityJudge} that applies a job's terms at the time `now`. A maximum age of 0 excludes what was known when
 * the run began (`since`), but not its own answers. An answer dated after `clock` has an unknown age: it is of no use. All
 * times are in milliseconds since the epoch.
 */
export function createValidityJudge(
  terms: Readonly<Record<Operation, ValidityTerm>>,
  now: number,
  since = now,
  clock = () => now,
): ValidityJudge {
  return ({operation, key}, {status, boughtAt, rejected}) => {
    if (boughtAt === undefined || (boughtAt > now && boughtAt > clock() + CLOCK_SKEW_MS)) return undefined;
    if (rejected === 'once') return since - boughtAt < BELIEVED_AFTER_MS ? 'early' : 'past';
    const {answers, rejections, stale} = terms[operation];
    const longest = status === 'failed' ? rejections : answers;
    const age = (longest === 0 ? since : now) - boughtAt;
    // The cheap condition comes first: it is true for most answers.
    if (age <= longest * (1 - SPREAD)) return 'fresh';
    const end = expiryAgeMs(key, longest);
    if (age <= end) return 'fresh';
    if (age <= end + stale) return 'stale';
    return status === 'failed' ? 'past' : undefined;
  };
}

/**
 * The age at which a value's answer expires: between 80% and 100% of the maximum age. It depends on the value's key, a
 * hash. So answers of one night expire on different nights, and each value's answer always at the same age.
 */
export function expiryAgeMs(key: string, longest: number): number {
  if (!Number.isFinite(longest)) return longest;
  const share = Buffer.from(key, 'base64url').readUInt32BE() / 2 ** 32;
  return longest * (1 - SPREAD * share);
}

export function longestUsableAgeMs({answers, rejections, stale}: ValidityTerm): number {
  return Math.max(answers, rejections) + stale;
}

/** An earlier answer for a value, with its validity. */
export interface KnownAnswer {
  readonly outcome: Answer;
  readonly validity: Validity;
  /**
   * The value's last rejection, if no answer came since. If a new call brings the same code, the value is to blame, and
   * not the account; that is believed if `confirms`.
   */
  readonly rejection?: {readonly error: string; readonly boughtAt: number; readonly confirms: boolean};
}

/** True if rows may get the answer while no call can be made. */
export function isUsable(known: KnownAnswer | undefined): known is KnownAnswer {
  return known?.validity === 'fresh' || known?.validity === 'stale';
}

/**
 * The best stored outcome of a value. The order: an answer within its term, a rejection within its term, an
 * expired answer, an expired rejection. A rejection that is older than the answer does not count.
 */
export function chooseBestAnswer(
  lookup: LookupKey,
  found: readonly Answer[],
  judge: ValidityJudge,
): KnownAnswer | undefined {
  const [only] = found;
  if (found.length === 1 && only?.status === 'ok') {
    const validity = judge(lookup, only);
    return validity && {outcome: only, validity};
  }
  const known = found.flatMap((outcome): KnownAnswer[] => {
    const validity = judge(lookup, outcome);
    return validity === undefined ? [] : [{outcome, validity}];
  });
  const answeredAt = found.find(({status}) => status !== 'failed')?.boughtAt ?? 0;
  const answer = known.find(({outcome}) => outcome.status !== 'failed');
  const refused = known.find(({outcome}) => outcome.status === 'failed' && outcome.boughtAt >= answeredAt);
  const best = [answer, refused].find(one => one?.validity === 'fresh') ?? answer ?? refused;
  if (best === undefined || refused?.outcome.status !== 'failed') return best;
  const {error, boughtAt} = refused.outcome;
  return {...best, rejection: {error, boughtAt, confirms: refused.validity !== 'early'}};
}
