import type {Result} from '../../ledger/lookup.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';

/** The possible texts of a value: comparing it with another is a mistake. */
export interface Codes {
  readonly what: string;
  readonly known: readonly string[];
  /** Codes that no list can name, by their shape. */
  readonly like?: RegExp;
  /** Advice for a text that is not a code. */
  readonly otherwise?: string;
}

const statuses: Readonly<Record<Result['status'], true>> = {
  ok: true,
  empty: true,
  invalid: true,
  failed: true,
  unknown: true,
  skipped: true,
};
const skips: Readonly<Record<Extract<Result, {status: 'skipped'}>['error'], true>> = {
  condition: true,
  filter: true,
  footer: true,
  budget: true,
  deadline: true,
  outage: true,
  offline: true,
};

export const statusCodes: Codes = {what: 'status', known: Object.keys(statuses)};

/** Codes of failed calls. The service's interface names only one of its own codes. */
const CALLS = [
  'bad_response',
  'connection_closed',
  INVALID_TOKEN,
  'service_error',
  'timeout',
  'verdict_replay_uncertain',
];

export function errorCodesOf(operation: Operation): Codes {
  return {
    what: 'error code',
    known: ['', ...Object.keys(operations[operation].codes), ...Object.keys(skips), ...CALLS],
    // A server's failure by its status, such as http_503. Names in capitals are Node's, for network errors.
    like: /^(?:http_\d{3}|[A-Z][A-Z\d_]+)$/,
    otherwise: 'A code of the service itself can be read by startsWith("…").',
  };
}
