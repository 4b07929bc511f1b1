import {withoutCompression} from '../job/file-names.ts';
import {isLookupValue} from '../operations/table.ts';
import {type Said, say, setting} from '../sentence.ts';
import {conversionRemedy, InputError} from './input-error.ts';
import {
  DELIMITERS,
  type FieldsPerRecord,
  haveSeveralFields,
  readFirstRecords,
} from './records/csv-dialect.ts';

/** `name`: the file's name in messages. */
export interface FileBeginning {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

const EXPORT = 'Save or export it as CSV (UTF-8), then use that file.';
const DECOMPRESS = 'Decompress it first, or use gzip or zstd.';
const DECOMPRESS_ONCE = 'Decompress it once, then use that file.';

const SIGNATURES: readonly (readonly [bytes: string, kind: string, advice: string])[] = [
  ['PK\x03\x04', 'a spreadsheet (.xlsx, .ods) or another zip archive', EXPORT],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an old spreadsheet (.xls)', EXPORT],
  ['SQLite format 3\0', 'an SQLite database', EXPORT],
  ['PAR1', 'a Parquet file', EXPORT],
  ['%PDF-', 'a PDF', EXPORT],
  ['BZh', 'compressed with bzip2', DECOMPRESS],
  ['\xfd7zXZ\0', 'compressed with xz', DECOMPRESS],
  ['\x1f\x8b', 'a file that was compressed twice, with gzip within', DECOMPRESS_ONCE],
  ['\x28\xb5\x2f\xfd', 'a file that was compressed twice, with zstd within', DECOMPRESS_ONCE],
];

/** @throws {InputError} `input_binary` for a spreadsheet, another known kind of file, or many NUL bytes. */
export function refuseBinary(head: Buffer, name: string, path: string): void {
  const refuse = (what: Said, remedy?: InputError['remedy']) => {
    throw new InputError('input_binary', say`${name} is not a text file: it looks like ${what}`, remedy);
  };
  const start = head.toString('latin1', 0, 16);
  const known = SIGNATURES.find(([bytes]) => start.startsWith(bytes));
  if (known !== undefined) refuse(`${known[1]}. ${known[2]}`);
  const first = head.indexOf(0);
  if (first < 0) return;
  // PowerShell's >> appends UTF-16 to a text in UTF-8.
  const appended = head.lastIndexOf('\n', first) + 1;
  const line = head.subarray(0, appended).toString('latin1').split('\n').length;
  if (appended > 0 && unicodeOf(head.subarray(appended))?.startsWith('utf-16'))
    refuse(
      `UTF-8 with UTF-16 behind it, from line ${line} on. Write all of it in one encoding; if it is in English, leave the NUL bytes out.`,
      conversionRemedy(`tr -d '\\000'`, path),
    );
  if (head.filter(byte => byte === 0).length <= head.length / 10) return;
  const unicode = unicodeOf(head);
  if (unicode === undefined) refuse(`a binary file. ${EXPORT}`);
  refuse(
    say`a binary file, or ${unicode} without a byte order mark. Export it as CSV, or name its encoding: ${setting('encoding', unicode)}.`,
  );
}

/** The Unicode encoding that the places of NULs in mostly ASCII text show; undefined without one. */
function unicodeOf(text: Buffer): string | undefined {
  const nuls = [0, 0, 0, 0];
  for (const [at, byte] of text.entries()) if (byte === 0) nuls[at % 4] = (nuls[at % 4] ?? 0) + 1;
  const places = nuls.map(count => (count > text.length / 8 ? '0' : 'x')).join('');
  return Object.entries(UNICODE).find(([, layout]) => layout === places)?.[0];
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
export function refuseMarkup({text, name}: FileBeginning): void {
  const kind = kinds.find(([pattern]) => pattern.test(text));
  if (kind !== undefined) throw new InputError('input_markup', `${name} ${kind[1]}`);
}

/** @throws {InputError} `input_header` for a `.json` list of values: only objects have column names. */
export function refuseValues({text, path, name}: FileBeginning): void {
  if (!/\.json$/i.test(withoutCompression(path)) || !/^\s*\[\s*["\d]/.test(text)) return;
  throw new InputError(
    'input_header',
    `${name} is a list of values, not of objects. Write an object on each line, such as {"value": …}.`,
    conversionRemedy("jq -c '.[] | {value: .}'", path),
  );
}

/** A log line of Apache, nginx and others: `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 …`. */
const COMMON_LOG = /^\S+ \S+ \S+ \[\d\d\/\w{3}\/\d{4}:[^\]\n]*\] "/;
/** The lines above the entries of a log in W3C's extended format, which IIS and CloudFront write, or in Zeek's. */
const EXTENDED_LOG = /^(?:#[^\n]*\n)*#Fields[:\t] *([^\r\n]*)\r?\n(?:#[^\n]*\n)*/i;
/** Names of the client's address in such logs: that of IIS and CloudFront, and that of Zeek. */
const CLIENTS = ['c-ip', 'id.orig_h'];

/** @throws {InputError} `input_header` for a web server's log, with the flags with which it can be read. */
export function refuseWebServerLog({text, name}: FileBeginning): void {
  const [above = '', fields] = EXTENDED_LOG.exec(text) ?? [];
  if (fields === undefined && !COMMON_LOG.test(text)) return;
  const names = (fields ?? 'c-ip').trim().split(/\s+/);
  const client = names.findIndex(field => CLIENTS.includes(field));
  const lines = above.split('\n').length - 1;
  const flags = [
    ...(lines > 0 ? ['--skip-lines', String(lines)] : []),
    '--no-header',
    ...['--delimiter', /^[^\n]*\t/.test(text.slice(above.length)) ? '\\t' : ' '],
    ...(client < 0 ? [] : ['--ip', `column_${client + 1}`]),
  ];
  throw new InputError(
    'input_header',
    `${name} is a web server's log, or one like it, which has no header. Its columns are column_1, column_2, …${client < 0 ? '' : `; column_${client + 1} has the client's address`}.`,
    {flags},
  );
}

const ADDRESS_IN_TEXT = /\s.*(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}\s/;

/** Minimum number of columns that single spaces part: fewer may be a name, or a text. */
const FEWEST_SPACED = 4;

/** True if single spaces part columns, and one has values: in a flow log, for instance. */
function areSpaced(lines: FieldsPerRecord): boolean {
  const [header = [], ...rows] = lines;
  const isWide = header.length >= FEWEST_SPACED && haveSeveralFields(lines);
  return isWide && !header.some(isLookupValue) && rows.some(cells => cells.some(isLookupValue));
}

/**
 * @throws {InputError} `input_header` for lines that no delimiter parts, with a command that makes a list of them, or the
 * flag: those quoted as a whole, `"jo@example.com,192.0.2.1"`, from programs that export one column; those of a log, each
 * with an IP address; and columns that spaces align or part.
 */
export function refuseUndelimitedLines(
  {text, path, name}: FileBeginning,
  records: FieldsPerRecord,
  isDelimited: boolean,
): void {
  if (records.length < 2) return;
  const refuse = (sentence: string, remedy: InputError['remedy']) => {
    throw new InputError('input_header', `${name}: ${sentence}.`, remedy);
  };
  const refuseLog = () =>
    refuse(
      'each line is a text with IP addresses in it, as in a log, and has no columns. Make a list of the addresses',
      conversionRemedy("grep -oE '([0-9]+[.]){3}[0-9]+'", path),
    );
  const lines = text.split(/[\r\n]+/, records.length).map(line => line.trim());
  const areTexts = records.length > 2 && lines.every(line => ADDRESS_IN_TEXT.test(line));
  if (records.some(({length}) => length > 1)) {
    // The commas are those of the texts: no cell is an address.
    if (areTexts && !isDelimited && !records.flat().some(isLookupValue)) refuseLog();
    return;
  }
  const inner = records.flat().join('\n');
  if (
    text.startsWith('"') &&
    DELIMITERS.some(delimiter => haveSeveralFields(readFirstRecords(inner, {delimiter, eol: '\n'})))
  )
    refuse(
      'each line is quoted as a whole, so it is one field. Remove the quotes around the lines, and undouble those within',
      text.includes('\r') ? {} : conversionRemedy(`sed 's/^"//; s/"$//; s/""/"/g'`, path),
    );
  const [control = ''] = /(?!\t)\p{Cc}/u.exec(lines[0] ?? '') ?? [];
  if (!isDelimited && control !== '' && haveSeveralFields(lines.map(line => line.split(control))))
    refuse('a control character parts its columns', {
      flags: ['--delimiter', `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`],
    });
  if (isDelimited || records.length < 3) return;
  if (areSpaced(lines.map(line => line.split(' '))))
    refuse('single spaces part its columns', {flags: ['--delimiter', ' ']});
  if (areTexts) refuseLog();
  if (lines.every(line => /\S {2,}\S/.test(line)))
    refuse(
      'spaces align its columns, and no delimiter parts them. Put a tab between them',
      conversionRemedy(`awk '{gsub(/  +/, "\\t")} 1'`, path),
    );
}

/**
 * @throws {InputError} `input_header` for a list whose rows all have one field more than the header, as R writes the names
 * of rows, with a command that names the first column.
 */
export function refuseShortHeader(
  {path, name}: FileBeginning,
  [header = [], ...rows]: FieldsPerRecord,
  delimiter: string,
): void {
  const isNamed = rows.every(
    (cells, at) => cells[0] === String(at + 1) && cells.length === header.length + 1,
  );
  if (rows.length < 2 || header.length < 2 || !isNamed) return;
  throw new InputError(
    'input_header',
    `${name}: the header is one name short. Each row begins with its number, as R writes the names of rows. Name the first column too, or write the list with row.names = FALSE.`,
    delimiter === '\t' ? {} : conversionRemedy(`sed '1s/^/row${delimiter}/'`, path),
  );
}
