import type {InputRecord, ReadSoFar} from '../row.ts';

/**
 * Turns the UTF-8 bytes of one file into records. Implemented by csv-reader.ts,
 * ndjson-reader.ts and json-reader.ts.
 */
export interface RecordReader {
  /** Takes the next bytes, and returns the records that they complete. */
  push(chunk: Buffer): InputRecord[];
  /** Ends the file, and returns its last records. */
  end(): InputRecord[];
}

/** Maximum bytes of a record of a list. */
export const RECORD_BYTES = 1_048_576;

export interface ReaderSettings {
  /** The file's name, for rejects and errors. */
  readonly file: string;
  /** Maximum bytes of a record as UTF-8. A longer record is rejected, and never completely in memory. */
  readonly maxRecordSize: number;
  readonly tally: ReadSoFar;
  /** The likely encoding of text that is not UTF-8. */
  readonly perhaps?: string | undefined;
  /** Several encodings that are about as likely. */
  readonly among?: readonly string[];
  /** True if other lines show that the text is UTF-8. No other encoding fits these. */
  readonly isUtf8Else?: boolean;
}

export interface CsvDialect {
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  /** Length of Excel's `sep=;` line with its line end; 0 without one. */
  readonly sepLineBytes: number;
}

export interface CsvLayout {
  readonly header: readonly string[] | undefined;
  readonly columns: readonly string[];
}

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
