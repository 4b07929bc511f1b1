import {isUtf8} from 'node:buffer';
import type {Options} from 'csv-parse/sync';
import {columnNames, numberedColumns} from '../column-names.ts';
import {InputError} from '../input-error.ts';
import type {InputRecord, RejectReason} from '../row.ts';
import {
  allFields,
  type CsvRecord,
  countLines,
  looseFields,
  parseRecords,
  parserOptions,
} from './csv-records.ts';
import {cutEmpty} from './delimiter.ts';
import {CR, LF, type LineBlock, LineBlocks, QUOTE} from './line-blocks.ts';
import type {CsvLayout, CsvSettings, RecordReader} from './record-reader.ts';
import {encodingDetail, reject} from './reject.ts';

/** An incomplete record above this size is only parsed again once it has doubled: see `#mayBeComplete`. */
const EAGER_BYTES = 64 * 1024;

/**
 * Reads a CSV with csv-parse, which can't continue after an error: then the physical line at which it stopped is
 * read or rejected alone, and parsing begins again at the next line. An incomplete record is kept until its rest
 * comes, up to the size limit. The result depends on the bytes only, not on their chunks.
 */
export class CsvReader implements RecordReader {
  readonly #settings: CsvSettings;
  readonly #options: Options;
  readonly #blocks: LineBlocks;
  readonly #eol: number;
  /** Maximum bytes of a record with its line end. */
  readonly #limit: number;
  /** Records that are read, but not yet returned by `push` or `end`. */
  #records: InputRecord[] = [];
  #layout: CsvLayout | undefined;
  #line = 1;
  /** Whole lines of which no record was taken yet. The first begins a record, which may be incomplete. */
  #open: Buffer[] = [];
  #openLength = 0;
  /** Length of `#open` in bytes when it was last parsed and found incomplete; 0 if it was not parsed yet. */
  #triedLength = 0;
  /** In a file of one column: blank lines after the last record. They are rows if another record follows. */
  #blanks = 0;
  /** Number of the first line whose quotes were read as ordinary characters. */
  looseLine: number | undefined;

  constructor(settings: CsvSettings) {
    const {dialect} = settings;
    this.#line += settings.skippedLines;
    this.#settings = settings;
    this.#eol = dialect.eol === '\r' ? CR : LF;
    this.#limit = settings.maxRecordSize + 1;
    this.#blocks = new LineBlocks(this.#eol, settings.maxRecordSize);
    if (dialect.sepLineBytes > 0) this.#line++;
    this.#options = parserOptions(dialect.delimiter, dialect.eol);
  }

  /** The columns; undefined until the first record was read. */
  get layout(): CsvLayout | undefined {
    return this.#layout;
  }

  push(chunk: Buffer): InputRecord[] {
    for (const block of this.#blocks.push(chunk)) this.#read(block);
    return this.#takeRecords();
  }

  end(): InputRecord[] {
    for (const block of this.#blocks.end()) this.#read(block);
    this.#parseOpen(true);
    this.#settings.tally.blankLines += this.#blanks;
    this.#blanks = 0;
    return this.#takeRecords();
  }

  #takeRecords(): InputRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #read(block: LineBlock): void {
    if (block.kind === 'lines') {
      this.#open.push(block.bytes);
      this.#openLength += block.bytes.length;
      if (this.#mayBeComplete(block.bytes)) this.#parseOpen(false);
      return;
    }
    // Ends an incomplete record before the long line: a record that includes the line would be too long itself.
    this.#parseOpen(true);
    const detail = `the line has ${block.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
    this.#reject('too_large', detail, block.head);
    this.#line++;
  }

  /** True if the open record may be complete with the added lines, and parsing it again is worth the time. */
  #mayBeComplete(added: Buffer): boolean {
    if (this.#triedLength === 0 || this.#openLength > this.#limit) return true;
    if (!added.includes(QUOTE)) return false;
    return this.#openLength <= EAGER_BYTES || this.#openLength >= 2 * this.#triedLength;
  }

  /** Parses the waiting lines. `closed`: no more lines can complete the last record. */
  #parseOpen(closed: boolean): void {
    const bytes = this.#open.length === 1 && this.#open[0] ? this.#open[0] : Buffer.concat(this.#open);
    this.#keepOpen(bytes, bytes.length);
    const sound = isUtf8(bytes);
    if (sound && this.#takeBlock(bytes)) return;
    let start = 0;
    while (start < bytes.length) {
      const rest = bytes.subarray(start);
      const {records, stop} = parseRecords(rest, this.#options);
      const taken = this.#takeAll(rest, records, sound);
      start += taken;
      if (start === bytes.length) return;
      const isTooLong = taken !== (records.at(-1)?.end ?? 0);
      if (stop === 'open' && !isTooLong && !closed && bytes.length - start <= this.#limit) {
        this.#keepOpen(bytes, start);
        return;
      }
      start = this.#takeLine(bytes, start, isTooLong || stop === 'open');
    }
  }

  #keepOpen(bytes: Buffer, from: number): void {
    this.#open = from === bytes.length ? [] : [bytes.subarray(from)];
    this.#openLength = bytes.length - from;
    this.#triedLength = this.#openLength;
  }

  /** Takes all records of whole lines at once. Returns false if they must be read one by one. */
  #takeBlock(bytes: Buffer): boolean {
    const {columns = [], header} = this.#layout ?? {};
    if (columns.length < 2 || bytes.length > this.#limit) return false;
    const all = allFields(bytes, this.#options)?.map(fields => cutEmpty(fields, columns.length));
    if (all?.every(fields => fields.length === columns.length && !isHeaderAgain(fields, header)) !== true)
      return false;
    // Each record takes at least one line. So if there are as many lines as records, no record takes two.
    const total = countLines(bytes, this.#eol);
    const end = String.fromCharCode(this.#eol);
    const lines = all.map(fields => (all.length === total ? 1 : linesOf(fields, end)));
    if (lines.reduce((sum, some) => sum + some, 0) !== total) return false;
    for (const [at, fields] of all.entries()) {
      this.#deliver(fields, this.#line);
      this.#line += lines[at] ?? 1;
    }
    return true;
  }

  /** Takes records up to the first that is too long. Returns the place after the last that was taken. */
  #takeAll(bytes: Buffer, records: readonly CsvRecord[], sound: boolean): number {
    let start = 0;
    for (const {fields, end} of records) {
      if (end - start > this.#limit) break;
      this.#take(bytes.subarray(start, end), fields, sound);
      start = end;
    }
    return start;
  }

  /** Takes the columns from the first record. Returns true if that record is the header. */
  #takeLayout(bytes: Buffer, given: readonly string[]): boolean {
    const {file, perhaps, width} = this.#settings;
    const fields = cutEmpty(given, width);
    if (!this.#settings.header) {
      this.#layout = {header: undefined, columns: numberedColumns(fields.length)};
      return false;
    }
    if (!isUtf8(bytes)) throw headerError(file, this.#line, encodingDetail(perhaps), perhaps);
    this.#layout = {header: fields, columns: columnNames(fields)};
    this.#line += countLines(bytes, this.#eol);
    return true;
  }

  /** Takes a record's bytes and fields. `sound`: the bytes are surely UTF-8. */
  #take(bytes: Buffer, given: readonly string[], sound: boolean): void {
    if (this.#isBlank(bytes, given)) {
      if (this.#layout?.columns.length === 1) this.#blanks++;
      else this.#settings.tally.blankLines++;
      this.#line++;
      return;
    }
    if (this.#layout === undefined && this.#takeLayout(bytes, given)) return;
    const {columns = [], header} = this.#layout ?? {};
    const fields = this.#fitted(given, columns.length);
    if (!sound && !isUtf8(bytes)) {
      this.#reject('invalid_encoding', encodingDetail(this.#settings.perhaps), bytes);
    } else if (fields.length !== columns.length) {
      const expected = columns.length === 1 ? '1 field' : `${columns.length} fields`;
      this.#reject('column_count', `expected ${expected}, found ${fields.length}`, bytes);
    } else if (isHeaderAgain(fields, header)) {
      this.#reject('header_again', 'the line repeats the header', bytes);
    } else {
      this.#releaseBlanks();
      this.#deliver(fields, this.#line);
    }
    this.#line += countLines(bytes, this.#eol);
  }

  /** True for a line without text. In a file of one column, and above the header, blanks are text. */
  #isBlank(bytes: Buffer, [first, ...others]: readonly string[]): boolean {
    if (first === undefined || others.length > 0 || bytes[0] === QUOTE) return false;
    return first === '' || (first.trim() === '' && (this.#layout?.columns.length ?? 1) > 1);
  }

  #fitted(fields: readonly string[], count: number): readonly string[] {
    if (fields.length >= count || !this.#settings.padShortRows) return cutEmpty(fields, count);
    this.#settings.tally.padded++;
    return [...fields, ...Array.from({length: count - fields.length}, () => '')];
  }

  /** Reads or rejects the physical line at `start` alone. Returns the start of the next record. */
  #takeLine(bytes: Buffer, start: number, isOpen: boolean): number {
    const {maxRecordSize} = this.#settings;
    const unclosed = isOpen || this.#stopsBeyond(bytes.subarray(start));
    const detail = unclosed
      ? `a quoted field begins in this line, and no closing quote follows in the next ${maxRecordSize} bytes or before the end of the file`
      : 'a quote is inside an unquoted field: quote the whole field and double the quotes in it';
    const eolAt = bytes.indexOf(this.#eol, start);
    const end = eolAt === -1 ? bytes.length : eolAt + 1;
    const line = bytes.subarray(start, end);
    const fields = unclosed ? undefined : looseFields(line.toString(), this.#options);
    // Reads quotes as ordinary characters only if the line then has as many fields as the header. Else they may
    // be real quotes.
    if (fields !== undefined && fields.length === (this.#layout?.columns.length ?? fields.length)) {
      if (!line.includes('="')) this.looseLine ??= this.#line;
      this.#take(line, fields, false);
      return end;
    }
    this.#reject(unclosed ? 'unclosed_quote' : 'invalid_quote', detail, line);
    this.#line++;
    return end;
  }

  /**
   * True if a record's bad quote is beyond the limit. Such a record counts as unclosed. Otherwise the result would
   * depend on the size of chunks: the parser sees so distant a quote only in a large chunk.
   */
  #stopsBeyond(bytes: Buffer): boolean {
    if (bytes.length <= this.#limit) return false;
    const {stop} = parseRecords(bytes.subarray(0, this.#limit), {...this.#options, to: 1});
    return stop === undefined ? bytes[this.#limit] === QUOTE : stop === 'open';
  }

  #deliver(fields: readonly string[], line: number): void {
    this.#records.push({type: 'csv', record: ++this.#settings.tally.record, line, fields});
  }

  #reject(reason: RejectReason, detail: string, bytes: Buffer): void {
    const {file, tally} = this.#settings;
    if (this.#layout === undefined && this.#settings.header) throw headerError(file, this.#line, detail);
    this.#releaseBlanks();
    this.#records.push(reject({record: ++tally.record, line: this.#line, file}, reason, detail, bytes));
  }

  /** In a file of one column: delivers the blank lines before a record as rows. */
  #releaseBlanks(): void {
    for (; this.#blanks > 0; this.#blanks--) this.#deliver([''], this.#line - this.#blanks);
  }
}

function linesOf(fields: readonly string[], end: string): number {
  return fields.reduce((sum, field) => (field.includes(end) ? sum + field.split(end).length - 1 : sum), 1);
}

/**
 * True for a row that repeats the header, as in joined lists. A header without letters may itself be data, so
 * rows like it are kept.
 */
function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  // In joined lists, the second list may begin with a byte order mark.
  const first = fields[0]?.replace(/^\uFEFF/, '');
  if (header === undefined || first !== header[0]) return false;
  const isSame =
    fields.length === header.length && fields.every((field, at) => at === 0 || field === header[at]);
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}

function headerError(file: string, line: number, detail: string, encoding?: string): InputError {
  const remedy = encoding === undefined ? {} : {flags: ['--encoding', encoding]};
  return new InputError(
    'input_header',
    `${file}, line ${line}: the header can't be read: ${detail}.`,
    remedy,
  );
}
