import type {NamedFormat} from '../../job/name-endings.ts';
import {InputError} from '../input-error.ts';

/** `json`: an array, or objects over several lines. */
export type InputKind = 'csv' | 'ndjson' | 'json';

/** Says by the beginning of the text what a file holds. */
export function detectKind(sample: string, format: NamedFormat | undefined): InputKind {
  if (format === 'csv' || format === 'tsv') return 'csv';
  const text = sample.trimStart();
  if (/^\[\s*(?:[[{\]]|$)/.test(text) || /^\{[ \t]*\r?\n/.test(text)) return 'json';
  return format === 'ndjson' || /^\{[ \t]*["}]/.test(text) ? 'ndjson' : 'csv';
}

/** Throws `input_binary` for what is no text: a spreadsheet, another well-known kind of file, or many NUL bytes. */
export function refuseBinary(head: Buffer, name: string): void {
  const known = SIGNATURES.find(([signature]) => head.subarray(0, signature.length).equals(signature));
  if (known !== undefined) throw notText(name, known[1], known[2]);
  const nuls = head.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  if (nuls > head.length / 10) {
    throw notText(
      name,
      'a binary file, or UTF-16 without a byte order mark',
      'Export it as CSV, or say its encoding: --encoding utf-16le.',
    );
  }
}

const EXPORT = 'Save or export it as CSV (UTF-8) and give that file.';

const SIGNATURES: readonly (readonly [Buffer, string, string])[] = [
  [Buffer.from('PK\x03\x04'), 'a spreadsheet (.xlsx, .ods) or another zip archive', EXPORT],
  [Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'an old spreadsheet (.xls)', EXPORT],
  [Buffer.from('SQLite format 3\0'), 'an SQLite database', EXPORT],
  [Buffer.from('PAR1'), 'a Parquet file', EXPORT],
  [Buffer.from('%PDF-'), 'a PDF', EXPORT],
  [Buffer.from('BZh'), 'compressed with bzip2', 'Decompress it first, or use gzip or zstd.'],
  [Buffer.from('fd377a585a00', 'hex'), 'compressed with xz', 'Decompress it first, or use gzip or zstd.'],
];

function notText(name: string, what: string, advice: string): InputError {
  return new InputError('input_binary', `${name} is no text: it looks like ${what}. ${advice}`);
}
