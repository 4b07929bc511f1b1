import {isValue} from '../operations/shown-value.ts';
import {byPipe, InputError} from './input-error.ts';
import {DELIMITERS, firstRecords} from './records/delimiter.ts';

/** A text that is no list with a header, with the sentence that says so and what to export instead. */
type Kind = readonly [pattern: RegExp, sentence: string];

const FROM_DATABASE =
  'Export the rows as CSV: psql --csv -c QUERY, mysql --batch -e QUERY (tabs), or sqlite3 -header -csv DATABASE QUERY.';

const kinds: readonly Kind[] = [
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

/** @throws {InputError} `input_markup` for SQL statements, vCards and drawn tables. */
export function refuseOtherKinds(sample: string, name: string): void {
  const found = kinds.find(([pattern]) => pattern.test(sample));
  if (found !== undefined) throw new InputError('input_markup', `${name} ${found[1]}`);
}

/** A log line of Apache, nginx and others: `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 …`. */
const COMMON_LOG = /^\S+ \S+ \S+ \[\d\d\/\w{3}\/\d{4}:[^\]\n]*\] "/;
/** The lines above the entries of a log in W3C's extended format, which IIS and CloudFront write. */
const EXTENDED_LOG = /^(?:#[^\n]*\n)*#Fields: *([^\r\n]*)\r?\n(?:#[^\n]*\n)*/;

/**
 * Refuses a web server's log, which has no readable header.
 *
 * @throws {InputError} `input_header` for such a log. The error suggests the flags with which the log can be read.
 */
export function refuseLog(sample: string, name: string): void {
  const [above = '', fields] = EXTENDED_LOG.exec(sample) ?? [];
  if (fields === undefined && !COMMON_LOG.test(sample)) return;
  const client = fields === undefined ? 0 : fields.trim().split(/\s+/).indexOf('c-ip');
  const lines = above.split('\n').length - 1;
  const flags = [
    ...(lines > 0 ? ['--skip-lines', String(lines)] : []),
    '--no-header',
    ...(/^[^\n]*\t/.test(sample.slice(above.length)) ? ['--delimiter', '\\t'] : ['--delimiter', ' ']),
    ...(client < 0 ? [] : ['--ip', `column_${client + 1}`]),
  ];
  throw new InputError(
    'input_header',
    `${name} is a web server's log, which has no header. Its columns are column_1, column_2, …${client < 0 ? '' : `; column_${client + 1} has the client's address`}.`,
    {flags},
  );
}

/**
 * Refuses lines that are quoted as a whole, `"jo@example.com,192.0.2.1"`, from programs that export one column.
 *
 * @throws {InputError} `input_header` for such lines. The error has a command that removes the quotes.
 */
export function refuseQuotedLines(
  records: readonly (readonly string[])[],
  sample: string,
  path: string,
  name: string,
): void {
  if (!sample.startsWith('"') || records.length < 2 || records.some(({length}) => length !== 1)) return;
  const inner = Buffer.from(records.flat().join('\n'));
  const isParted = DELIMITERS.some(delimiter => {
    const [first = [], ...others] = firstRecords(inner, delimiter, '\n');
    return first.length > 1 && others.length > 0 && others.every(({length}) => length === first.length);
  });
  if (!isParted) return;
  const remedy = sample.includes('\r') ? {} : byPipe(`sed 's/^"//; s/"$//; s/""/"/g'`, path);
  throw new InputError(
    'input_header',
    `${name}: each line is quoted as a whole, so it is one field. Remove the quotes around the lines, and undouble those within.`,
    remedy,
  );
}

const ADDRESS_IN_TEXT = /\s.*(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}\s/;

/** Minimum number of columns that single spaces part: fewer may be a name, or a text. */
const FEWEST_SPACED = 4;

/** True if single spaces part columns, and one has values: in a flow log, for instance. */
function isSpaced([header = [], ...rows]: readonly (readonly string[])[]): boolean {
  const agree = header.length >= FEWEST_SPACED && rows.every(({length}) => length === header.length);
  return agree && !header.some(isValue) && rows.some(cells => cells.some(isValue));
}

/**
 * Refuses lines that no delimiter parts: those of a log, each with an IP address, and columns that spaces align or part.
 *
 * @throws {InputError} `input_header` for such lines. The error has a command that makes a list of them, or the flag.
 */
export function refuseTexts(
  text: string,
  records: readonly (readonly string[])[],
  path: string,
  name: string,
): void {
  if (records.length < 3 || records.some(({length}) => length > 1)) return;
  const lines = text.split(/[\r\n]+/, records.length).map(line => line.trim());
  if (isSpaced(lines.map(line => line.split(' '))))
    throw new InputError('input_header', `${name}: single spaces part its columns.`, {
      flags: ['--delimiter', ' '],
    });
  const isLog = lines.every(line => ADDRESS_IN_TEXT.test(line));
  if (!isLog && !lines.every(line => /\S {2,}\S/.test(line))) return;
  const command = isLog ? "grep -oE '([0-9]+[.]){3}[0-9]+'" : `awk '{gsub(/  +/, "\\t")} 1'`;
  const sentence = isLog
    ? 'each line is a text with IP addresses in it, as in a log, and has no columns. Make a list of the addresses'
    : 'spaces align its columns, and no delimiter parts them. Put a tab between them';
  throw new InputError('input_header', `${name}: ${sentence}.`, byPipe(command, path));
}

/**
 * Refuses a list whose rows all have one field more than the header: R writes the names of rows so.
 *
 * @throws {InputError} `input_header` for such a list. The error has a command that names the first column.
 */
export function refuseRowNames(
  [header = [], ...rows]: readonly (readonly string[])[],
  delimiter: string,
  path: string,
  name: string,
): void {
  const isNamed = rows.every(
    ([first, ...others], at) => first === String(at + 1) && others.length === header.length,
  );
  if (rows.length < 2 || header.length < 2 || !isNamed) return;
  const remedy = delimiter === '\t' ? {} : byPipe(`sed '1s/^/row${delimiter}/'`, path);
  throw new InputError(
    'input_header',
    `${name}: the header is one name short. Each row begins with its number, as R writes the names of rows. Name the first column too, or write the list with row.names = FALSE.`,
    remedy,
  );
}
