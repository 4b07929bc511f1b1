import type {InputRecord} from '../row.ts';

/** Turns the UTF-8 bytes of one file into records; csv-reader.ts, ndjson-reader.ts and json-reader.ts are its kinds. */
export interface RecordReader {
  /** Takes the next bytes, and gives the records that they completed. */
  push(chunk: Buffer): InputRecord[];
  /** Gives what is left at the end of the file. */
  end(): InputRecord[];
}

/** What the readers of all files count on together. */
export interface ReadSoFar {
  /** The ordinal of the last record. */
  record: number;
  /** Blank lines, which are no records. */
  blankLines: number;
  /** Rows that got empty fields at their end. */
  padded: number;
}

/** What a reader needs to know of its file. */
export interface ReaderSettings {
  /** The file's name, for rejects and errors. */
  readonly file: string;
  /** The most bytes (of UTF-8 text) that a record may have; a longer one is rejected, and never held whole. */
  readonly maxRecordSize: number;
  readonly tally: ReadSoFar;
}

/** How a CSV file is written, as far as its text shows it. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  /** The length of Excel's `sep=;` line with its end; 0 where there is none. */
  readonly sepLineBytes: number;
}
