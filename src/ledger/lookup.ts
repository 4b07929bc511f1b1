import {hash} from 'node:crypto';
import type {Params} from '../client/client.ts';
import {type Intelligence, type Operation, operations} from '../operations/table.ts';

/** A value to ask about. Two rows with the same key share one call. */
export interface Lookup {
  readonly operation: Operation;
  /** Identifies operation and canonical value in memory, ledger and store, without being readable. */
  readonly key: string;
  readonly params: Params;
}

export type SkipCode = 'condition' | 'filter' | 'budget';

/** What became of a lookup for good; `data` is the answer as JSON text. */
export type Outcome =
  | {readonly status: 'ok'; readonly data: string}
  | {readonly status: 'failed' | 'unknown'; readonly error: string; readonly data?: string}
  | {readonly status: 'skipped'; readonly error: SkipCode};

/** An outcome that holds for the run and its resumes: the ledger keeps it. */
export type LastingOutcome = Exclude<Outcome, {status: 'skipped'}>;

/** What a call cost: nothing, its credits for sure, or perhaps. */
export type Charge = 'free' | 'maybe' | 'spent';

const KEY_LENGTH = 22;

/** A lookup; 132 bits of SHA-256 over its identity: collisions are out of reach, values unreadable. */
export function lookupOf(operation: Operation, params: Params): Lookup {
  const identity = `${operation}\0${operations[operation].identity(params)}`;
  return {operation, key: hash('sha256', identity, 'base64url').slice(0, KEY_LENGTH), params};
}

/** A lookup of one canonical value. */
export function intelligenceLookup(operation: Intelligence, value: string): Lookup {
  return lookupOf(operation, {[operation]: value});
}
