import {isUtf8} from 'node:buffer';
import {type Options, parse} from 'csv-parse/sync';
import {columnNames, numberedColumns} from '../column-names.ts';
import {InputError} from '../input-error.ts';
import type {InputRecord, RejectReason} from '../row.ts';
import {countLines, WholeBlocks} from './csv-block.ts';
import {type CsvStop, StopParsing, stopOf, stopsBeyond} from './csv-stop.ts';
import {parserOptions} from './delimiter.ts';
import {CR, LF, type LineBlock, LineBlocks, QUOTE} from './line-blocks.ts';
import {looseFields} from './loose-fields.ts';
import type {CsvLayout, CsvSettings, RecordReader, Rest} from './record-reader.ts';
import {encodingDetail, reject} from './reject.ts';

/** An incomplete record above this size is only parsed again once it has doubled: see `#mayBeComplete`. */
const EAGER_BYTES = 64 * 1024;

/**
 * Reads a CSV with csv-parse, which can't continue after an error. If a record can't be read, its first physical
 * line is rejected, and a new parser begins at the next line. An incomplete record is kept until its rest comes, up
 * to the size limit. The result depends on the bytes only, not on their chunks.
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
  readonly #whole: WholeBlocks;
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
    this.#whole = new WholeBlocks(this.#options, this.#eol);
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

  get rest(): Rest | undefined {
    const waiting = this.#blocks.waiting;
    if (waiting === undefined || this.#layout === undefined || this.#blanks > 0) return undefined;
    return {bytes: this.#openLength + waiting, line: this.#line};
  }

  readOn(line: number): void {
    this.#blocks.clear();
    this.#open = [];
    this.#openLength = 0;
    this.#triedLength = 0;
    this.#blanks = 0;
    this.#line = line;
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
    this.#open = [];
    this.#openLength = 0;
    this.#triedLength = 0;
    const sound = isUtf8(bytes);
    let start = 0;
    while (start < bytes.length) {
      if (sound && this.#takeBlock(bytes.subarray(start))) break;
      const [end, stop] = this.#parse(bytes, start, sound);
      start = end;
      if (stop === undefined) break;
      if (stop === 'layout') continue;
      if (stop === 'open' && !closed && bytes.length - start <= this.#limit) {
        this.#open = [bytes.subarray(start)];
        this.#openLength = bytes.length - start;
        this.#triedLength = this.#openLength;
        break;
      }
      start = this.#takeLine(bytes, start, stop);
    }
  }

  /** Takes all records of these lines at once. Returns false if they must be read one by one. */
  #takeBlock(bytes: Buffer): boolean {
    const columns = this.#layout?.columns.length ?? 0;
    const block = columns < 2 || bytes.length > this.#limit ? undefined : this.#whole.read(bytes, columns);
    const {header} = this.#layout ?? {};
    if (block === undefined || block.some(({fields}) => isHeaderAgain(fields, header))) return false;
    for (const {fields, lines} of block) {
      this.#deliver(fields, this.#line);
      this.#line += lines;
    }
    return true;
  }

  /** Parses from `start`. Returns the place at which parsing stopped and, if that is before the end, the reason. */
  #parse(bytes: Buffer, start: number, sound: boolean): [number, CsvStop | undefined] {
    let cursor = start;
    const singleColumn = this.#layout?.columns.length === 1;
    const take = (fields: string[], info: {bytes: number}): undefined => {
      const end = start + info.bytes;
      const recordStart = singleColumn ? cursor : this.#skipBlanks(bytes, cursor, end);
      if (end - recordStart > this.#limit) {
        cursor = recordStart;
        throw new StopParsing('too_long');
      }
      if (this.#layout === undefined) {
        cursor = this.#takeLayout(bytes.subarray(recordStart, end), fields) ? end : recordStart;
        throw new StopParsing('layout');
      }
      this.#take(bytes.subarray(recordStart, end), fields, sound);
      cursor = end;
    };
    try {
      const text = start === 0 ? bytes : bytes.subarray(start);
      parse(text, {...this.#options, skip_empty_lines: !singleColumn, on_record: take});
    } catch (error) {
      const stop = stopOf(error);
      if (stop === 'layout') return [cursor, stop];
      return [this.#skipBlanks(bytes, cursor, bytes.length), stop];
    }
    this.#skipBlanks(bytes, cursor, bytes.length);
    return [bytes.length, undefined];
  }

  /** Counts the blank lines that begin at `from`. Returns the place after them. */
  #skipBlanks(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to) {
      const length = bytes[at] === this.#eol ? 1 : bytes[at] === CR && bytes[at + 1] === LF ? 2 : 0;
      if (length === 0) break;
      at += length;
      this.#line++;
      this.#settings.tally.blankLines++;
    }
    return at;
  }

  /** Takes the columns from the first record. Returns true if that record is the header. */
  #takeLayout(bytes: Buffer, fields: readonly string[]): boolean {
    const {file, unnamedColumns, perhaps} = this.#settings;
    if (!this.#settings.header) {
      this.#layout = {header: undefined, columns: numberedColumns(fields.length)};
      return false;
    }
    if (!isUtf8(bytes)) throw headerError(file, this.#line, encodingDetail(perhaps), perhaps);
    const header = [...fields, ...Array.from({length: unnamedColumns}, () => '')];
    this.#layout = {header, columns: columnNames(header)};
    this.#line += countLines(bytes, this.#eol);
    return true;
  }

  /** Takes a record's bytes and fields. `sound`: the bytes are surely UTF-8. */
  #take(bytes: Buffer, fields: readonly string[], sound: boolean): void {
    const expected = this.#layout?.columns.length;
    const isBlank = fields.length === 1 && fields[0]?.trim() === '' && bytes[0] !== QUOTE;
    if (isBlank && (expected !== 1 || fields[0] === '')) {
      if (expected === 1) this.#blanks++;
      else this.#settings.tally.blankLines++;
      this.#line++;
      return;
    }
    if (this.#settings.padShortRows && expected !== undefined && fields.length < expected) {
      this.#settings.tally.padded++;
      fields = [...fields, ...Array.from({length: expected - fields.length}, () => '')];
    }
    if (!sound && !isUtf8(bytes)) {
      this.#reject('invalid_encoding', encodingDetail(this.#settings.perhaps), bytes);
    } else if (fields.length !== expected) {
      const detail = `expected ${expected} ${expected === 1 ? 'field' : 'fields'}, found ${fields.length}`;
      this.#reject('column_count', detail, bytes);
    } else if (isHeaderAgain(fields, this.#layout?.header)) {
      this.#reject('header_again', 'the line repeats the header', bytes);
    } else {
      this.#releaseBlanks();
      this.#deliver(fields, this.#line);
    }
    this.#line += countLines(bytes, this.#eol);
  }

  /** Reads or rejects the physical line at `start` alone. Returns the start of the next record. */
  #takeLine(bytes: Buffer, start: number, stop: CsvStop): number {
    const {maxRecordSize} = this.#settings;
    const unclosed = stop !== 'bad_quote' || stopsBeyond(bytes.subarray(start), this.#limit, this.#options);
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
      if (this.#layout === undefined) return this.#takeLayout(line, fields) ? end : start;
      this.#take(line, fields, false);
      return end;
    }
    this.#reject(unclosed ? 'unclosed_quote' : 'invalid_quote', detail, line);
    this.#line++;
    return end;
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
