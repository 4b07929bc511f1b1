import {BulkEnrichError, exitCodes, type InputCode, type RemedyOptions} from '../errors.ts';

/**
 * The input can't be read, or is not the input that the run began with.
 * Effect: the run stops with exit code 8; what was done so far stays saved.
 */
export class InputError extends BulkEnrichError {
  declare readonly code: InputCode;

  constructor(code: InputCode, message: string, options?: RemedyOptions) {
    super(code, exitCodes.input, message, options);
  }
}
