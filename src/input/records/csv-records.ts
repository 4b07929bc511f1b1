import {CsvError, type Options, parse} from 'csv-parse/sync';
import {QUOTE} from './line-blocks.ts';
import type {CsvDialect} from './record-reader.ts';

/** A record's fields, and the place after it: bytes from the start of the parsed text. */
export interface CsvRecord {
  readonly fields: readonly string[];
  readonly end: number;
}

export interface ParsedRecords {
  readonly records: readonly CsvRecord[];
  /** Why csv-parse stopped after the last record. `open`: a quote is not closed. `bad_quote`: it is misplaced. */
  readonly stop?: 'open' | 'bad_quote';
}

/** The options with which csv-parse reads all records of a file. A blank line is a record of one empty field. */
export function parserOptions(delimiter: string, eol: CsvDialect['eol']): Options {
  return {
    delimiter,
    record_delimiter: eol === '\r' ? ['\r'] : ['\r\n', '\n'],
    relax_column_count: true,
  };
}

/** Parses a text up to its end, or up to the first record that csv-parse refuses. */
export function parseRecords(bytes: Buffer, options: Options): ParsedRecords {
  const records: CsvRecord[] = [];
  const take = (fields: readonly string[], info: {readonly bytes: number}): undefined => {
    records.push({fields, end: info.bytes});
  };
  try {
    parse(bytes, {...options, on_record: take});
    return {records};
  } catch (error) {
    return {records, stop: stopOf(error)};
  }
}

function stopOf(error: unknown): 'open' | 'bad_quote' {
  if (!(error instanceof CsvError)) throw error;
  return error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'open' : 'bad_quote';
}

/**
 * The fields of all records of a text. This takes a third of the time of {@link parseRecords}, since csv-parse need
 * not report where each record ends. Undefined if csv-parse refuses a record.
 */
export function allFields(bytes: Buffer, options: Options): string[][] | undefined {
  try {
    return parse(bytes, options) as string[][];
  } catch (error) {
    stopOf(error);
    return undefined;
  }
}

/**
 * True if a record's bad quote is beyond the limit. Such a record counts as unclosed. Otherwise the result would
 * depend on the size of chunks: the parser sees so distant a quote only in a large chunk.
 */
export function stopsBeyond(bytes: Buffer, limit: number, options: Options): boolean {
  if (bytes.length <= limit) return false;
  const {stop} = parseRecords(bytes.subarray(0, limit), {...options, to: 1});
  return stop === undefined ? bytes[limit] === QUOTE : stop === 'open';
}

/**
 * The fields of a line with quotes inside fields, from programs that never quote: `5" pipe`, `O"Neil`, and a
 * spreadsheet's `="00123"`. Reads such quotes as ordinary characters. Undefined if a quoted field is not closed.
 */
export function looseFields(line: string, options: Options): readonly string[] | undefined {
  const at = String(options.delimiter).replace(/[|\\{}()[\]^$+*?.]/g, '\\$&');
  // Turns `="…"` into a quoted CSV field, since its text may contain the delimiter.
  const formula = new RegExp(`(^|${at})="([^"\\r\\n]*)"(?=${at}|[\\r\\n]|$)`, 'g');
  const quoted = line.replace(formula, '$1"=""$2"""');
  return allFields(Buffer.from(quoted), {...options, relax_quotes: true, to: 1})?.[0];
}

/** Number of lines. The last line counts even without a line end. */
export function countLines(bytes: Buffer, eol: number): number {
  let ends = 0;
  for (let at = bytes.indexOf(eol); at !== -1; at = bytes.indexOf(eol, at + 1)) ends++;
  return bytes.at(-1) === eol ? ends : ends + 1;
}

/** Number of lines that a record takes. */
export function linesOf(fields: readonly string[], end: string): number {
  return fields.reduce((sum, field) => (field.includes(end) ? sum + field.split(end).length - 1 : sum), 1);
}

/**
 * True for a row that repeats the header, as in joined lists. A header without letters may itself be data, so
 * rows like it are kept.
 */
export function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  // In joined lists, the second list may begin with a byte order mark.
  const first = fields[0]?.replace(/^\uFEFF/, '');
  if (header === undefined || first !== header[0]) return false;
  const isSame =
    fields.length === header.length && fields.every((field, at) => at === 0 || field === header[at]);
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
