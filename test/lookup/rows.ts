import type {CsvRow, NdjsonRow} from '../../src/input/row.ts';

/** The rows of a table, as a reader would hand them over. */
export function csvRows(...lines: (readonly string[])[]): CsvRow[] {
  return lines.map((fields, n) => csvRow(fields, n + 1));
}

export function csvRow(fields: readonly string[], record = 1): CsvRow {
  return {type: 'csv', record, line: record + 1, fields};
}

export function ndjsonRow(raw: string): NdjsonRow {
  return {type: 'ndjson', record: 1, line: 1, raw, value: JSON.parse(raw) as Record<string, unknown>};
}
