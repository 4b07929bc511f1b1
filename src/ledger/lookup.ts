import {hash} from 'node:crypto';
import type {Params} from '../client/client.ts';
import type {Operation} from '../operations/table.ts';

/** A value to ask about. Two rows with the same key share one call. */
export interface Lookup {
  readonly operation: Operation;
  /** Identifies operation and canonical value in memory, ledger and store, without being readable. */
  readonly key: string;
  readonly params: Params;
}

export type SkipCode = 'condition' | 'filter' | 'budget';

/** What became of a lookup for good; `data` is the answer as JSON text. */
export type Settled =
  | {readonly status: 'ok'; readonly data: string}
  | {readonly status: 'failed' | 'unknown'; readonly error: string; readonly data?: string}
  | {readonly status: 'skipped'; readonly error: SkipCode};

/** What a call cost: nothing, its credits for sure, or perhaps. */
export type Charge = 'free' | 'maybe' | 'spent';

const KEY_LENGTH = 22;

/** 132 bits of SHA-256 over the operation and what is asked: collisions are out of reach, values unreadable. */
function lookupKey(operation: Operation, identity: string): string {
  return hash('sha256', `${operation}\0${identity}`, 'base64url').slice(0, KEY_LENGTH);
}

/** A lookup of one canonical value. */
export function intelligenceLookup(operation: Exclude<Operation, 'verify'>, value: string): Lookup {
  return {operation, key: lookupKey(operation, value), params: {[operation]: value}};
}

/** A verdict: its identity is all that is sent with the token, since any of it may change the answer. */
export function verdictLookup(params: Params): Lookup {
  const {action_id, token, id, email, phone_number} = params;
  return {
    operation: 'verify',
    key: lookupKey('verify', JSON.stringify([action_id, token, id, email, phone_number])),
    params,
  };
}
