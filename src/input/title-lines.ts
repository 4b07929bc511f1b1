import {CsvError, parse} from 'csv-parse/sync';
import {InputError} from './input-error.ts';
import {DELIMITERS} from './records/delimiter.ts';

/**
 * Cuts off the first `lines` lines. `rest`: the text after them. `last`: the last cut line that is not blank.
 *
 * @throws {InputError} `input_header` if the sample has no line after them, so that no header can be found.
 */
export function skipLines(sample: string, lines: number, name: string) {
  let at = 0;
  for (let line = 0; line < lines; line++) {
    const end = /\r\n|\n|\r/.exec(sample.slice(at));
    if (end === null)
      throw new InputError(
        'input_header',
        `${name}: --skip-lines ${lines} skips all that is searched for the header: ${line} lines, at most 64 KiB. Give a smaller number, or remove the lines first: tail -n +${lines + 1}.`,
      );
    at += end.index + end[0].length;
  }
  const skipped = sample.slice(0, at);
  const last =
    skipped
      .trimEnd()
      .split(/\r\n|\n|\r/)
      .at(-1) ?? '';
  return {rest: sample.slice(at), bytes: Buffer.byteLength(skipped), last};
}

/** Lines to inspect, and the maximum number of title lines among them. */
const MOST_LINES = 60;
const MOST_TITLE = 20;
/** Minimum share of the lines below a header that must have as many fields as the header. */
const AGREEING = 0.9;
/** Minimum number of lines that follow a header. */
const FEWEST_BELOW = 2;

/**
 * Refuses a file with title lines above the header (a report's name, its date, a blank line), or with a line that
 * names groups of columns: the first of these lines would be taken for the header. `skipped`: number of lines
 * above `sample` that are already left out.
 *
 * @throws {InputError} `input_title` for such lines. The message names the flag that skips them.
 */
export function refuseTitle(
  sample: string,
  delimiter: string | undefined,
  name: string,
  skipped: number,
): void {
  const lines = sample.split(/\r\n|\n|\r/).slice(0, MOST_LINES);
  if (/^"?sep=/i.test(lines[0] ?? '')) return;
  const tables = (delimiter === undefined ? DELIMITERS : [delimiter]).map(candidate =>
    lines.map(line => fieldsOf(line, candidate)),
  );
  // Takes the delimiter with which lines usually have the most fields. The other delimiters only occur in texts.
  const [table = []] = tables.sort((a, b) => usualWidth(b) - usualWidth(a));
  const title = skipped === 0 ? titleLines(table) : 0;
  const isGrouped = namesGroups(table.slice(title));
  const count = skipped + title + (isGrouped ? 1 : 0);
  if (count === skipped) return;
  if (isGrouped)
    throw new InputError(
      'input_title',
      `${name}: line ${count} names groups of columns, and line ${count + 1} the columns. Read the header from there: --skip-lines ${count}. The run still reads the groups: they tell whose values a column has.`,
      {flags: ['--skip-lines', String(count)]},
    );
  throw new InputError(
    'input_title',
    `${name}: the first ${count === 1 ? 'line seems' : `${count} lines seem`} to be a title; line ${count + 1} looks like the header. Skip what is above it with --skip-lines ${count}.`,
    {flags: ['--skip-lines', String(count)]},
  );
}

function usualWidth(rows: readonly (readonly string[])[]): number {
  const widths = rows.map(row => row.length).filter(width => width > 0);
  return widths.sort((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
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

/** Number of title lines above the header; 0 if there is no title, or no line below it is clearly a header. */
function titleLines(rows: readonly (readonly string[])[]): number {
  const width = Math.max(...rows.map(row => row.length));
  const isHalf = (row: readonly string[]) => filled(row) <= width / 2;
  const first = rows.findIndex(row => row.length === width && filled(row) > 1);
  const apart = rows.findIndex((row, at) => at > first && filled(rows[at - 1] ?? []) === 0 && !isHalf(row));
  const header = apart > 0 && rows.slice(0, apart).every(isHalf) ? apart : first;
  if (width < 2 || header < 1 || header > MOST_TITLE) return 0;
  // If a blank line separates title and header, a title line may have several cells, such as a name and a date.
  const isApart = filled(rows[header - 1] ?? []) === 0;
  const isTitle = (row: readonly string[]) =>
    (isApart && (row.length < width || isHalf(row))) ||
    (filled(row) <= 1 && (row.length < width || width > 2));
  const below = rows.slice(header + 1).filter(row => filled(row) > 0);
  const agreeing = below.filter(row => row.length === width).length;
  const isHeader = rows[header]?.every(cell => !/@|^[\d.:/+() -]+$/.test(cell)) === true;
  const stands = below.length >= FEWEST_BELOW && agreeing >= AGREEING * below.length;
  return isHeader && stands && rows.slice(0, header).every(isTitle) && filled(rows[0] ?? []) > 0 ? header : 0;
}

/**
 * True if line 1 names groups of the columns that line 2 names: `Employee,,Manager,` above `Name,Email,Name,Email`.
 */
function namesGroups([first = [], second = [], ...below]: readonly (readonly string[])[]): boolean {
  const rows = below.filter(row => filled(row) > 0);
  const isNamed = (cell: string, at: number) => cell.trim() !== '' || first[at]?.trim() !== '';
  const isHeader = filled(second) > 1 && second.every((cell, at) => isNamed(cell, at) && !hasValue(cell));
  if (first.length !== second.length || !isHeader || first.some(hasValue) || rows.length < FEWEST_BELOW)
    return false;
  const isWide = first.some(
    (cell, at) => at > 0 && first[at - 1] !== '' && (cell === '' || cell === first[at - 1]),
  );
  const isOfValues = (at: number) => rows.filter(row => hasValue(row[at] ?? '')).length > rows.length / 2;
  return isWide && second.some((_, at) => isOfValues(at));
}

/** True if a cell has an `@` or about four digits: an address, a number or a date. Headers have no such cells. */
function hasValue(cell: string): boolean {
  return /@|(?:\d\D?){4}/.test(cell);
}

/**
 * Each column's group, from the line above the header. An empty cell has the group to its left. Undefined if the
 * line is a title: then at most its first cell has text.
 */
export function groupsIn(line: string, delimiter: string): string[] | undefined {
  const cells = fieldsOf(line, delimiter).map(cell => cell.trim());
  if (cells.slice(1).every(cell => cell === '')) return undefined;
  let group = '';
  return cells.map(cell => {
    group = cell || group;
    return group;
  });
}

function filled(row: readonly string[]): number {
  return row.filter(cell => cell.trim() !== '').length;
}

/** A line's fields; none if a quote is not closed. */
function fieldsOf(line: string, delimiter: string): string[] {
  // Splits lines without quotes by hand: a parser for each of 60 lines and 4 delimiters would slow a
  // short run's start.
  if (!line.includes('"')) return line === '' ? [] : line.split(delimiter);
  try {
    return (parse(line, {delimiter, relax_quotes: true}) as string[][])[0] ?? [];
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
