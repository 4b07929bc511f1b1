import {CsvError, type Options, parse} from 'csv-parse/sync';
import {QUOTE} from './line-blocks.ts';

/**
 * Reason why parsing stopped. `layout`: the columns are known now. `open`: a quote is not closed.
 * `bad_quote`: a quote is misplaced. `too_long`: a record exceeds the maximum size.
 */
export type CsvStop = 'layout' | 'open' | 'bad_quote' | 'too_long';

export class StopParsing extends Error {
  readonly stop: CsvStop;
  constructor(stop: CsvStop) {
    super(stop);
    this.stop = stop;
  }
}

export function stopOf(error: unknown): CsvStop {
  if (error instanceof StopParsing) return error.stop;
  if (error instanceof CsvError) return error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'open' : 'bad_quote';
  throw error;
}

/**
 * True if a record's bad quote is more than `limit` bytes after the record's start. Such a record counts as
 * unclosed. Otherwise the result would depend on the size of chunks: the parser sees so distant a quote only
 * in a large chunk.
 */
export function stopsBeyond(bytes: Buffer, limit: number, options: Options): boolean {
  if (bytes.length <= limit) return false;
  try {
    parse(bytes.subarray(0, limit), {...options, to: 1});
  } catch (error) {
    return stopOf(error) === 'open';
  }
  return bytes[limit] === QUOTE;
}
