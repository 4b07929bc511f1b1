import {stringify} from 'csv-stringify/sync';
import {usedAnswer} from '../client/answer-fields.ts';
import {markNumbers, unmarkNumbers} from '../client/exact-numbers.ts';
import {UsageError} from '../errors.ts';
import {jsonMembers} from '../input/records/json-members.ts';
import type {InputFormat, Row, TextRow} from '../input/row.ts';
import type {Result} from '../ledger/lookup.ts';
import {Recent} from '../lookup/recent.ts';
import type {RepairCode} from '../operations/cell.ts';
import type {Risk, RuleOutcomes} from '../score/risk.ts';
import {
  addedNames,
  columnsOf,
  formulaSafe,
  pickFields,
  type RiskColumn,
  repairsByKey,
  resultCells,
  riskCells,
  type TargetColumns,
} from './columns.ts';
import {type CsvTexts, csvTexts} from './csv-text.ts';
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
export interface EnrichedRow<Kind extends Row = TextRow> {
  readonly row: Kind;
  readonly results: readonly Result[];
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
export interface Encoder {
  /** Text before the first row. */
  readonly head: string;
  encode(rows: readonly EnrichedRow[]): string;
}

/** CSV column for the fields of NDJSON rows that have no column of their own. Holds them as one JSON object. */
const OTHER_FIELDS = 'other_fields';
/** Name of the member in NDJSON rows that holds all results. */
export const ENRICHMENT = 'enrichment';

export function createEncoder(
  input: InputFormat,
  columns: readonly TargetColumns[],
  output: OutputFormat,
): Encoder {
  return output.kind === 'csv' ? csvEncoder(input, columns, output) : ndjsonEncoder(input, columns, output);
}

/** `input`: names of the input's columns in the output. `added`: names that the format itself adds. */
export function ownNames(
  input: InputFormat,
  {kind, flatten}: OutputFormat,
): {readonly input: readonly string[]; readonly added: readonly string[]} {
  if (kind === 'ndjson') return {input: input.columns, added: flatten ? [] : [ENRICHMENT]};
  if (input.kind === 'csv') return {input: input.header ?? input.columns, added: []};
  return {input: input.columns, added: [OTHER_FIELDS]};
}

type CsvFormat = Pick<OutputFormat, 'delimiter' | 'eol' | 'bom' | 'sepLine'>;

/** Returns two functions: `texts` makes the text of CSV records, and `headOf` the text before the first record. */
export function csvWriter({delimiter, eol, bom, sepLine}: CsvFormat) {
  // Cells with a CR or LF are quoted: many readers end a record there, whatever the file's own line end is.
  const options = {delimiter, record_delimiter: eol, quoted_match: /[\r\n]/};
  const sep = sepLine ? `sep=${delimiter}${eol}` : '';
  const headOf = (header: readonly (readonly string[])[]) =>
    (bom ? '\uFEFF' : '') + sep + stringify(header as string[][], options);
  return {texts: csvTexts(options), headOf};
}

function csvEncoder(input: InputFormat, columns: readonly TargetColumns[], output: OutputFormat): Encoder {
  const {texts, headOf} = csvWriter(output);
  const safe = output.escapeAnswers ? formulaSafe : (text: string) => text;
  const own = ({row}: EnrichedRow) => {
    const cells = ownCells(row, input, output);
    return output.escapeInput ? cells.map(formulaSafe) : cells;
  };
  const groups = addedTexts(columns, output, texts, safe);
  const ownName = ownNames(input, output);
  const plain = [...ownName.input, ...ownName.added, ...addedNames(columns, output)];
  const names = output.escapeInput ? plain.map(formulaSafe) : plain;
  return {
    head: headOf(input.kind === 'csv' && input.header === undefined ? [] : [names]),
    encode(rows) {
      const parts = groups.map(group => group(rows));
      let text = '';
      texts(rows.map(own)).forEach((cells, index) => {
        text += cells;
        for (const part of parts) text += output.delimiter + part[index];
        text += output.eol;
      });
      return text;
    },
  };
}

/** Makes the text of a group of columns: one text for each row. */
type GroupTexts = (rows: readonly EnrichedRow[]) => string[];

const RECENT_BYTES = 4_194_304;

/**
 * Makers of the texts that are added to CSV rows: one for each lookup, one for the risk, one for the repairs.
 */
function addedTexts(
  columns: readonly TargetColumns[],
  output: OutputFormat,
  texts: CsvTexts,
  safe: (text: string) => string,
): GroupTexts[] {
  const groups: GroupTexts[] = columns.map((column, index) => resultTexts(column, index, texts, safe));
  if (output.risk.length > 0)
    groups.push(rows => texts(rows.map(({risk}) => (risk ? riskCells(risk, output.risk) : []))));
  if (output.repairs)
    groups.push(rows =>
      texts(rows.map(({repairs}) => [JSON.stringify(repairsByKey(repairs, columns)) ?? ''])),
    );
  return groups;
}

/** Makes the texts of one target's columns. Keeps recent texts, so that a repeated answer is formatted once. */
function resultTexts(
  column: TargetColumns,
  index: number,
  texts: CsvTexts,
  safe: (text: string) => string,
): GroupTexts {
  const all = columnsOf(column);
  const recent = new Recent<string>(RECENT_BYTES, (data, text) => data.length + text.length);
  return rows => {
    const results = rows.map(row => row.results[index] as Result);
    const known = results.map(result => (isPlain(result) ? recent.get(result.data) : undefined));
    const fresh = rows.filter((_, at) => known[at] === undefined);
    const made = texts(
      fresh.map(({results, answers}) => {
        const result = results[index] as Result;
        return resultCells(result, typedAnswer(result, answers[index], column), all, safe);
      }),
    );
    let next = 0;
    return results.map((result, at) => {
      const text = known[at] ?? (made[next++] as string);
      if (known[at] === undefined && isPlain(result)) recent.set(result.data, text);
      return text;
    });
  };
}

/** True if the result is an answer that is not stale: then the answer alone determines the cells. */
function isPlain(result: Result): result is Extract<Result, {status: 'ok'}> {
  return result.status === 'ok' && !('stale' in result);
}

function ownCells(row: TextRow, input: InputFormat, {flatten}: OutputFormat): readonly string[] {
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

function ndjsonEncoder(input: InputFormat, columns: readonly TargetColumns[], output: OutputFormat): Encoder {
  const names = output.flatten ? addedNames(columns, output) : [ENRICHMENT];
  const added = output.flatten ? flatAnswers(columns, names, output) : nestedAnswers(columns);
  const line = (row: EnrichedRow): string => splice(row.row, input, names, added(row)) + output.eol;
  return {head: output.bom ? '\uFEFF' : '', encode: rows => rows.map(line).join('')};
}

type AddedMembers = (row: EnrichedRow) => string;

function nestedAnswers(columns: readonly TargetColumns[]): AddedMembers {
  return ({results, repairs, risk}) => {
    const parts = columns.map((column, index) => {
      const result = resultJson(results[index] as Result, column, repairs?.[index]);
      return `${JSON.stringify(column.key)}:${result}`;
    });
    if (risk !== undefined) parts.push(`"risk":${JSON.stringify(risk)}`);
    return `"${ENRICHMENT}":{${parts.join(',')}}`;
  };
}

/**
 * Returns a function that writes a row's results as JSON members, named like the columns of CSV. A member is
 * null if its CSV cell would be empty.
 */
function flatAnswers(
  columns: readonly TargetColumns[],
  names: readonly string[],
  output: OutputFormat,
): AddedMembers {
  return ({results, repairs, risk}) => {
    const values = columns.flatMap((column, index): unknown[] => {
      const result = results[index] as Result;
      const answer = receivedAnswer(result);
      return columnsOf(column).map(one => one.of(result, answer) ?? null);
    });
    if (risk !== undefined) values.push(...output.risk.map(name => risk[name] ?? null));
    if (output.repairs) values.push(repairsByKey(repairs, columns) ?? null);
    return names
      .map((name, index) => `${JSON.stringify(name)}:${unmarkNumbers(JSON.stringify(values[index]))}`)
      .join(',');
  };
}

/** A result as JSON text. Its answer is as received, with unknown fields, unless `--fields` selects fields. */
function resultJson(result: Result, column: TargetColumns, repairs: readonly RepairCode[] = []): string {
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
function typedAnswer(result: Result, answer: unknown, {target}: TargetColumns): unknown {
  const text = textOf(result) ?? '';
  const marked = markNumbers(text);
  return marked === text ? answer : usedAnswer(target.operation, JSON.parse(marked));
}

/** A result's parsed answer, with all its fields. Numbers keep their spelling (exact-numbers.ts). */
function receivedAnswer(result: Result): unknown {
  const text = textOf(result);
  return text === undefined ? undefined : JSON.parse(markNumbers(text));
}

function textOf(result: Result): string | undefined {
  return 'data' in result ? result.data : undefined;
}

/** Adds members to a row's own text, which keeps its numbers, order and spelling. */
function splice(row: TextRow, input: InputFormat, names: readonly string[], members: string): string {
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
