import type {TextRow} from '../../input/row.ts';
import {createCsvFormatter} from '../encoder.ts';
import type {EnrichedFile} from './enriched-file.ts';

/** How to write an output with other rows: as CSV fields under `header`, or as NDJSON lines. */
interface Rewriting<One> {
  readonly header: readonly string[];
  /** The rows to write for rows that were read. */
  rowsFor(rows: readonly TextRow[]): readonly One[];
  fieldsOf(one: One): readonly string[];
  lineOf(one: One): string;
}

/** Reads an output, and yields its text with other rows, in the same format. */
export async function* rewrittenTexts<One>(
  file: EnrichedFile,
  {header, rowsFor, fieldsOf, lineOf}: Rewriting<One>,
): AsyncGenerator<string> {
  const {format} = file.source;
  const csv =
    format.kind === 'csv' ? createCsvFormatter({...format, sepLine: format.sepLine === true}) : undefined;
  yield csv?.headOf([header]) ?? (format.bom ? '\uFEFF' : '');
  for await (const batch of file.batches()) {
    const rows = rowsFor(batch);
    const textOf = (one: One) => csv?.line(fieldsOf(one)) ?? lineOf(one);
    yield rows.map(one => textOf(one) + format.eol).join('');
  }
}

/** The first `end` fields of a CSV row, or all without `end`; empty for NDJSON. */
export function csvFields(row: TextRow, end?: number): readonly string[] {
  return row.type === 'csv' ? row.fields.slice(0, end) : [];
}

/** An NDJSON row's line without blanks around it; empty for CSV. */
export function ndjsonLine(row: TextRow): string {
  return row.type === 'ndjson' ? row.raw.trim() : '';
}
