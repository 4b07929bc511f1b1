import {isUtf8} from 'node:buffer';
import type {Options} from 'csv-parse/sync';
import {columnNames, numberedColumns} from '../column-names.ts';
import type {InputRecord, RejectReason} from '../row.ts';
import {
  allFields,
  type CsvRecord,
  countLines,
  isHeaderAgain,
  linesOf,
  looseFields,
  parseRecords,
  parserOptions,
  stopsBeyond,
} from './csv-records.ts';
import {cutEmpty} from './delimiter.ts';
import {CR, LF, type LineBlock, LineBlocks, QUOTE} from './line-blocks.ts';
import {OpenLines} from './open-lines.ts';
import type {CsvLayout, CsvSettings, RecordReader} from './record-reader.ts';
import {encodingDetail, headerError, reject} from './reject.ts';

/** Maximum number of lines of one cell that can be a footer, and maximum bytes of each. */
const MOST_FOOTER = 30;
const FOOTER_BYTES = 1_000;

/**
 * Reads a CSV with csv-parse, which can't continue after an error: then the physical line at which it stopped is
 * read or rejected alone, and parsing begins again at the next line. An incomplete record is kept until its rest
 * comes, up to the size limit. The result depends on the bytes only, not on their chunks.
 */
export class CsvReader implements RecordReader {
  readonly #settings: CsvSettings;
  readonly #options: Options;
  readonly #blocks: LineBlocks;
  readonly #open: OpenLines;
  readonly #eol: number;
  /** Maximum bytes of a record with its line end. */
  readonly #limit: number;
  /** Records that are read, but not yet returned by `push` or `end`. */
  #records: InputRecord[] = [];
  #layout: CsvLayout | undefined;
  #line = 1;
  /** In a file of one column: blank lines after the last record. They are rows if another record follows. */
  #blanks = 0;
  #isAfterRow = false;
  /** A line of one cell and short lines after the last row: a footer if no other record follows, else rejects. */
  #tail: {readonly line: number; readonly bytes: Buffer; readonly fields: readonly string[]}[] = [];
  /** Number of records below the header that are still to be left out. */
  #below: number;
  /** Number of the first line whose quotes were read as ordinary characters. */
  looseLine: number | undefined;

  constructor(settings: CsvSettings) {
    const {dialect, lines} = settings;
    this.#line += lines + (dialect.sepLineBytes > 0 ? 1 : 0);
    this.#settings = settings;
    this.#below = settings.below;
    this.#eol = dialect.eol === '\r' ? CR : LF;
    this.#limit = settings.maxRecordSize + 1;
    this.#open = new OpenLines(this.#limit);
    this.#blocks = new LineBlocks(this.#eol, settings.maxRecordSize);
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
    this.#endFooter();
    return this.#takeRecords();
  }

  #takeRecords(): InputRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #read(block: LineBlock): void {
    if (block.kind === 'lines') {
      if (this.#open.add(block.bytes)) this.#parseOpen(false);
      return;
    }
    // Ends an incomplete record before the long line: a record that includes the line would be too long itself.
    this.#parseOpen(true);
    const detail = `the line has ${block.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
    this.#reject('too_large', detail, block.head);
    this.#line++;
  }

  /** Parses the waiting lines. `closed`: no more lines can complete the last record. */
  #parseOpen(closed: boolean): void {
    const bytes = this.#open.take();
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
        this.#open.putBack(bytes.subarray(start));
        return;
      }
      start = this.#takeLine(bytes, start, isTooLong || stop === 'open');
    }
  }

  /** Takes all records of whole lines at once. Returns false if they must be read one by one. */
  #takeBlock(bytes: Buffer): boolean {
    const {columns = [], header} = this.#layout ?? {};
    if (columns.length < 2 || this.#below > 0 || bytes.length > this.#limit) return false;
    const all = allFields(bytes, this.#options)?.map(fields => cutEmpty(fields, columns.length));
    if (all?.every(fields => fields.length === columns.length && !isHeaderAgain(fields, header)) !== true)
      return false;
    // Each record takes at least one line. So if there are as many lines as records, no record takes two.
    const total = countLines(bytes, this.#eol);
    const end = String.fromCharCode(this.#eol);
    const lines = all.map(fields => (all.length === total ? 1 : linesOf(fields, end)));
    if (lines.reduce((sum, some) => sum + some, 0) !== total) return false;
    this.#release();
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
    if (!isUtf8(bytes)) throw headerError(file, this.#line, encodingDetail(this.#settings), perhaps);
    const above = this.#settings.groupLines.filter(({length}) => length === fields.length).reverse();
    const nameOf = (cell: string, at: number) =>
      [cell, ...above.map(cells => cells[at] ?? '')].find(text => text.trim() !== '');
    const header = fields.map((cell, at) => nameOf(cell, at) ?? cell);
    this.#layout = {header, columns: columnNames(header)};
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
      this.#reject('invalid_encoding', String(encodingDetail(this.#settings)), bytes);
    } else if (this.#below > 0) {
      this.#below -= 1;
    } else if (this.#mayBeFooter(bytes, fields)) {
      this.#tail.push({line: this.#line, bytes: Buffer.from(bytes), fields});
    } else if (fields.length !== columns.length) {
      this.#rejectCount(fields.length, bytes);
    } else if (isHeaderAgain(fields, header)) {
      this.#reject('header_again', 'the line repeats the header', bytes);
    } else {
      this.#release();
      this.#deliver(fields, this.#line);
    }
    this.#line += countLines(bytes, this.#eol);
  }

  #mayBeFooter(bytes: Buffer, fields: readonly string[]): boolean {
    const isBegun = this.#tail.length > 0;
    const isShort = fields.length < (this.#layout?.columns.length ?? 1) && (isBegun || fields.length === 1);
    return (
      isShort &&
      (isBegun || this.#isAfterRow) &&
      bytes.length <= FOOTER_BYTES &&
      this.#tail.length < MOST_FOOTER
    );
  }

  /** True for a line without text. In a file of one column, and above the header, blanks are text. */
  #isBlank(bytes: Buffer, [first, ...others]: readonly string[]): boolean {
    if (first === undefined || others.length > 0 || bytes[0] === QUOTE) return false;
    return first === '' || (first.trim() === '' && (this.#layout?.columns.length ?? 1) > 1);
  }

  #fitted(fields: readonly string[], count: number): readonly string[] {
    if (fields.length >= count || !this.#settings.padShortRows) return cutEmpty(fields, count);
    this.#settings.tally.padded++;
    return this.#padded(fields);
  }

  #padded(fields: readonly string[]): readonly string[] {
    return this.#layout?.columns.map((_, at) => fields[at] ?? '') ?? fields;
  }

  /** Reads or rejects the physical line at `start` alone. Returns the start of the next record. */
  #takeLine(bytes: Buffer, start: number, isOpen: boolean): number {
    const {maxRecordSize} = this.#settings;
    const unclosed = isOpen || stopsBeyond(bytes.subarray(start), this.#limit, this.#options);
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
    const reason = unclosed ? (eolAt === -1 ? 'cut_off' : 'unclosed_quote') : 'invalid_quote';
    this.#reject(reason, detail, line);
    this.#line++;
    return end;
  }

  #deliver(fields: readonly string[], line: number): void {
    this.#isAfterRow = true;
    this.#records.push({type: 'csv', record: ++this.#settings.tally.record, line, fields});
  }

  #rejectCount(found: number, bytes: Buffer, line = this.#line): void {
    const count = this.#layout?.columns.length ?? 0;
    const expected = count === 1 ? '1 field' : `${count} fields`;
    const isCut = found < count && bytes.at(-1) !== this.#eol;
    this.#reject(isCut ? 'cut_off' : 'column_count', `expected ${expected}, found ${found}`, bytes, line);
  }

  #reject(reason: RejectReason, detail: string, bytes: Buffer, line = this.#line): void {
    const {file, tally} = this.#settings;
    if (this.#layout === undefined && this.#settings.header) throw headerError(file, line, detail);
    this.#release();
    this.#isAfterRow = false;
    this.#records.push(reject({record: ++tally.record, line, file}, reason, detail, bytes));
  }

  /** Delivers what waited for another record: blank lines of a single column as rows, lines of one cell as rejects. */
  #release(): void {
    for (; this.#blanks > 0; this.#blanks--) this.#deliver([''], this.#line - this.#blanks);
    for (const {line, bytes, fields} of this.#tail.splice(0)) this.#rejectCount(fields.length, bytes, line);
  }

  /** Delivers the lines of one cell at the end as rows of a footer. A last line without its end may be cut off. */
  #endFooter(): void {
    const isCut = this.#tail.length === 1 && this.#tail[0]?.bytes.at(-1) !== this.#eol;
    if (isCut) this.#release();
    for (const {line, fields} of this.#tail.splice(0)) {
      const record = ++this.#settings.tally.record;
      this.#records.push({type: 'csv', record, line, fields: this.#padded(fields), isFooter: true});
    }
  }
}
