import {dropMistypedFields, markNumbers, unmarkNumbers} from '../client/answer-fields.ts';
import {UsageError} from '../errors.ts';
import {jsonMembers} from '../input/records/json-reader.ts';
import type {FileRow, InputFormat, Row} from '../input/row.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import type {RepairCode} from '../operations/cell.ts';
import {RecentValues} from '../operations/memoize.ts';
import type {Risk, RuleOutcomes} from '../score/scorer.ts';
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
} from './columns.ts';
import {type CsvLine, createCsvLine, formulaSafe} from './csv-line.ts';
import {flatMembers} from './flat.ts';

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
  /**
   * The parsed answer of each result, if it has one. Rows share equal answers, so nothing may change an answer.
   */
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
  const ownName = passthroughNames(input, output);
  const names = escaped([...ownName.input, ...ownName.added, ...addedNames(columns, output)]);
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
  const cells = input.columns.map(name => {
    const text = members.get(name);
    members.delete(name);
    return text === undefined ? '' : cellOf(text);
  });
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
  const textsOf = output.flatten ? flatAnswers(columns, output) : nestedAnswers(columns);
  const encodeRow = (row: EnrichedRow): string => {
    const texts = textsOf(row);
    const members = names.map((name, index) => `${JSON.stringify(name)}:${texts[index]}`);
    return splice(row.row, input, names, members.join(',')) + output.eol;
  };
  return {head: output.bom ? '\uFEFF' : '', encode: rows => rows.map(encodeRow).join('')};
}

/** Makes the texts of the members that are added to a row. */
type AddedTexts = (row: EnrichedRow) => string[];

function nestedAnswers(columns: readonly TargetColumns[]): AddedTexts {
  return ({results, repairs, risk}) => {
    const parts = columns.map((column, index) => {
      const result = resultJson(results[index] as CellResult, column, repairs?.[index]);
      return `${JSON.stringify(column.key)}:${result}`;
    });
    if (risk !== undefined) parts.push(`"risk":${JSON.stringify(risk)}`);
    return [`{${parts.join(',')}}`];
  };
}

/** The values of CSV's columns, each with its type. A value is null if its CSV cell would be empty. */
function flatAnswers(columns: readonly TargetColumns[], output: OutputFormat): AddedTexts {
  return ({results, repairs, risk}) => {
    const values = columns.flatMap((column, index): unknown[] => {
      const result = results[index] as CellResult;
      const answer = receivedAnswer(result);
      return listResultColumns(column).map(one => one.of(result, answer));
    });
    if (risk !== undefined) values.push(...output.risk.map(name => risk[name]));
    if (output.repairs) values.push(repairsByKey(repairs, columns));
    return values.map(value => unmarkNumbers(JSON.stringify(value ?? null)));
  };
}

/** A result as JSON text. Its answer is as received, with unknown fields, unless `--fields` selects fields. */
function resultJson(result: CellResult, column: TargetColumns, repairs: readonly RepairCode[] = []): string {
  const said = column.said.map(one => `"${one.name}":${JSON.stringify(one.of(result, undefined))},`).join('');
  const data = textOf(result);
  const shown =
    data === undefined || column.whole
      ? data
      : unmarkNumbers(JSON.stringify(pickFields(receivedAnswer(result), column.fields)));
  const repaired = repairs.length === 0 ? '' : `"repairs":${JSON.stringify(repairs)},`;
  return `{${said}${repaired}"data":${shown ?? 'null'}}`;
}

/** A result's parsed answer, without fields of a wrong type. Numbers keep their spelling (exact-numbers.ts). */
function typedAnswer(result: CellResult, answer: unknown, {target}: TargetColumns): unknown {
  const text = textOf(result) ?? '';
  const marked = markNumbers(text);
  return marked === text ? answer : dropMistypedFields(target.operation, JSON.parse(marked));
}

/** A result's parsed answer, with all its fields. Numbers keep their spelling (exact-numbers.ts). */
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
  if (taken !== undefined) throw clash(row.record, taken);
  const end = row.raw.lastIndexOf('}');
  const comma = Object.keys(row.value).length === 0 ? '' : ',';
  return `${row.raw.slice(0, end)}${comma}${members}${row.raw.slice(end)}`;
}

function clash(record: number, name: string): UsageError {
  return new UsageError(
    'column_clash',
    `Row ${record} has a field "${name}" of its own, and answers need that name. Rename it in the input, then run again: answers already paid for are kept.`,
  );
}
