import {getSystemErrorMap} from 'node:util';
import type {Result} from '../../ledger/lookup.ts';
import {callCodes, skipCodes} from '../../lookup/codes.ts';
import {type Operation, operations} from '../../operations/table.ts';

/** The possible texts of a value: a comparison with any other text is a mistake. */
export interface Codes {
  readonly what: string;
  readonly known: readonly string[];
  /** Matches further possible texts that `known` can't list, such as `http_503`. */
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

export const statusCodes: Codes = {what: 'status', known: Object.keys(statuses)};

/** All codes of calls but `other_codes`, which only the summary has. */
const {other_codes: _, ...rowCodes} = callCodes;

/** Node's names of network errors, in small letters as in outputs: `etimedout`. */
const networkCodes = [...getSystemErrorMap().values()].map(([name]) => name.toLowerCase());
/** Codes of failures: an HTTP status (`http_503`), an error of Node (`err_…`), or a network error. */
const SHAPED = new RegExp(`^(?:http_\\d{3}|err_[a-z\\d_]+|${networkCodes.join('|')})$`);

export function listErrorCodes(operation: Operation): Codes {
  return {
    what: 'error code',
    known: [
      '',
      ...Object.keys(operations[operation].codes),
      ...Object.keys(skipCodes),
      ...Object.keys(rowCodes),
    ],
    like: SHAPED,
    otherwise: 'A code of the service itself can be read by startsWith("…").',
  };
}
