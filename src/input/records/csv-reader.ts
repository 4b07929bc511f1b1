import {isUtf8} from 'node:buffer';
import {isLookupValue} from '../../operations/table.ts';
import {type Said, say} from '../../sentence.ts';
import {InputError} from '../input-error.ts';
import {columnNames, type InputRecord, numberedColumns, type RejectReason} from '../row.ts';
import {cutEmptyFields} from './csv-dialect.ts';
import {type CsvDialect, type CsvRecord, CsvRecordParser, type QuoteFault} from './csv-record-parser.ts';
import {CR, cutLines, LF, type LineBatch, QUOTE, type ReaderSettings, rejectRecord} from './reader.ts';

export interface CsvSettings extends ReaderSettings {
  readonly dialect: CsvDialect;
  readonly header: boolean;
  /** Number of columns that the first rows show: the first record's fields, less empty ones at its end. */
  readonly width: number;
  /** Number of lines above the header, which the reader does not get. */
  readonly lines: number;
  /** Lines above the header. A column that the header leaves blank has the nearest name above it. */
  readonly groupLines: readonly (readonly string[])[];
  /** Number of records below the header that describe its columns, and are no rows. */
  readonly below: number;
  /** True if rows with fewer fields than the header are filled up with empty fields. */
  readonly padShortRows: boolean;
}

/** Maximum number of lines of one cell that can be a footer, and maximum bytes of each. */
const MOST_FOOTER = 30;
const FOOTER_BYTES = 1_000;
/** An open record above this size is only read again once it has doubled. */
const EAGER_BYTES = 64 * 1024;

interface ShortRecord {
  readonly line: number;
  readonly bytes: Buffer;
  readonly fields: readonly string[];
}

/**
 * Reads a CSV. The first line of a record that can't be read is read with its quotes as letters, or rejected alone. An
 * incomplete record waits for more lines, up to the size limit. The result does not depend on the chunks.
 */
export class CsvReader {
  readonly #settings: CsvSettings;
  readonly #syntax: CsvRecordParser;
  readonly #eol: number;
  /** Whole lines of an incomplete record, their length, and the length at which they were last read. */
  #open: Buffer[] = [];
  #openLength = 0;
  #readLength = 0;
  /** Records that are read, but not yet delivered. */
  #records: InputRecord[] = [];
  #line: number;
  /** In a file of one column: blank lines after the last record. They are rows if another record follows. */
  #blanks = 0;
  #isAfterRow = false;
  /**
   * A line of one cell that is not a value, and short lines below it, after the last row: a footer if no other record
   * follows, else rejects.
   */
  #tail: ShortRecord[] = [];
  /** Number of records below the header that are still to be left out. */
  #below: number;
  /** The columns; undefined until the first record was read. */
  layout: {readonly header: readonly string[] | undefined; readonly columns: readonly string[]} | undefined;
  /** Number of the first line whose quotes were read as ordinary characters. */
  looseLine: number | undefined;

  constructor(settings: CsvSettings) {
    const {dialect, lines, maxRecordSize} = settings;
    this.#settings = settings;
    this.#line = 1 + lines + (dialect.sepLineBytes > 0 ? 1 : 0);
    this.#below = settings.below;
    settings.tally.linesBesideHeader += lines;
    this.#eol = dialect.eol === '\r' ? CR : LF;
    this.#syntax = new CsvRecordParser(dialect, maxRecordSize);
  }

  /** Reads the UTF-8 bytes of a file, once. */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<InputRecord[]> {
    for await (const lines of cutLines(chunks, this.#eol, this.#settings.maxRecordSize)) {
      this.#readLines(lines);
      yield this.#records.splice(0);
    }
    this.#readOpen(true);
    this.#settings.tally.blankLines += this.#blanks;
    this.#blanks = 0;
    this.#endFooter();
    yield this.#records;
  }

  #readLines({long, bytes}: LineBatch): void {
    if (long !== undefined) {
      // Ends an incomplete record before the long line: a record that includes the line would be too long itself.
      this.#readOpen(true);
      const detail = `the line has ${long.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
      this.#reject('too_large', detail, long.head);
      this.#line++;
    }
    this.#open.push(bytes);
    this.#openLength += bytes.length;
    const length = this.#openLength;
    const isWorthReading = length <= EAGER_BYTES || length >= 2 * this.#readLength;
    const mayEnd = this.#readLength === 0 || (bytes.includes(QUOTE) && isWorthReading);
    if (mayEnd || length > this.#settings.maxRecordSize) this.#readOpen(false);
  }

  /** Reads the waiting lines. `isAll`: no more lines can complete the last record. */
  #readOpen(isAll: boolean): void {
    const [first] = this.#open;
    const bytes = first !== undefined && this.#open.length === 1 ? first : Buffer.concat(this.#open);
    const isSound = isUtf8(bytes);
    let end = 0;
    for (const record of this.#syntax.records(bytes, isAll)) {
      this.#take(bytes, record, isSound);
      this.#line += record.lines;
      end = record.end;
    }
    this.#openLength = bytes.length - end;
    this.#readLength = this.#openLength;
    this.#open = this.#openLength === 0 ? [] : [bytes.subarray(end)];
  }

  /** `isSound`: the block's bytes are surely UTF-8. */
  #take(block: Buffer, {start, end, fields: read}: CsvRecord, isSound: boolean): void {
    const bytes = () => block.subarray(start, end);
    const given = typeof read === 'string' ? this.#loose(bytes(), read) : read;
    if (given === undefined) return;
    if (block[start] !== QUOTE && this.#isBlank(given)) {
      if (this.layout?.columns.length === 1) this.#blanks++;
      else this.#settings.tally.blankLines++;
      return;
    }
    if (this.layout === undefined && this.#takeLayout(bytes(), given)) return;
    const {columns = [], header} = this.layout ?? {};
    const fields = this.#fitted(given, columns.length);
    const short = () => ({line: this.#line, bytes: Buffer.from(bytes()), fields});
    if (!isSound && !isUtf8(bytes())) {
      this.#reject('invalid_encoding', String(this.#settings.badBytes.detail), bytes());
    } else if (this.#below > 0) {
      this.#below -= 1;
      this.#settings.tally.linesBesideHeader += 1;
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
      const detail = `a quoted field begins in this line, and no quote closes it in the next ${this.#settings.maxRecordSize} bytes or before the end of the file`;
      this.#reject(this.#isCut(line) ? 'cut_off' : 'unclosed_quote', detail, line);
      return undefined;
    }
    const fields = this.#syntax.looseFields(line.toString());
    if (fields !== undefined && fields.length === (this.layout?.columns.length ?? fields.length)) {
      if (!line.includes('="')) this.looseLine ??= this.#line;
      return fields;
    }
    const detail = 'a quote is inside an unquoted field: quote the whole field and double the quotes in it';
    this.#reject('invalid_quote', detail, line);
    return undefined;
  }

  /** Takes the columns from the first record. Returns true if that record is the header. */
  #takeLayout(bytes: Buffer, given: readonly string[]): boolean {
    const {width, header: isHeaded, groupLines, badBytes} = this.#settings;
    const fields = cutEmptyFields(given, width);
    if (!isHeaded) {
      this.layout = {header: undefined, columns: numberedColumns(fields.length)};
      return false;
    }
    if (!isUtf8(bytes)) throw this.#headerError(this.#line, badBytes.detail, badBytes.perhaps);
    const above = groupLines.filter(({length}) => length === fields.length).reverse();
    const nameOf = (cell: string, at: number) =>
      [cell, ...above.map(cells => cells[at] ?? '')].find(text => text.trim() !== '');
    const header = fields.map((cell, at) => nameOf(cell, at) ?? cell);
    this.layout = {header, columns: columnNames(header)};
    return true;
  }

  #mayBeFooter(length: number, fields: readonly string[]): boolean {
    const isBegun = this.#tail.length > 0;
    const begins = this.#isAfterRow && fields.length === 1 && !fields.some(isLookupValue);
    return (isBegun ? this.#tail.length < MOST_FOOTER : begins) && length <= FOOTER_BYTES;
  }

  /** True for a line without text. In a file of one column, and above the header, blanks are text. */
  #isBlank({0: first, length}: readonly string[]): boolean {
    if (first === undefined || length > 1) return false;
    return first === '' || (first.trim() === '' && (this.layout?.columns.length ?? 1) > 1);
  }

  #fitted(fields: readonly string[], count: number): readonly string[] {
    if (fields.length >= count || !this.#settings.padShortRows) return cutEmptyFields(fields, count);
    this.#settings.tally.paddedRows++;
    return this.#padded(fields);
  }

  #padded(fields: readonly string[]): readonly string[] {
    return this.layout?.columns.map((_, at) => fields[at] ?? '') ?? fields;
  }

  #deliver(fields: readonly string[], line: number): void {
    this.#isAfterRow = true;
    this.#records.push({type: 'csv', record: ++this.#settings.tally.recordsRead, line, fields});
  }

  #rejectCount({line, bytes, fields}: ShortRecord): void {
    const count = this.layout?.columns.length ?? 0;
    const expected = count === 1 ? '1 field' : `${count} fields`;
    const reason = fields.length < count && this.#isCut(bytes) ? 'cut_off' : 'column_count';
    this.#reject(reason, `expected ${expected}, found ${fields.length}`, bytes, line);
  }

  /** True for a line without its end: it is the last of its file. */
  #isCut(line: Buffer): boolean {
    return line.at(-1) !== this.#eol;
  }

  #reject(reason: RejectReason, detail: string, bytes: Buffer, line = this.#line): void {
    if (this.layout === undefined && this.#settings.header) throw this.#headerError(line, detail);
    this.#release();
    this.#isAfterRow = false;
    this.#records.push(rejectRecord(this.#settings, line, reason, detail, bytes));
  }

  #headerError(line: number, detail: Said, encoding?: string): InputError {
    const remedy = encoding === undefined ? {} : {flags: ['--encoding', encoding]};
    const said = say`${this.#settings.file}, line ${line}: the header can't be read: ${detail}.`;
    return new InputError('input_header', said, remedy);
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
      const record = ++this.#settings.tally.recordsRead;
      this.#records.push({type: 'csv', record, line, fields: this.#padded(fields), isFooter: true});
    }
  }
}

/** True for a row that repeats the header, as in joined lists. A header without letters may itself be data. */
function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  if (header === undefined || fields.at(-1) !== header.at(-1)) return false;
  // In joined lists, the second list may begin with a byte order mark.
  const isSame = fields.every(
    (field, at) => (at === 0 ? field.replace(/^\uFEFF/, '') : field) === header[at],
  );
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
