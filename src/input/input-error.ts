import {BulkEnrichError, exitCodes, type RemedyOptions} from '../errors.ts';

/** What can be wrong with an input as a whole. */
export type InputErrorCode =
  /** There is no such file. */
  | 'input_missing'
  /** It is there and can't be read: permissions, a directory, an I/O error. */
  | 'input_unreadable'
  /** It holds no bytes, or nothing but blank lines. */
  | 'input_empty'
  /** Its gzip or zstd data is cut off or damaged. */
  | 'input_corrupt'
  /** This Node can't decompress it. */
  | 'input_compression'
  /** It is a spreadsheet or another binary file. */
  | 'input_binary'
  /** Its header line can't be read. */
  | 'input_header'
  /** A title stands above its header. */
  | 'input_title'
  /** Nearly none of its rows can be read. */
  | 'input_rejected'
  /** Its header is another than the first input's. */
  | 'input_headers_differ'
  /** It is not what it was when the checkpoint was written. */
  | 'input_changed';

/**
 * The input can't be read, or is not the input that the run began with.
 * Effect: the run stops with exit code 8; what was done so far stays saved.
 */
export class InputError extends BulkEnrichError {
  declare readonly code: InputErrorCode;

  constructor(code: InputErrorCode, message: string, options?: RemedyOptions) {
    super(code, exitCodes.input, message, options);
  }
}
