import {dropMistypedFields, markNumbers, unmarkNumbers} from '../client/answer-fields.ts';
import {UsageError} from '../errors.ts';
import {jsonMembers} from '../input/records/json-reader.ts';
import type {FileRow, InputFormat, InputRecord, Row} from '../input/row.ts';
import {MAX_NESTING} from '../job/yaml.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import type {RepairCode} from '../operations/cell.ts';
import {RecentValues} from '../operations/memoize.ts';
import type {Risk, RuleOutcomes} from '../score/scorer.ts';
import {say, setting} from '../sentence.ts';
import {type CsvLine, createCsvLine, formulaSafe} from './csv-line.ts';
import {
  addedNames,
  ENRICHMENT,
  listResultColumns,
  pickFields,
  type RiskColumn,
  repairsByKey,
  resultCells,
  riskCells,
  type TargetColumns,
} from './result-columns.ts';

export interface OutputFormat {
  readonly kind: 'csv' | 'ndjson';
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  readonly bom: boolean;
  /** True if the text begins with Excel's line for the delimiter, `sep=;`. */
  readonly sepLine: boolean;
  /** True if formulas are escaped in the input's own cells. */
  readonly escapeInput: boolean;
  /** True if formulas are escaped in answers. */
  readonly escapeAnswers: boolean;
  /** Columns of each row's risk; empty if rows are not scored. */
  readonly risk: readonly RiskColumn[];
  /** True if there is a column for repairs. */
  readonly repairs: boolean;
  /** True if nested fields get columns of their own (CSV), and answers become fields of the row (NDJSON). */
  readonly flatten: boolean;
}

/** A row with the results of its lookups, in the order of the targets. */
export interface EnrichedRow<Kind extends Row = FileRow> {
  readonly row: Kind;
  readonly results: readonly CellResult[];
  /** Repairs of each target's cell; undefined if no cell was repaired. */
  readonly repairs: readonly (readonly RepairCode[])[] | undefined;
  /** The parsed answer of each result, if it has one. Rows share equal answers, so nothing may change an answer. */
  readonly answers: readonly unknown[];
  /** Undefined if rows are not scored. */
  readonly risk: Risk | undefined;
  readonly outcomes: RuleOutcomes | undefined;
}

/** Turns rows into text. The same rows always give the same bytes. */
export interface RowEncoder {
  /** Text before the first row. */
  readonly head: string;
  encode(rows: readonly EnrichedRow[]): string;
}

/** CSV column for the fields of NDJSON rows that have no column of their own. Holds them as one JSON object. */
const OTHER_FIELDS = 'other_fields';

export function createRowEncoder(
  input: InputFormat,
  columns: readonly TargetColumns[],
  output: OutputFormat,
): RowEncoder {
  return output.kind === 'csv' ? csvEncoder(input, columns, output) : ndjsonEncoder(input, columns, output);
}

/** `input`: names of the input's columns in the output. `added`: names that the format itself adds. */
export function passthroughNames(
  input: InputFormat,
  {kind, flatten}: OutputFormat,
): {readonly input: readonly string[]; readonly added: readonly string[]} {
  if (kind === 'ndjson') return {input: input.columns, added: flatten ? [] : [ENRICHMENT]};
  if (input.kind === 'csv') return {input: input.header ?? input.columns, added: []};
  return {input: input.columns, added: [OTHER_FIELDS]};
}

type CsvFormat = Pick<OutputFormat, 'delimiter' | 'eol' | 'bom' | 'sepLine'>;

/** Returns two functions: `line` makes the text of a CSV record, and `headOf` the text before the first record. */
export function createCsvFormatter({delimiter, eol, bom, sepLine}: CsvFormat) {
  const line = createCsvLine(delimiter);
  const sep = sepLine ? `sep=${delimiter}${eol}` : '';
  const headOf = (header: readonly (readonly string[])[]) =>
    (bom ? '\uFEFF' : '') + sep + header.map(cells => line(cells) + eol).join('');
  return {line, headOf};
}

function csvEncoder(input: InputFormat, columns: readonly TargetColumns[], output: OutputFormat): RowEncoder {
  const {line, headOf} = createCsvFormatter(output);
  const escaped = (cells: readonly string[]) => (output.escapeInput ? cells.map(formulaSafe) : cells);
  const results = columns.map((column, index) => resultText(column, index, line, output));
  const own = passthroughNames(input, output);
  const names = escaped([...own.input, ...own.added, ...addedNames(columns, output)]);
  const encodeRow = (row: EnrichedRow) => {
    const texts = [line(escaped(ownCells(row.row, input, output))), ...results.map(text => text(row))];
    if (output.risk.length > 0) texts.push(row.risk ? line(riskCells(row.risk, output.risk)) : '');
    if (output.repairs) texts.push(line([JSON.stringify(repairsByKey(row.repairs, columns)) ?? '']));
    return texts.join(output.delimiter) + output.eol;
  };
  return {
    // A list without a header gets one, of its columns' numbers: the output is read by people and other commands.
    head: headOf([names]),
    encode: rows => rows.map(encodeRow).join(''),
  };
}

const RECENT_BYTES = 4_194_304;

/** Makes the text of one target's columns. Keeps recent texts, so that a repeated answer is formatted once. */
function resultText(
  column: TargetColumns,
  index: number,
  line: CsvLine,
  {escapeAnswers}: OutputFormat,
): (row: EnrichedRow) => string {
  const safe = escapeAnswers ? formulaSafe : (text: string) => text;
  const all = listResultColumns(column);
  const recent = new RecentValues<string>(RECENT_BYTES, (data, text) => data.length + text.length);
  return ({results, answers}) => {
    const result = results[index] as CellResult;
    const known = isPlain(result) ? recent.get(result.data) : undefined;
    if (known !== undefined) return known;
    const text = line(resultCells(result, typedAnswer(result, answers[index], column), all, safe));
    if (isPlain(result)) recent.set(result.data, text);
    return text;
  };
}

/** True if the result is an answer that is not stale: then the answer alone determines the cells. */
function isPlain(result: CellResult): result is Extract<CellResult, {status: 'ok'}> {
  return result.status === 'ok' && !('stale' in result);
}

function ownCells(row: FileRow, input: InputFormat, {flatten}: OutputFormat): readonly string[] {
  if (row.type === 'csv') return row.fields;
  const members = flatten ? flatMembers(row.raw) : jsonMembers(row.raw);
  const cells = input.columns.map(name => cellOf(members.get(name) ?? 'null'));
  for (const name of input.columns) members.delete(name);
  const others = [...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return [...cells, others.length === 0 ? '' : `{${others.join(',')}}`];
}

/** A JSON value's text as a cell: a string's content, nothing for null, anything else unchanged. */
function cellOf(text: string): string {
  if (text.startsWith('"')) return JSON.parse(text) as string;
  return text === 'null' ? '' : text;
}

function ndjsonEncoder(
  input: InputFormat,
  columns: readonly TargetColumns[],
  output: OutputFormat,
): RowEncoder {
  const names = output.flatten ? addedNames(columns, output) : [ENRICHMENT];
  const encodeRow = (row: EnrichedRow): string => {
    const texts = output.flatten ? flatTexts(row, columns, output) : [nestedText(row, columns)];
    const members = names.map((name, index) => `${JSON.stringify(name)}:${texts[index]}`);
    return splice(row.row, input, names, members.join(',')) + output.eol;
  };
  return {head: output.bom ? '\uFEFF' : '', encode: rows => rows.map(encodeRow).join('')};
}

/** The text of the member `enrichment`. */
function nestedText({results, repairs, risk}: EnrichedRow, columns: readonly TargetColumns[]): string {
  const parts = columns.map((column, index) => {
    const result = resultJson(results[index] as CellResult, column, repairs?.[index]);
    return `${JSON.stringify(column.key)}:${result}`;
  });
  if (risk !== undefined) parts.push(`"risk":${JSON.stringify(risk)}`);
  return `{${parts.join(',')}}`;
}

/** The values of CSV's columns as JSON, each with its type. A value is null if its CSV cell would be empty. */
function flatTexts(row: EnrichedRow, columns: readonly TargetColumns[], output: OutputFormat): string[] {
  const {results, repairs, risk} = row;
  const values = columns.flatMap((column, index): unknown[] => {
    const result = results[index] as CellResult;
    const answer = receivedAnswer(result);
    return listResultColumns(column).map(({of}) => of(result, answer));
  });
  if (risk !== undefined) values.push(...output.risk.map(name => risk[name]));
  if (output.repairs) values.push(repairsByKey(repairs, columns));
  return values.map(value => unmarkNumbers(JSON.stringify(value ?? null)));
}

/** A result as JSON text. Its answer is as received, with unknown fields, unless `--fields` selects fields. */
function resultJson(result: CellResult, column: TargetColumns, repairs: readonly RepairCode[] = []): string {
  const status = column.statusColumns
    .map(({name, of}) => `"${name}":${JSON.stringify(of(result, undefined))},`)
    .join('');
  const data = textOf(result);
  const shown =
    data === undefined || column.whole
      ? data
      : unmarkNumbers(JSON.stringify(pickFields(receivedAnswer(result), column.fields)));
  const repaired = repairs.length === 0 ? '' : `"repairs":${JSON.stringify(repairs)},`;
  return `{${status}${repaired}"data":${shown ?? 'null'}}`;
}

/** A result's parsed answer, without fields of a wrong type. Numbers keep their spelling ({@link markNumbers}). */
function typedAnswer(result: CellResult, answer: unknown, {target}: TargetColumns): unknown {
  const text = textOf(result) ?? '';
  const marked = markNumbers(text);
  return marked === text ? answer : dropMistypedFields(target.operation, JSON.parse(marked));
}

/** A result's parsed answer, with all its fields. Numbers keep their spelling ({@link markNumbers}). */
function receivedAnswer(result: CellResult): unknown {
  const text = textOf(result);
  return text === undefined ? undefined : JSON.parse(markNumbers(text));
}

function textOf(result: CellResult): string | undefined {
  return 'data' in result ? result.data : undefined;
}

/** Adds members to a row's own text, which keeps its numbers, order and spelling. */
function splice(row: FileRow, input: InputFormat, names: readonly string[], members: string): string {
  if (row.type === 'csv') {
    const own = input.columns.map(
      (name, i) => `${JSON.stringify(name)}:${JSON.stringify(row.fields[i] ?? '')}`,
    );
    return `{${[...own, members].join(',')}}`;
  }
  const taken = names.find(name => Object.hasOwn(row.value, name));
  if (taken !== undefined)
    throw new UsageError(
      'column_clash',
      `Row ${row.record} has a field "${taken}" of its own, and answers need that name. Rename it in the input, then run again: answers already paid for are kept.`,
    );
  const end = row.raw.lastIndexOf('}');
  const comma = Object.keys(row.value).length === 0 ? '' : ',';
  return `${row.raw.slice(0, end)}${comma}${members}${row.raw.slice(end)}`;
}

/** Maximum number of columns. Files with more usually have objects whose keys are data, such as identifiers. */
const MOST_COLUMNS = 2_000;

/**
 * The members of a JSON object, with their values as text. Members of nested objects have dotted paths:
 * `user.name`. Lists and empty objects stay whole, as do objects below {@link MAX_NESTING} levels. If two members
 * have the same path, the second gets the path `path#2`, as the second of two equal CSV headers does.
 */
export function flatMembers(raw: string): Map<string, string> {
  const flat = new Map<string, string>();
  const add = (text: string, prefix: string, levels: number) => {
    for (const [name, value] of jsonMembers(text)) {
      const path = `${prefix}${name}`;
      const opens = levels > 1 && value.startsWith('{') && !/^\{\s*\}$/.test(value);
      if (opens) add(value, `${path}.`, levels - 1);
      else flat.set(unusedPath(path, flat), value);
    }
  };
  add(raw, '', MAX_NESTING);
  return flat;
}

function unusedPath(path: string, taken: ReadonlyMap<string, string>): string {
  if (!taken.has(path)) return path;
  let times = 2;
  while (taken.has(`${path}#${times}`)) times += 1;
  return `${path}#${times}`;
}

/**
 * Paths of all fields in the sample's rows, in order of first appearance.
 *
 * @throws {UsageError} if there are more than {@link MOST_COLUMNS}.
 */
export function listFlatColumns(sample: readonly InputRecord[]): string[] {
  const paths = new Set<string>();
  for (const record of sample) {
    if (record.type !== 'ndjson') continue;
    for (const path of flatMembers(record.raw).keys()) paths.add(path);
    if (paths.size > MOST_COLUMNS)
      throw new UsageError(
        'too_many_columns',
        say`${setting('flatten', true)}: the first rows alone have more than ${MOST_COLUMNS} different fields, so they can't be columns. Leave it out: each inner object is then one column of JSON.`,
      );
  }
  return [...paths];
}
