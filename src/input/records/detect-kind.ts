import {type NamedFormat, withoutCompression} from '../../job/name-endings.ts';
import {type Said, say, set} from '../../sentence.ts';
import {byPipe, InputError} from '../input-error.ts';

/** `json`: an array, or objects over several lines. */
export type InputKind = 'csv' | 'ndjson' | 'json';

export function detectKind(sample: string, format: NamedFormat | undefined): InputKind {
  if (format === 'csv' || format === 'tsv') return 'csv';
  const text = sample.trimStart();
  if (/^\[\s*(?:[[{\]]|$)/.test(text) || /^\{[ \t]*\r?\n/.test(text)) return 'json';
  return format === 'ndjson' || /^\{[ \t]*["}]/.test(text) ? 'ndjson' : 'csv';
}

/**
 * @throws {InputError} `input_binary` for data other than text: a spreadsheet, another known kind of file, or
 * many NUL bytes.
 */
export function refuseBinary(head: Buffer, name: string): void {
  const known = SIGNATURES.find(([signature]) => head.subarray(0, signature.length).equals(signature));
  if (known !== undefined) throw notText(name, known[1], known[2]);
  const nuls = head.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  if (nuls > head.length / 10) {
    const unicode = unicodeOf(head);
    throw unicode === undefined
      ? notText(name, 'a binary file', EXPORT)
      : notText(
          name,
          `a binary file, or ${unicode} without a byte order mark`,
          say`Export it as CSV, or name its encoding: ${set('encoding', unicode)}.`,
        );
  }
}

/** Beginning of a web page, or of a table that was saved as one. */
const HTML =
  /^\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|style|table|div)\b/is;

/** @throws {InputError} `input_markup` for HTML and XML, which programs save as `.xls` and `.csv` too. */
export function refuseMarkup(sample: string, name: string): void {
  if (HTML.test(sample))
    throw new InputError(
      'input_markup',
      `${name} is HTML: a page or a table that was saved under this name. Open it in a spreadsheet and save it as CSV (UTF-8); if it is a login page or an error page, download the list again.`,
    );
  if (/^\s*<\?xml\b/i.test(sample)) throw new InputError('input_markup', `${name} is XML. ${EXPORT}`);
}

/** Detects UTF-16 and UTF-32 by the places of NULs in mostly ASCII text. */
function unicodeOf(head: Buffer): string | undefined {
  const whole = head.length - (head.length % 4);
  const nuls = [0, 1, 2, 3].map(at => {
    let count = 0;
    for (let i = at; i < whole; i += 4) if (head[i] === 0) count++;
    return count > whole / 8 ? '0' : 'x';
  });
  return (
    {x000: 'utf-32le', '000x': 'utf-32be', x0x0: 'utf-16le', '0x0x': 'utf-16be'} as Record<string, string>
  )[nuls.join('')];
}

const EXPORT = 'Save or export it as CSV (UTF-8), then use that file.';

/** @throws {InputError} `input_header` for a `.json` list of values: only objects have column names. */
export function refuseValues(sample: string, path: string, name: string): void {
  if (!/\.json$/i.test(withoutCompression(path)) || !/^\s*\[\s*["\d]/.test(sample)) return;
  throw new InputError(
    'input_header',
    `${name} is a list of values, not of objects. Write an object on each line, such as {"value": …}.`,
    byPipe("jq -c '.[] | {value: .}'", path),
  );
}

const SIGNATURES: readonly (readonly [Buffer, string, string])[] = [
  [Buffer.from('PK\x03\x04'), 'a spreadsheet (.xlsx, .ods) or another zip archive', EXPORT],
  [Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'an old spreadsheet (.xls)', EXPORT],
  [Buffer.from('SQLite format 3\0'), 'an SQLite database', EXPORT],
  [Buffer.from('PAR1'), 'a Parquet file', EXPORT],
  [Buffer.from('%PDF-'), 'a PDF', EXPORT],
  [Buffer.from('BZh'), 'compressed with bzip2', 'Decompress it first, or use gzip or zstd.'],
  [Buffer.from('fd377a585a00', 'hex'), 'compressed with xz', 'Decompress it first, or use gzip or zstd.'],
];

function notText(name: string, what: string, advice: Said): InputError {
  return new InputError('input_binary', say`${name} is not a text file: it looks like ${what}. ${advice}`);
}
