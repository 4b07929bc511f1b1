import {isUtf8} from 'node:buffer';
import {isValue} from '../../operations/shown-value.ts';
import {columnNames, numberedColumns} from '../column-names.ts';
import type {InputRecord, RejectReason} from '../row.ts';
import {type CsvRecord, CsvSyntax, isHeaderAgain, type QuoteFault} from './csv-records.ts';
import {cutEmpty} from './delimiter.ts';
import {CR, LF, type LineBlock, LineBlocks, QUOTE} from './line-blocks.ts';
import type {CsvLayout, CsvSettings, RecordReader} from './record-reader.ts';
import {encodingDetail, headerError, reject} from './reject.ts';

/** Maximum number of lines of one cell that can be a footer, and maximum bytes of each. */
const MOST_FOOTER = 30;
const FOOTER_BYTES = 1_000;
/** An open record above this size is only read again once it has doubled. */
const EAGER_BYTES = 64 * 1024;

/** A record of one cell or few, with its bytes. */
interface ShortRecord {
  readonly line: number;
  readonly bytes: Buffer;
  readonly fields: readonly string[];
}

/**
 * Reads a CSV block by block. The first line of a record that can't be read is read with its quotes as letters, or
 * rejected alone. An incomplete record is kept until its rest comes, up to the size limit. The result depends on the
 * bytes only, not on their chunks.
 */
export class CsvReader implements RecordReader {
  readonly #settings: CsvSettings;
  readonly #syntax: CsvSyntax;
  readonly #blocks: LineBlocks;
  readonly #eol: number;
  /** Maximum bytes of a record with its line end. */
  readonly #limit: number;
  /** Whole lines of an incomplete record; their length, and the length at which they were last read. */
  #open: Buffer[] = [];
  #openLength = 0;
  #readLength = 0;
  /** Records that are read, but not yet returned by `push` or `end`. */
  #records: InputRecord[] = [];
  #layout: CsvLayout | undefined;
  #line = 1;
  /** In a file of one column: blank lines after the last record. They are rows if another record follows. */
  #blanks = 0;
  #isAfterRow = false;
  /** A line of one cell that is not a value, and short lines below it, after the last row: a footer if no other record follows, else rejects. */
  #tail: ShortRecord[] = [];
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
    this.#blocks = new LineBlocks(this.#eol, settings.maxRecordSize);
    this.#syntax = new CsvSyntax(dialect);
  }

  /** The columns; undefined until the first record was read. */
  get layout(): CsvLayout | undefined {
    return this.#layout;
  }

  push(chunk: Buffer): InputRecord[] {
    for (const block of this.#blocks.push(chunk)) this.#read(block);
    return this.#records.splice(0);
  }

  end(): InputRecord[] {
    for (const block of this.#blocks.end()) this.#read(block);
    this.#readOpen(true);
    this.#settings.tally.blankLines += this.#blanks;
    this.#blanks = 0;
    this.#endFooter();
    return this.#records.splice(0);
  }

  #read(block: LineBlock): void {
    if (block.kind === 'lines') {
      this.#open.push(block.bytes);
      this.#openLength += block.bytes.length;
      if (this.#mayBeWhole(block.bytes)) this.#readOpen(false);
      return;
    }
    // Ends an incomplete record before the long line: a record that includes the line would be too long itself.
    this.#readOpen(true);
    const detail = `the line has ${block.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
    this.#reject('too_large', detail, block.head);
    this.#line++;
  }

  /** True if the first record may be complete with these lines, and reading it again is worth the time. */
  #mayBeWhole(lines: Buffer): boolean {
    if (this.#readLength === 0 || this.#openLength > this.#limit) return true;
    return (
      lines.includes(QUOTE) && (this.#openLength <= EAGER_BYTES || this.#openLength >= 2 * this.#readLength)
    );
  }

  /** Reads the waiting lines. `closed`: no more lines can complete the last record. */
  #readOpen(closed: boolean): void {
    const [first] = this.#open;
    const bytes = first !== undefined && this.#open.length === 1 ? first : Buffer.concat(this.#open);
    const sound = isUtf8(bytes);
    this.#keep(bytes.length, bytes);
    for (const record of this.#syntax.records(bytes, this.#limit)) {
      const mayEnd = !closed && bytes.length - record.start <= this.#limit;
      if (record.fields === 'open' && mayEnd) {
        this.#keep(record.start, bytes);
        return;
      }
      this.#take(bytes, record, sound);
      this.#line += record.lines;
    }
  }

  /** Keeps the bytes from `start` on, which were read and found incomplete. */
  #keep(start: number, bytes: Buffer): void {
    const rest = bytes.subarray(start);
    this.#open = rest.length === 0 ? [] : [rest];
    this.#openLength = rest.length;
    this.#readLength = rest.length;
  }

  /** Takes a record of a block. `sound`: the block's bytes are surely UTF-8. */
  #take(block: Buffer, {start, end, fields: read}: CsvRecord, sound: boolean): void {
    const bytes = () => block.subarray(start, end);
    const given = typeof read === 'string' ? this.#loose(bytes(), read) : read;
    if (given === undefined) return;
    if (block[start] !== QUOTE && this.#isBlank(given)) {
      if (this.#layout?.columns.length === 1) this.#blanks++;
      else this.#settings.tally.blankLines++;
      return;
    }
    if (this.#layout === undefined && this.#takeLayout(bytes(), given)) return;
    const {columns = [], header} = this.#layout ?? {};
    const fields = this.#fitted(given, columns.length);
    const short = () => ({line: this.#line, bytes: Buffer.from(bytes()), fields});
    if (!sound && !isUtf8(bytes())) {
      this.#reject('invalid_encoding', String(encodingDetail(this.#settings)), bytes());
    } else if (this.#below > 0) {
      this.#below -= 1;
    } else if (fields.length < columns.length && this.#mayBeFooter(end - start, fields)) {
      this.#tail.push(short());
    } else if (fields.length !== columns.length) {
      this.#rejectCount(short());
    } else if (isHeaderAgain(fields, header)) {
      this.#reject('header_again', 'the line repeats the header', bytes());
    } else {
      this.#release();
      this.#deliver(fields, this.#line);
    }
  }

  /**
   * The fields of a line with quotes as ordinary characters, if it then has as many as the header. Else they may be
   * real quotes: the line is rejected.
   */
  #loose(line: Buffer, fault: QuoteFault): readonly string[] | undefined {
    if (fault === 'open') {
      const {maxRecordSize} = this.#settings;
      const detail = `a quoted field begins in this line, and no closing quote follows in the next ${maxRecordSize} bytes or before the end of the file`;
      this.#reject(this.#isCut(line) ? 'cut_off' : 'unclosed_quote', detail, line);
      return undefined;
    }
    const fields = this.#syntax.looseFields(line.toString());
    if (fields !== undefined && fields.length === (this.#layout?.columns.length ?? fields.length)) {
      if (!line.includes('="')) this.looseLine ??= this.#line;
      return fields;
    }
    const detail = 'a quote is inside an unquoted field: quote the whole field and double the quotes in it';
    this.#reject('invalid_quote', detail, line);
    return undefined;
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
    return true;
  }

  #mayBeFooter(length: number, fields: readonly string[]): boolean {
    const isBegun = this.#tail.length > 0;
    const begins = this.#isAfterRow && fields.length === 1 && !fields.some(isValue);
    return (isBegun ? this.#tail.length < MOST_FOOTER : begins) && length <= FOOTER_BYTES;
  }

  /** True for a line without text. In a file of one column, and above the header, blanks are text. */
  #isBlank({0: first, length}: readonly string[]): boolean {
    if (first === undefined || length > 1) return false;
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

  #deliver(fields: readonly string[], line: number): void {
    this.#isAfterRow = true;
    this.#records.push({type: 'csv', record: ++this.#settings.tally.record, line, fields});
  }

  #rejectCount({line, bytes, fields}: ShortRecord): void {
    const count = this.#layout?.columns.length ?? 0;
    const expected = count === 1 ? '1 field' : `${count} fields`;
    const reason = fields.length < count && this.#isCut(bytes) ? 'cut_off' : 'column_count';
    this.#reject(reason, `expected ${expected}, found ${fields.length}`, bytes, line);
  }

  /** True for a line without its end: it is the last of its file. */
  #isCut(line: Buffer): boolean {
    return line.at(-1) !== this.#eol;
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
    for (const short of this.#tail.splice(0)) this.#rejectCount(short);
  }

  /** Delivers the lines of one cell at the end as rows of a footer. A last line without its end may be cut off. */
  #endFooter(): void {
    const [first, ...others] = this.#tail;
    if (first !== undefined && others.length === 0 && this.#isCut(first.bytes)) this.#release();
    for (const {line, fields} of this.#tail.splice(0)) {
      const record = ++this.#settings.tally.record;
      this.#records.push({type: 'csv', record, line, fields: this.#padded(fields), isFooter: true});
    }
  }
}
