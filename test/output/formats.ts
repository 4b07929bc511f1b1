import {makeTargets} from '../../src/columns/targets.ts';
import type {FileRow, InputFormat} from '../../src/input/row.ts';
import type {CellResult} from '../../src/ledger/lookup-outcome.ts';
import type {Intelligence} from '../../src/operations/table.ts';
import type {EnrichedRow, OutputFormat} from '../../src/output/encoder.ts';
import {planColumns, type TargetColumns} from '../../src/output/result-columns.ts';
import type {Risk} from '../../src/score/scorer.ts';

export function csvInput(columns: readonly string[], more: object = {}): InputFormat {
  const read = {kind: 'csv', delimiter: ',', eol: '\n', bom: false, encoding: 'utf-8'} as const;
  return {...read, header: columns, columns, ...more};
}

export function ndjsonInput(columns: readonly string[], more: object = {}): InputFormat {
  return {kind: 'ndjson', eol: '\n', bom: false, encoding: 'utf-8', columns, ...more};
}

export function output(more: Partial<OutputFormat> = {}): OutputFormat {
  const written = {kind: 'csv', delimiter: ',', eol: '\n', bom: false, sepLine: false} as const;
  const added = {escapeInput: false, escapeAnswers: true, risk: [], repairs: false, flatten: false};
  return {...written, ...added, ...more};
}

/** The columns that looking up this column adds, cut down to these fields. */
export function looked(operation: Intelligence, column: string, fields?: readonly string[]): TargetColumns[] {
  return planColumns(makeTargets(operation, [{column}], [column]), fields);
}

export function ok(data: object): CellResult {
  return {status: 'ok', data: JSON.stringify(data), boughtAt: 0};
}

/** A row as it comes to the encoder. */
export function enriched(row: FileRow, results: readonly CellResult[], risk?: Risk): EnrichedRow {
  return {row, results, answers: results.map(answerOf), risk, outcomes: undefined, repairs: undefined};
}

/** A result's parsed answer. */
function answerOf(result: CellResult): unknown {
  return 'data' in result && result.data !== undefined ? JSON.parse(result.data) : undefined;
}
