import type {InputRecord, ReadSoFar} from '../row.ts';

/** Turns the UTF-8 bytes of one file into records; csv-reader.ts, ndjson-reader.ts and json-reader.ts are its kinds. */
export interface RecordReader {
  /** Takes the next bytes, and gives the records that they completed. */
  push(chunk: Buffer): InputRecord[];
  /** Gives what is left at the end of the file. */
  end(): InputRecord[];
  /** What it was given that no record has come of yet; undefined where more is to be known to read on from there. */
  readonly rest: Rest | undefined;
  /** Forgets the rest, and goes on with the line of this number, at which a record begins. */
  readOn(line: number): void;
}

/** Some bytes at whose beginning a record begins, and the number of the line where they begin. */
export interface Rest {
  readonly bytes: number;
  readonly line: number;
}

/** What a reader needs to know of its file. */
export interface ReaderSettings {
  /** The file's name, for rejects and errors. */
  readonly file: string;
  /** The most bytes (of UTF-8 text) that a record may have; a longer one is rejected, and never held whole. */
  readonly maxRecordSize: number;
  readonly tally: ReadSoFar;
  /** The encoding that its text may be in, where it is not all UTF-8. */
  readonly perhaps?: string | undefined;
}

/** How a CSV file is written, as far as its text shows it. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  /** The length of Excel's `sep=;` line with its end; 0 where there is none. */
  readonly sepLineBytes: number;
}

/** The columns of a CSV file. */
export interface CsvLayout {
  readonly header: readonly string[] | undefined;
  readonly columns: readonly string[];
}

/** What a reader of CSV is told beside its file. */
export interface CsvSettings extends ReaderSettings {
  readonly dialect: CsvDialect;
  readonly header: boolean;
  /** Lines that were left out above the header. */
  readonly skippedLines: number;
  /** Whether a row with fewer fields than the header is filled up. */
  readonly padShortRows: boolean;
  /** So many columns without a name stand behind those of the header. */
  readonly unnamedColumns: number;
}
