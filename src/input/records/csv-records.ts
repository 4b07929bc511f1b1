import {CsvError, type Options, parse} from 'csv-parse/sync';
import {CR, LF, QUOTE} from './line-blocks.ts';
import type {CsvDialect} from './record-reader.ts';

/** Why csv-parse refuses a record. `open`: a quote is not closed. `bad_quote`: it is misplaced. */
export type QuoteFault = 'open' | 'bad_quote';

/** A record's place in a text, its number of lines, and its fields. A refused record is its first line alone. */
export interface CsvRecord {
  readonly start: number;
  readonly end: number;
  readonly lines: number;
  readonly fields: readonly string[] | QuoteFault;
}

/** Lines in which as many quotes close as open: a record, if csv-parse takes it. */
type Lines = Omit<CsvRecord, 'fields'> & {readonly quotes: number};

/** Reads records of CSV. A line without a quote needs no parser. */
export class CsvSyntax {
  readonly #delimiter: string;
  readonly #eol: number;
  readonly #options: Options;

  constructor({delimiter, eol}: Pick<CsvDialect, 'delimiter' | 'eol'>) {
    this.#delimiter = delimiter;
    this.#eol = eol === '\r' ? CR : LF;
    const ends = eol === '\r' ? ['\r'] : ['\r\n', '\n'];
    this.#options = {delimiter, record_delimiter: ends, relax_column_count: true};
  }

  /**
   * The records of whole lines; a blank line is a record of one empty field. Parses all quoted records together, and
   * if csv-parse refuses one of them, each by itself. A record of more than `limit` bytes counts as `open`.
   */
  *records(bytes: Buffer, limit: number): Generator<CsvRecord> {
    const all = this.#linesIn(bytes, limit);
    const quoted = all.filter(({quotes}) => quotes > 0);
    const parsed = this.#parse(
      quoted.length === all.length
        ? bytes.subarray(0, all.at(-1)?.end ?? 0)
        : Buffer.concat(quoted.map(({start, end}) => bytes.subarray(start, end))),
    );
    let start = 0;
    if (parsed.length === quoted.length && typeof parsed !== 'string') {
      let next = 0;
      for (const lines of all) {
        const {start, end, quotes} = lines;
        const fields = quotes > 0 ? parsed[next++] : undefined;
        yield {start, end, lines: lines.lines, fields: fields ?? this.#split(bytes, lines)};
      }
      start = all.at(-1)?.end ?? 0;
    }
    while (start < bytes.length) {
      const record = this.#recordAt(bytes, start, limit);
      yield record;
      start = record.end;
    }
  }

  /**
   * The fields of a line with quotes inside fields, from programs that never quote: `5" pipe`, `O"Neil`, and a
   * spreadsheet's `="00123"`. Reads such quotes as ordinary characters. Undefined if a quoted field is not closed.
   */
  looseFields(line: string): readonly string[] | undefined {
    const at = this.#delimiter.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&');
    // Turns `="…"` into a quoted CSV field, since its text may contain the delimiter.
    const formula = new RegExp(`(^|${at})="([^"\\r\\n]*)"(?=${at}|[\\r\\n]|$)`, 'g');
    const quoted = Buffer.from(line.replace(formula, '$1"=""$2"""'));
    const read = this.#parse(quoted, {...this.#options, relax_quotes: true, to: 1});
    return typeof read === 'string' ? undefined : read[0];
  }

  #linesIn(bytes: Buffer, limit: number): Lines[] {
    const all: Lines[] = [];
    for (let start = 0; start < bytes.length; ) {
      const lines = this.#linesAt(bytes, start);
      if (lines.quotes % 2 === 1 || lines.end - start > limit) break;
      all.push(lines);
      start = lines.end;
    }
    return all;
  }

  #linesAt(bytes: Buffer, start: number): Lines {
    let quotes = 0;
    let lines = 0;
    for (let at = start; at < bytes.length; at++) {
      if (bytes[at] === QUOTE) quotes++;
      if (bytes[at] !== this.#eol) continue;
      lines++;
      if (quotes % 2 === 0) return {start, end: at + 1, lines, quotes};
    }
    return {start, end: bytes.length, lines: lines + 1, quotes};
  }

  #recordAt(bytes: Buffer, start: number, limit: number): CsvRecord {
    const lines = this.#linesAt(bytes, start);
    if (lines.quotes === 0) return {...lines, fields: this.#split(bytes, lines)};
    const read = this.#parse(bytes.subarray(start, Math.min(lines.end, start + limit)));
    const [fields] = read;
    if (typeof fields === 'object' && lines.end - start <= limit) return {...lines, fields};
    const eolAt = bytes.indexOf(this.#eol, start);
    const end = eolAt === -1 ? bytes.length : eolAt + 1;
    return {start, end, lines: 1, fields: typeof read === 'string' ? read : 'open'};
  }

  /** The fields of a line without quotes. Copies the text, so that a field keeps no more than its line in memory. */
  #split(bytes: Buffer, {start, end}: Lines): readonly string[] {
    let last = end;
    if (bytes[last - 1] === this.#eol) {
      last--;
      if (this.#eol === LF && last > start && bytes[last - 1] === CR) last--;
    }
    return bytes.toString('utf8', start, last).split(this.#delimiter);
  }

  #parse(bytes: Buffer, options = this.#options): readonly (readonly string[])[] | QuoteFault {
    try {
      return bytes.length === 0 ? [] : (parse(bytes, options) as string[][]);
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      return error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'open' : 'bad_quote';
    }
  }
}

/**
 * True for a row that repeats the header, as in joined lists. A header without letters may itself be data, so
 * rows like it are kept.
 */
export function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  if (header === undefined || fields.length !== header.length || fields.at(-1) !== header.at(-1))
    return false;
  // In joined lists, the second list may begin with a byte order mark.
  const isSame = fields.every(
    (field, at) => (at === 0 ? field.replace(/^\uFEFF/, '') : field) === header[at],
  );
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
