import {UsageError} from '../errors.ts';
import {hasPhoneShape} from '../operations/phone/phone-shape.ts';
import {isLookupValue} from '../operations/table.ts';
import {type Said, say, setting} from '../sentence.ts';
import {InputError} from './input-error.ts';
import {
  countColumns,
  DELIMITERS,
  detectDialect,
  type FieldsPerRecord,
  readFirstRecords,
} from './records/csv-dialect.ts';
import type {CsvSettings} from './records/csv-reader.ts';
import {CsvRecordParser} from './records/csv-record-parser.ts';
import type {FileBeginning} from './unsupported-formats.ts';

/** Lines to inspect, and maximum numbers of title lines among them and of lines that name groups of columns. */
const MOST_LINES = 60;
const MOST_TITLE = 20;
const MOST_GROUPS = 2;
/** Lines of a block above a table that are as wide as the table: a header with one row. */
const BLOCK = 2;
/** Minimum number of lines below a header, and the share of them that must have as many fields as the header. */
const FEWEST_BELOW = 2;
const AGREEING = 0.9;

/** The lines at the top of a CSV file: those above the header, the header, and those below that belong to it. */
export interface CsvTop
  extends Pick<CsvSettings, 'dialect' | 'header' | 'width' | 'lines' | 'groupLines' | 'below'> {
  /** The text from the header on, and the number of bytes above it. */
  readonly text: string;
  readonly bytes: number;
  /** The first records, with the header. */
  readonly records: FieldsPerRecord;
  readonly notes: readonly Said[];
}

export interface TopSettings {
  readonly header: boolean;
  readonly delimiter: string | undefined;
  readonly skipLines: number;
  /** True if lines that are no header may be read as what they are, with a note. Otherwise the file is refused. */
  readonly decides: boolean;
}

/**
 * Finds the header of a CSV file below title lines (a report's name, its date, a blank line) and lines that name
 * groups of columns.
 *
 * @throws {InputError} `input_title` for such lines, with the flag that skips them, unless `decides`.
 */
export function findCsvTop({text: sample, name}: FileBeginning, settings: TopSettings): CsvTop {
  const given = skipLines(sample, settings.skipLines, name).text;
  const {title, groups} = settings.header ? linesAbove(given, settings) : {title: 0, groups: 0};
  const lines = settings.skipLines + title + groups;
  const notes: Said[] = title + groups > 0 ? [aboveHeader(name, lines, groups, settings)] : [];
  const {above, ...top} = skipLines(sample, lines, name);
  const dialect = detectDialect(top.text, settings.delimiter);
  const records = readFirstRecords(top.text, dialect);
  const first = settings.header ? valueInFirst(records) : -1;
  if (first >= 0) notes.push(withoutHeader(name, first + 1, settings));
  const header = settings.header && first < 0;
  const below = header ? recordsBelow(records) : 0;
  if (below > 0)
    notes.push(
      `${name}: lines below the header describe its columns (${below}). They are left out of the output.`,
    );
  const groupLines = header ? groupsIn(above, Math.max(1, groups), dialect.delimiter) : [];
  if (below > 1) groupLines.push([...(records[1] ?? [])]);
  return {...top, lines, dialect, header, records, width: countColumns(records), groupLines, below, notes};
}

function aboveHeader(name: string, lines: number, groups: number, {decides}: TopSettings): string {
  const flags = ['--skip-lines', String(lines)];
  const first = lines === 1 ? 'line seems' : `${lines} lines seem`;
  const [what, reading] =
    groups > 0
      ? [
          `line ${lines} names groups of columns, and line ${lines + 1} the columns`,
          `Read the header from there: ${flags.join(' ')}. The run still reads the groups: they tell whose values a column has.`,
        ]
      : [
          `the first ${first} to be a title; line ${lines + 1} looks like the header`,
          `Skip what is above it with ${flags.join(' ')}.`,
        ];
  if (!decides) throw new InputError('input_title', `${name}: ${what}. ${reading}`, {flags});
  return `${name}: ${what}. It is read as with ${flags.join(' ')}: the output begins with that line.`;
}

/** `above`: the first `count` lines, which are cut off. */
function skipLines(text: string, count: number, name: string) {
  if (count === 0) return {text, bytes: 0, above: []};
  const lines = text.split(/(?<=\n|\r(?!\n))/);
  const above = lines.slice(0, count);
  if (above.length < count || !/[\r\n]$/.test(above.at(-1) ?? ''))
    throw new InputError(
      'input_header',
      say`${name}: ${setting('skipLines', String(count))} skips all that is searched for the header: ${count} lines, at most 64 KiB. Give a smaller number, or remove the lines first: tail -n +${count + 1}.`,
    );
  const bytes = Buffer.byteLength(above.join(''));
  return {text: lines.slice(count).join(''), bytes, above: above.map(line => line.replace(/[\r\n]+$/, ''))};
}

/** Numbers of title lines, and of lines below them that name groups of columns. */
function linesAbove(text: string, {delimiter, skipLines}: TopSettings) {
  const lines = text.split(/\r\n|\n|\r/, MOST_LINES);
  if (/^"?sep=/i.test(lines[0] ?? '')) return {title: 0, groups: 0};
  // DATEV puts a line about the file above the header.
  if (skipLines === 0 && /^"?(?:EXTF|DTVF)"?;/.test(lines[0] ?? '')) return {title: 1, groups: 0};
  const tables = (delimiter === undefined ? DELIMITERS : [delimiter]).map(candidate =>
    lines.map(line => fieldsOf(line, candidate)),
  );
  // Takes the delimiter with which lines usually have the most fields. The other delimiters only occur in texts.
  const [table = []] = tables.sort((a, b) => usualWidth(b) - usualWidth(a));
  const title = skipLines === 0 ? commentLines(table) || titleLines(table) : 0;
  let groups = 0;
  let above = table[title] ?? [];
  while (groups < MOST_GROUPS && namesGroups([above, ...table.slice(title + groups + 1)])) {
    groups += 1;
    above = (table[title + groups] ?? []).map((cell, at) => cell || (above[at] ?? ''));
  }
  return {title, groups};
}

function usualWidth(rows: FieldsPerRecord): number {
  const widths = rows.map(row => row.length).filter(width => width > 0);
  return widths.sort((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
}

/** Number of lines that begin with `#` above the header. The last of them may be the header itself: `#email,ip`. */
function commentLines(rows: FieldsPerRecord): number {
  const count = rows.findIndex(([first = '']) => !/^#\s*\S/.test(first));
  const [last = [], below = []] = rows.slice(Math.max(0, count - 1));
  const isHeader = /^#\S/.test(last[0] ?? '') && last.length > 1 && last.length === below.length;
  return count <= 0 || count > MOST_TITLE ? 0 : isHeader ? count - 1 : count;
}

/** Number of title lines above the header; 0 if there is no title, or no line below it is clearly a header. */
function titleLines(rows: FieldsPerRecord): number {
  const isBlank = (at: number) => at > 0 && filled(rows[at]) === 0;
  // Below a blank line the table may have a title of its own: `2. Participants`.
  const begins = (at: number) => isBlank(at - 1) || (filled(rows[at - 1]) === 1 && isBlank(at - 2));
  const blank = rows.findIndex((_, at) => isBlank(at));
  const table = blank < 0 ? [] : rows.slice(blank).filter(row => filled(row) > 0);
  const width = table.length > FEWEST_BELOW ? usualWidth(table) : Math.max(...rows.map(row => row.length));
  const isHalf = (row: readonly string[]) => filled(row) <= width / 2;
  const first = rows.findIndex(row => row.length === width && filled(row) > 1);
  const apart = rows.findIndex((row, at) => at > first && begins(at) && !isHalf(row));
  const wideAbove = (at: number) => rows.slice(0, Math.max(0, at)).filter(row => !isHalf(row)).length;
  // A block above the table: a few lines, or a header with one row, as in reports of meetings.
  const header = apart > 0 && wideAbove(apart) <= BLOCK ? apart : first;
  if (width < 2 || header < 1 || header > MOST_TITLE) return 0;
  // If a blank line separates title and header, a title line may have several cells, such as a name and a date.
  const isApart = begins(header);
  const isBlock = isApart && wideAbove(header) === BLOCK;
  const isTitle = (row: readonly string[]) =>
    isBlock ||
    (isApart && (row.length < width || isHalf(row))) ||
    (filled(row) <= 1 && (row.length < width || width > 2));
  // Below a block, a report may have more than one table.
  const end = isApart ? rows.findIndex((_, at) => at > header && isBlank(at)) : -1;
  const below = rows.slice(header + 1, end < 0 ? undefined : end).filter(row => filled(row) > 0);
  const agreeing = below.filter(row => row.length === width).length;
  const isHeader = rows[header]?.every(cell => !/@|^[\d.:/+() -]+$/.test(cell)) === true;
  const stands = below.length >= FEWEST_BELOW && agreeing >= AGREEING * below.length;
  return isHeader && stands && rows.slice(0, header).every(isTitle) && filled(rows[0]) > 0 ? header : 0;
}

/** True if line 1 names groups of the columns that line 2 names: `Employee,,Manager,` above `Name,Email,Name,Email`. */
function namesGroups([first = [], second = [], ...below]: FieldsPerRecord): boolean {
  const rows = below.filter(row => filled(row) > 0);
  const isHeader =
    filled(second) > 1 &&
    second.every((cell, at) => filled([...first.slice(0, at + 1), cell]) > 0 && !hasValue(cell));
  if (first.length !== second.length || !isHeader || first.some(hasValue) || rows.length < FEWEST_BELOW)
    return false;
  const isWide = first.some(
    (cell, at) => at > 0 && first[at - 1] !== '' && (cell === '' || cell === first[at - 1]),
  );
  const isOfValues = (at: number) => rows.filter(row => hasValue(row[at] ?? '')).length > rows.length / 2;
  return isWide && second.some((_, at) => isOfValues(at));
}

/** True for an `@` or about four digits: an address, a number or a date. Headers have no such cells. */
function hasValue(cell: string): boolean {
  return /@|(?:\d\D?){4}/.test(cell);
}

/** The cells of the last lines above the header, as far as they name groups: a title fills at most its first cell. */
function groupsIn(above: readonly string[], count: number, delimiter: string): string[][] {
  const lines = above.filter(line => line.trim() !== '').slice(-count);
  const cells = lines.map(line => fieldsOf(line, delimiter).map(cell => cell.trim()));
  return cells.filter(([, ...others]) => filled(others) > 0);
}

/** Each column's group. An empty cell has the group to its left. Undefined if no line names groups. */
export function groupNamesOfColumns({groupLines}: CsvTop, columns: number): string[] | undefined {
  const named = groupLines
    .filter(({length}) => length === columns)
    .map(cells => cells.map((_, at) => cells.slice(0, at + 1).findLast(cell => cell !== '') ?? ''));
  return named[0]?.map((_, at) => [...new Set(named.map(groups => groups[at]))].join(' ').trim());
}

/** Digits of a day in a header, such as 20240101. A phone number has more, where it is to show a list without a header. */
const DATE_DIGITS = 8;

/**
 * A column whose first cell is a value, or is written as a phone number like those below it, so that the first record is
 * no header; -1 without one. Beside a column of values under a name, most cells below it must be values, too.
 */
function valueInFirst([first = [], ...rows]: FieldsPerRecord): number {
  const areBelow = (at: number, holds: (text: string) => boolean) => {
    const below = rows.map(row => row[at]?.trim() ?? '').filter(text => text !== '');
    return below.filter(holds).length > below.length / 2;
  };
  const isName = (cell: string, at: number) =>
    /\p{L}/u.test(cell) && !isLookupValue(cell) && areBelow(at, isLookupValue);
  const isLong = (cell: string) => cell.replace(/\D/g, '').length > DATE_DIGITS && hasPhoneShape(cell.trim());
  return first.findIndex((cell, at) =>
    isLookupValue(cell)
      ? areBelow(at, isLookupValue) || !first.some(isName)
      : isLong(cell) && areBelow(at, hasPhoneShape) && !first.some(isName),
  );
}

/** @throws {UsageError} if the job must say that its list has no header. */
function withoutHeader(name: string, column: number, {decides}: TopSettings): Said {
  const what = `${name} has no header: column ${column} of its first line is itself a value.`;
  const names = 'columns are column_1, column_2, …';
  if (decides) return say`${what} It is read as with ${setting('header', false)}; ${names}.`;
  throw new UsageError('header_is_value', say`${what} Add ${setting('header', false)}; ${names}.`, {
    flags: ['--no-header'],
  });
}

/** Number of records below the header that describe its columns: Qualtrics writes the questions, then such a line. */
function recordsBelow(records: FieldsPerRecord): number {
  const isLine = (fields: readonly string[]) =>
    filled(fields) > 0 && fields.every(cell => /^(?:\{"ImportId":|$)/.test(cell));
  return 1 + records.slice(1, 3).findIndex(isLine);
}

function filled(row: readonly string[] = []): number {
  return row.filter(cell => cell.trim() !== '').length;
}

/** A line's fields; none if a quote is not closed. */
function fieldsOf(line: string, delimiter: string): string[] {
  // A parser for each of 60 lines and 4 delimiters would slow a short run's start.
  if (!line.includes('"')) return line === '' ? [] : line.split(delimiter);
  return [...(new CsvRecordParser({delimiter, eol: '\n'}).looseFields(line) ?? [])];
}
