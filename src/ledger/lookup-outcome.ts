import {hash} from 'node:crypto';
import type {Params} from '../client/client.ts';
import type codes from '../codes.json';
import {type Intelligence, type Operation, operations} from '../operations/table.ts';

/** Rows with the same key share one call. */
export interface LookupKey {
  readonly operation: Operation;
  /** Identifies the operation and its canonical value in memory, ledger and store. A hash: it hides the value. */
  readonly key: string;
}

export interface Lookup extends LookupKey {
  readonly params: Params;
}

/** Reasons not to call the service for a value that would need a call. */
export const unaskedCodes = ['budget', 'deadline', 'outage', 'offline'] as const;
export type UnaskedCode = (typeof unaskedCodes)[number];

export function isUnasked(code: string): code is UnaskedCode {
  return (unaskedCodes as readonly string[]).includes(code);
}

export type SkipCode = keyof typeof codes.skipped;

/**
 * The final outcome of a lookup, for the run and its resumes. `data` is the answer's JSON text. `boughtAt` is the
 * time of the answer, in milliseconds since the epoch. An outcome that no other run can use has no time.
 */
export type Outcome =
  | Answer
  | (Unbought & {
      readonly status: 'failed' | 'unknown';
      readonly error: string;
      /** Set if the code is the service's word, and not this program's. */
      readonly said?: 'service';
    })
  /** An answer that this run uses, and that is not kept: it lacks what earlier answers of its operation had. */
  | {readonly status: 'ok'; readonly data: string; readonly boughtAt?: never; readonly rejected?: never};

/** An outcome that other runs can use, too: the answer store keeps it. */
export type Answer =
  | {readonly status: 'ok'; readonly data: string; readonly boughtAt: number; readonly rejected?: never}
  /** The verdict says that the session token is redeemed. An earlier call of this program may have redeemed it. */
  | {
      readonly status: 'unknown';
      readonly error: string;
      readonly data: string;
      readonly boughtAt: number;
      readonly rejected?: never;
    }
  /**
   * A rejection: the service has only an error code for this value, or knows nothing about it. It is believed once a
   * second run got the same code (`twice`); `boughtAt` of one that came `once` is its first time.
   */
  | {
      readonly status: 'failed';
      readonly error: string;
      readonly rejected: 'once' | 'twice';
      readonly boughtAt: number;
    };

/** Makes it a type error to write a rejection or a verdict without its time of purchase. */
interface Unbought {
  readonly boughtAt?: never;
  readonly rejected?: never;
  readonly data?: never;
}

/** A lookup as its row reports it: the outcome, or the reason why the lookup has no outcome. */
export type CellResult =
  | Outcome
  /** An expired answer of an earlier run, used because the service can't be called: `stale` is the reason. */
  | (Answer & {readonly stale: UnaskedCode})
  | InternalFailure
  | {readonly status: 'skipped'; readonly error: SkipCode}
  | {readonly status: 'empty'}
  | {readonly status: 'invalid'; readonly error: string};

export interface InternalFailure extends Unbought {
  readonly status: 'failed';
  readonly error: 'internal_error';
  readonly thrown: unknown;
}

export function makeInternalFailure(thrown: unknown): InternalFailure {
  return {status: 'failed', error: 'internal_error', thrown};
}

/** The code of an answer that says nothing: of the rejections that are kept, the only one that is not the service's word. */
export const BAD_RESPONSE = 'bad_response';

/** True if a result's code is the service's word. The same word may be a code of this program. */
export function isServiceCode(result: CellResult): boolean {
  return (
    'said' in result || (result.status === 'failed' && 'rejected' in result && result.error !== BAD_RESPONSE)
  );
}

export function isStorable(outcome: Outcome): outcome is Answer {
  return outcome.boughtAt !== undefined;
}

/** Length of a key in characters of base64url: 132 bits. */
export const KEY_LENGTH = 22;

/** 132 bits of a text's SHA-256: in practice no two texts share them, and the text can't be read from them. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, KEY_LENGTH);
}

export function lookupForRequest(operation: Operation, params: Params): Lookup {
  const text = `${operation}\0${operations[operation].keyText(params)}`;
  return {operation, key: hashKey(text), params};
}

export function intelligenceLookup(operation: Intelligence, value: string): Lookup {
  return lookupForRequest(operation, {[operation]: value});
}

/** Maximum number of repeated values that are remembered. Others are followed from their first occurrence. */
const MOST = 100_000;

/** The key of the occurrence after the one with this key. */
export function nextOccurrenceKey(key: string): string {
  return hashKey(`${key}\0again`);
}

/**
 * Gives each row of a value whose calls change the next answer a lookup of its own: its answer then tells that the
 * session token is redeemed. The n-th occurrence has the same key whenever the list is read again.
 */
export class TokenOccurrences {
  /** By key of a repeated value: the key of its last occurrence. */
  readonly #last = new Map<string, string>();

  /** The lookup of the next occurrence. `isTaken`: true if an earlier row has this key. */
  next(lookup: Lookup, isTaken: (key: string) => boolean): Lookup {
    let key = this.#last.get(lookup.key) ?? lookup.key;
    while (isTaken(key)) key = nextOccurrenceKey(key);
    if (key === lookup.key) return lookup;
    if (this.#last.size >= MOST) this.#last.clear();
    this.#last.set(lookup.key, key);
    return {...lookup, key};
  }
}
