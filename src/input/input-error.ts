import {BulkEnrichError, exitCodes, type InputCode, type RemedyOptions} from '../errors.ts';
import {defaultOutput} from '../job/job.ts';
import type {Said} from '../sentence.ts';

/** The input can't be read, or never stops changing. The run stops with exit code 8 and keeps its saved state. */
export class InputError extends BulkEnrichError {
  declare readonly code: InputCode;

  constructor(code: InputCode, message: Said, options?: RemedyOptions) {
    super(code, exitCodes.input, message, options);
  }
}

/** The remedy for a list that a command makes readable; none for a pipe, which can't be read again. */
export function pipeRemedy(command: string, path: string): RemedyOptions {
  return path === '-' ? {} : {pipe: {command, input: path}, flags: ['-o', defaultOutput([path])]};
}
