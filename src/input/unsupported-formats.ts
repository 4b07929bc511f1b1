import {withoutCompression} from '../job/name-endings.ts';
import {type Said, say, set} from '../sentence.ts';
import {InputError, pipeRemedy} from './input-error.ts';

/** The beginning of a file. `name`: its name in messages. */
export interface Beginning {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

const EXPORT = 'Save or export it as CSV (UTF-8), then use that file.';
const DECOMPRESS = 'Decompress it first, or use gzip or zstd.';

const SIGNATURES: readonly (readonly [bytes: string, kind: string, advice: string])[] = [
  ['PK\x03\x04', 'a spreadsheet (.xlsx, .ods) or another zip archive', EXPORT],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an old spreadsheet (.xls)', EXPORT],
  ['SQLite format 3\0', 'an SQLite database', EXPORT],
  ['PAR1', 'a Parquet file', EXPORT],
  ['%PDF-', 'a PDF', EXPORT],
  ['BZh', 'compressed with bzip2', DECOMPRESS],
  ['\xfd7zXZ\0', 'compressed with xz', DECOMPRESS],
];

/**
 * @throws {InputError} `input_binary` for data other than text: a spreadsheet, another known kind of file, or
 * many NUL bytes.
 */
export function refuseBinary(head: Buffer, name: string): void {
  const refuse = (kind: string, advice: Said) => {
    throw new InputError('input_binary', say`${name} is not a text file: it looks like ${kind}. ${advice}`);
  };
  const start = head.toString('latin1', 0, 16);
  const known = SIGNATURES.find(([bytes]) => start.startsWith(bytes));
  if (known !== undefined) refuse(known[1], known[2]);
  if (!head.includes(0)) return;
  // The places of NULs in mostly ASCII text show UTF-16 and UTF-32.
  const nuls = [0, 0, 0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) nuls[at % 4] = (nuls[at % 4] ?? 0) + 1;
  if (nuls.reduce((sum, count) => sum + count) <= head.length / 10) return;
  const places = nuls.map(count => (count > head.length / 8 ? '0' : 'x')).join('');
  const [unicode] = Object.entries(UNICODE).find(([, layout]) => layout === places) ?? [];
  if (unicode === undefined) refuse('a binary file', EXPORT);
  refuse(
    `a binary file, or ${unicode} without a byte order mark`,
    say`Export it as CSV, or name its encoding: ${set('encoding', unicode)}.`,
  );
}

const UNICODE = {'utf-32le': 'x000', 'utf-32be': '000x', 'utf-16le': 'x0x0', 'utf-16be': '0x0x'};

const FROM_DATABASE =
  'Export the rows as CSV: psql --csv -c QUERY, mysql --batch -e QUERY (tabs), or sqlite3 -header -csv DATABASE QUERY.';

/** Texts that are no list, with the sentence that says so and what to export instead. */
const kinds: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [
    /^\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|style|table|div)\b/is,
    'is HTML: a page or a table that was saved under this name. Open it in a spreadsheet and save it as CSV (UTF-8); if it is a login page or an error page, download the list again.',
  ],
  [/^\s*<\?xml\b/i, `is XML. ${EXPORT}`],
  [
    /^(?:\s|--[^\n]*\n|\/\*.*?\*\/;?|(?:SET|BEGIN|USE|LOCK)\b[^;]*;)*(?:INSERT INTO|CREATE (?:TABLE|DATABASE)|DROP TABLE|COPY \S+ (?:\([^)]*\) )?FROM)\b/is,
    `has SQL statements, as a dump of a database does, and no rows. ${FROM_DATABASE}`,
  ],
  [
    /^\s*BEGIN:VCARD\b/i,
    'has vCards, and no rows. Export the contacts as CSV: Google Contacts and Outlook can, and Apple’s by way of them.',
  ],
  [
    /^\s*(?:\+(?:[-=]+\+)+|[┌╭╔][─━═┬╦]+[┐╮╗])[ \t]*\r?\n|^[^\n]*\|[^\n]*\n[ \t]*\|?:?-+:?(?:[+|]:?-+:?)+\|?[ \t]*\r?\n/,
    `has a table that is drawn with lines, as a database client shows it. ${FROM_DATABASE}`,
  ],
];

/** @throws {InputError} `input_markup` for HTML and XML, SQL statements, vCards and drawn tables. */
export function refuseMarkup({text, name}: Beginning): void {
  const found = kinds.find(([pattern]) => pattern.test(text));
  if (found !== undefined) throw new InputError('input_markup', `${name} ${found[1]}`);
}

/** @throws {InputError} `input_header` for a `.json` list of values: only objects have column names. */
export function refuseValues({text, path, name}: Beginning): void {
  if (!/\.json$/i.test(withoutCompression(path)) || !/^\s*\[\s*["\d]/.test(text)) return;
  throw new InputError(
    'input_header',
    `${name} is a list of values, not of objects. Write an object on each line, such as {"value": …}.`,
    pipeRemedy("jq -c '.[] | {value: .}'", path),
  );
}
