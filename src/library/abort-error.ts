import {BulkEnrichError, exitCodes} from '../errors.ts';

/** The caller's own signal ended it. Its `cause` is the signal's reason; what was answered and paid for is kept. Exit 130. */
export class AbortError extends BulkEnrichError {
  constructor(signal: AbortSignal) {
    super('aborted', exitCodes.interrupted, 'It was aborted by its signal.', {cause: signal.reason});
  }
}
