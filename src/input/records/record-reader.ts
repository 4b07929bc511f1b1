import type {InputRecord, ReadSoFar} from '../row.ts';

/** Turns the UTF-8 bytes of one file into records; csv-reader.ts, ndjson-reader.ts and json-reader.ts are its kinds. */
export interface RecordReader {
  /** Takes the next bytes, and gives the records that they completed. */
  push(chunk: Buffer): InputRecord[];
  /** Gives what is left at the end of the file. */
  end(): InputRecord[];
  /** Input that is not yet part of a record; undefined if a resume could not start here. */
  readonly rest: Rest | undefined;
  /** Drops the rest, and continues at the line with this number, where a record begins. */
  readOn(line: number): void;
}

/** Some bytes at whose beginning a record begins, and the number of the line where they begin. */
export interface Rest {
  readonly bytes: number;
  readonly line: number;
}

/** A reader's settings for its file. */
export interface ReaderSettings {
  /** The file's name, for rejects and errors. */
  readonly file: string;
  /** The most bytes (of UTF-8 text) that a record may have; a longer one is rejected, and never held whole. */
  readonly maxRecordSize: number;
  readonly tally: ReadSoFar;
  /** The encoding that its text may be in, where it is not all UTF-8. */
  readonly perhaps?: string | undefined;
}

/** Dialect of a CSV file, as far as its text shows it. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  /** Length of Excel's `sep=;` line with its line end; 0 without one. */
  readonly sepLineBytes: number;
}

/** The columns of a CSV file. */
export interface CsvLayout {
  readonly header: readonly string[] | undefined;
  readonly columns: readonly string[];
}

/** Settings of a CSV reader beside those of its file. */
export interface CsvSettings extends ReaderSettings {
  readonly dialect: CsvDialect;
  readonly header: boolean;
  /** Lines that were left out above the header. */
  readonly skippedLines: number;
  /** True to fill up a row with fewer fields than the header. */
  readonly padShortRows: boolean;
  /** So many columns without a name stand behind those of the header. */
  readonly unnamedColumns: number;
}
