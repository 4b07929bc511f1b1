import {hash} from 'node:crypto';
import type {Params} from '../client/client.ts';
import {type Intelligence, type Operation, operations} from '../operations/table.ts';

/** Names a value wherever its outcome is kept. Two rows with the same key share one call. */
export interface LookupKey {
  readonly operation: Operation;
  /** Identifies operation and canonical value in memory, ledger and store, without being readable. */
  readonly key: string;
}

/** A value to look up. */
export interface Lookup extends LookupKey {
  readonly params: Params;
}

/** Why the service can't be asked about what was to be asked. */
export const unaskedCodes = ['budget', 'deadline', 'outage', 'offline'] as const;
export type UnaskedCode = (typeof unaskedCodes)[number];

export function isUnasked(code: string): code is UnaskedCode {
  return (unaskedCodes as readonly string[]).includes(code);
}

export type SkipCode = 'condition' | 'filter' | UnaskedCode;

/**
 * What became of a lookup, for the run and its resumes: the ledger keeps it. `data` is an answer as JSON text, `boughtAt` the
 * time at which the service answered, in milliseconds since the epoch. What was not bought has neither.
 */
export type Outcome =
  | Answer
  /** A verdict that may describe an earlier call of this program. */
  | {readonly status: 'unknown'; readonly error: string; readonly data: string; readonly boughtAt: number}
  | (Unbought & {readonly status: 'failed' | 'unknown'; readonly error: string});

/** An outcome that holds for other runs too: the answer store keeps it. */
export type Answer =
  | {readonly status: 'ok'; readonly data: string; readonly boughtAt: number}
  /** The service has nothing to say of this value but this code. */
  | {readonly status: 'failed'; readonly error: string; readonly rejected: true; readonly boughtAt: number};

/** Without this, a rejection or a verdict that lacks its time would pass for a failure. */
interface Unbought {
  readonly boughtAt?: never;
  readonly rejected?: never;
  readonly data?: never;
}

/** What a row says of a lookup: its outcome, or why it has none. */
export type Result =
  | Outcome
  /** A rejection, with the key of its value, until it is known to be of its value and not of the account. */
  | (Answer & {readonly unjudged: string})
  /** Of an earlier run, beyond its term: the service can't be asked, for this reason. */
  | (Answer & {readonly stale: UnaskedCode})
  | {readonly status: 'skipped'; readonly error: SkipCode}
  | {readonly status: 'empty'}
  | {readonly status: 'invalid'; readonly error: string};

/** Whether the answer store keeps it. */
export function isKept(outcome: Outcome): outcome is Answer {
  return outcome.status === 'ok' || 'rejected' in outcome;
}

/** Characters of base64url. */
export const KEY_LENGTH = 22;

/** A lookup; 132 bits of SHA-256 over its text: collisions are out of reach, values unreadable. */
export function lookupOf(operation: Operation, params: Params): Lookup {
  const text = `${operation}\0${operations[operation].keyText(params)}`;
  return {operation, key: keyOf(text), params};
}

function keyOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, KEY_LENGTH);
}

/** The same lookup under a key of its own: no answer that is known, and no call under way, serves it. */
export function askedAnew(lookup: Lookup, occurrence: number): Lookup {
  return {...lookup, key: keyOf(`${lookup.key}\0${occurrence}`)};
}

/** A lookup of one canonical value. */
export function intelligenceLookup(operation: Intelligence, value: string): Lookup {
  return lookupOf(operation, {[operation]: value});
}
