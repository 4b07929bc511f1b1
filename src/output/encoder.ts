import {stringify} from 'csv-stringify/sync';
import type {InputFormat, Row} from '../input/row.ts';
import type {Result} from '../lookup/plan.ts';
import {addedNames, formulaSafe, pickedJson, resultCells, type TargetColumns} from './columns.ts';

/** How the output is written. */
export interface OutputFormat {
  readonly kind: 'csv' | 'ndjson';
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  readonly bom: boolean;
  /** Whether the input's own cells are made safe against formulas as well. */
  readonly escapeInput: boolean;
  /** Whether answers' texts are. */
  readonly escapeAnswers: boolean;
}

/** A row and what became of each of its lookups, in the order of the targets. */
export interface EnrichedRow {
  readonly row: Row;
  readonly results: readonly Result[];
}

/** Rows → text. Pure: the same rows are the same bytes, whatever way their answers came. */
export interface Encoder {
  /** What stands before the first row. */
  readonly head: string;
  encode(rows: readonly EnrichedRow[]): string;
}

/** Keys of NDJSON rows that the header does not have go in here, as one JSON object. */
const OTHER_FIELDS = 'other_fields';

export function createEncoder(
  input: InputFormat,
  columns: readonly TargetColumns[],
  output: OutputFormat,
): Encoder {
  return output.kind === 'csv' ? csvEncoder(input, columns, output) : ndjsonEncoder(input, columns, output);
}

/** The names of the input's columns as the output has them. */
export function ownNames(input: InputFormat, output: Pick<OutputFormat, 'kind'>): readonly string[] {
  if (input.kind === 'csv') return input.header ?? input.columns;
  return output.kind === 'csv'
    ? [...input.columns, OTHER_FIELDS]
    : ['enrichment'].filter(name => input.columns.includes(name));
}

function csvEncoder(input: InputFormat, columns: readonly TargetColumns[], output: OutputFormat): Encoder {
  const options = {
    delimiter: output.delimiter,
    record_delimiter: output.eol,
    // A lone CR or LF inside a cell ends the record for many readers, whatever this file's own line end is.
    quoted_match: /[\r\n]/,
  };
  const plain = (text: string) => text;
  const own = output.escapeInput ? formulaSafe : plain;
  const safe = output.escapeAnswers ? formulaSafe : plain;
  const cells = ({row, results}: EnrichedRow): string[] => {
    const line = output.escapeInput ? ownCells(row, input).map(own) : [...ownCells(row, input)];
    for (const [index, {fields}] of columns.entries())
      line.push(...resultCells(results[index] as Result, fields, safe));
    return line;
  };
  const header =
    input.kind === 'csv' && input.header === undefined
      ? []
      : [[...ownNames(input, output), ...addedNames(columns)]];
  return {
    head: (output.bom ? '\uFEFF' : '') + stringify(header, options),
    encode: rows => stringify(rows.map(cells), options),
  };
}

function ownCells(row: Row, input: InputFormat): readonly string[] {
  if (row.type === 'csv') return row.fields;
  const cells = input.columns.map(name => jsonCell(row.value[name], name, row.raw));
  const others = Object.entries(row.value).filter(([name]) => !input.columns.includes(name));
  return [...cells, others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others))];
}

/** A JSON value as a cell; numbers that JavaScript can't hold are taken from the line as they stand there. */
function jsonCell(value: unknown, name: string, raw: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') {
    const token = new RegExp(`${escapeRegExp(JSON.stringify(name))}\\s*:\\s*(-?[\\d.eE+-]+)`).exec(raw)?.[1];
    return token ?? String(value);
  }
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function ndjsonEncoder(input: InputFormat, columns: readonly TargetColumns[], output: OutputFormat): Encoder {
  const line = ({row, results}: EnrichedRow): string => {
    const parts = columns.map(
      (column, index) => `${JSON.stringify(column.key)}:${resultJson(results[index] as Result, column)}`,
    );
    return splice(row, input, `"enrichment":{${parts.join(',')}}`) + output.eol;
  };
  return {head: output.bom ? '\uFEFF' : '', encode: rows => rows.map(line).join('')};
}

/** Answers go in as they came, unknown fields included, unless only some fields were asked for. */
function resultJson(result: Result, column: TargetColumns): string {
  const error = 'error' in result ? JSON.stringify(result.error) : 'null';
  const data = 'data' in result && result.data !== undefined ? result.data : undefined;
  const shown = data === undefined || column.whole ? data : pickedJson(data, column.fields);
  return `{"status":"${result.status}","error":${error},"data":${shown ?? 'null'}}`;
}

/** Adds a member to a row's own text, so that its numbers, its order and its spelling stay as they are. */
function splice(row: Row, input: InputFormat, member: string): string {
  if (row.type === 'csv') {
    const object = Object.fromEntries(input.columns.map((name, index) => [name, row.fields[index] ?? '']));
    const text = JSON.stringify(object);
    return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${member}}`;
  }
  const end = row.raw.lastIndexOf('}');
  const comma =
    row.raw.slice(0, end).trimEnd().endsWith('{') && Object.keys(row.value).length === 0 ? '' : ',';
  return `${row.raw.slice(0, end)}${comma}${member}${row.raw.slice(end)}`;
}
