import type {Intelligence} from '../../src/client/wire.ts';
import type {InputFormat} from '../../src/input/row.ts';
import type {Result} from '../../src/lookup/plan.ts';
import {targetsOf} from '../../src/lookup/targets.ts';
import {planColumns, type TargetColumns} from '../../src/output/columns.ts';
import type {OutputFormat} from '../../src/output/encoder.ts';

export function csvInput(columns: readonly string[], more: object = {}): InputFormat {
  return {kind: 'csv', delimiter: ',', eol: '\n', bom: false, header: columns, columns, ...more};
}

export function ndjsonInput(columns: readonly string[], more: object = {}): InputFormat {
  return {kind: 'ndjson', eol: '\n', bom: false, columns, ...more};
}

export function output(more: Partial<OutputFormat> = {}): OutputFormat {
  return {
    kind: 'csv',
    delimiter: ',',
    eol: '\n',
    bom: false,
    sepLine: false,
    escapeInput: false,
    escapeAnswers: true,
    ...more,
  };
}

/** The columns that looking up this column adds, cut down to these fields. */
export function looked(operation: Intelligence, column: string, fields?: readonly string[]): TargetColumns[] {
  return planColumns(targetsOf(operation, [{column}], [column]), fields);
}

export function ok(data: object): Result {
  return {status: 'ok', data: JSON.stringify(data)};
}
