import type codes from '../codes.json';

interface TextFormat {
  /** True if this input begins with a byte order mark, of UTF-8 or of another encoding. */
  readonly bom: boolean;
  /** Encoding in which the file's bytes were read. */
  readonly encoding: string;
  /** Another likely encoding, if some bytes are invalid in `encoding`. */
  readonly perhaps?: string | undefined;
  /**
   * CSV: the names by which columns are addressed: duplicates as `name#2`, unnamed ones as `column_3`. NDJSON: the keys
   * seen in the first rows, in order of first appearance.
   */
  readonly columns: readonly string[];
}

/** Format of the first input, and of the output unless the settings change it. */
export type InputFormat =
  | (TextFormat & {
      readonly kind: 'csv';
      readonly delimiter: string;
      readonly eol: '\n' | '\r\n' | '\r';
      /** True if the file began with Excel's `sep=;` line, which is neither a record nor in the header. */
      readonly sepLine?: boolean;
      /** The header's cells in the file; undefined without a header. */
      readonly header: readonly string[] | undefined;
      /** Each column's group, if a line above the header names groups of columns. */
      readonly groups?: readonly string[] | undefined;
    })
  | (TextFormat & {readonly kind: 'ndjson'; readonly eol: '\n' | '\r\n'});

interface RecordPlace {
  /** Number of the record in the whole input, from 1. Rejected records count, headers don't. */
  readonly record: number;
  /** The record's first physical line in its file, from 1. */
  readonly line: number;
}

/** A record of a CSV or TSV file. */
export interface CsvRow extends RecordPlace {
  readonly type: 'csv';
  readonly fields: readonly string[];
  /** Set for a line of one cell below the list, such as a report's last lines. */
  readonly isFooter?: true;
}

/** A line of an NDJSON file: its text, and its object. */
export interface NdjsonRow extends RecordPlace {
  readonly type: 'ndjson';
  readonly raw: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A row of a file. The output repeats its text. */
export type FileRow = CsvRow | NdjsonRow;

/** A row that a library caller gave as an object. The results are added to that object, or to a copy if frozen. */
export interface ProgramRow extends RecordPlace {
  readonly type: 'object';
  readonly value: Readonly<Record<string, unknown>>;
  /** Approximate bytes in memory. */
  readonly bytes: number;
}

export type Row = FileRow | ProgramRow;

export type RejectReason = keyof typeof codes.rows;

export interface Reject extends RecordPlace {
  readonly type: 'reject';
  readonly file: string;
  readonly reason: RejectReason;
  readonly detail: string;
  /** The record's text, cut at 64 KiB. U+FFFD replaces bytes that are not UTF-8. */
  readonly raw: string;
  /** The record's bytes, if they are not UTF-8. Left out if the reason is `too_large`. */
  readonly raw_base64?: string;
  readonly raw_truncated?: true;
  /** The value that a library caller gave instead of an object. */
  readonly given?: unknown;
}

export type InputRecord = Row | Reject;

/** The raw bytes that were read so far, in all files together, before decompression. */
export interface InputDigest {
  readonly bytes: number;
  /** SHA-256, hex, of the first `bytes` bytes. */
  readonly sha256: string;
}

/** Counts over all files of an input, so far. */
export interface InputCounts {
  /** Number of the last record. */
  recordsRead: number;
  /** Blank lines, which are not records. */
  blankLines: number;
  /** Short rows that were filled up with empty fields. */
  paddedRows: number;
  /** Lines above a header, such as titles, and below it that describe its columns. They are not records. */
  linesBesideHeader: number;
}

export const noInput = (): InputCounts => ({
  recordsRead: 0,
  blankLines: 0,
  paddedRows: 0,
  linesBesideHeader: 0,
});

/**
 * The names by which columns are addressed: the header's cells. A repeated cell gets a number (`name#2`), an empty one its
 * position (`column_3`). If that name is taken, the column gets the next free number: `name#3`, `column_3#2`.
 */
export function columnNames(header: readonly string[]): string[] {
  const taken = new Set(header);
  const seen = new Set<string>();
  const next = new Map<string, number>();
  return header.map((cell, index) => {
    const name = cell.trim() === '' ? `column_${index + 1}` : cell;
    let unique = name;
    // A cell of the header takes its own name, unless an earlier cell has the same text.
    if (name === cell ? seen.has(name) : taken.has(name)) {
      let number = next.get(name) ?? 2;
      while (taken.has(`${name}#${number}`)) number++;
      next.set(name, number + 1);
      unique = `${name}#${number}`;
    }
    seen.add(unique);
    taken.add(unique);
    return unique;
  });
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): string[] {
  return Array.from({length: count}, (_, index) => `column_${index + 1}`);
}
