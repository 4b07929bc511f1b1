import type {TextRow} from '../../input/row.ts';
import {csvWriter} from '../encoder.ts';
import type {EnrichedFile} from './enriched-file.ts';

/** Writes rows that were read from an output, in the format of that output. */
export interface RowTexts<One> {
  /** Text above the rows. */
  readonly head: string;
  encode(rows: readonly One[]): string;
}

/** How to write a row: as CSV fields under `header`, or as an NDJSON line. */
interface HowWritten<One> {
  readonly header: readonly string[];
  fieldsOf(one: One): readonly string[];
  lineOf(one: One): string;
}

export function rowTexts<One>(
  {source: {format}}: EnrichedFile,
  {header, fieldsOf, lineOf}: HowWritten<One>,
): RowTexts<One> {
  const ended = (texts: readonly string[]) => texts.map(text => text + format.eol).join('');
  if (format.kind === 'ndjson')
    return {head: format.bom ? '\uFEFF' : '', encode: rows => ended(rows.map(lineOf))};
  const {line, headOf} = csvWriter({...format, sepLine: format.sepLine === true});
  return {head: headOf([header]), encode: rows => ended(rows.map(one => line(fieldsOf(one))))};
}

/** The first `end` fields of a CSV row, or all without `end`; empty for NDJSON. */
export function fieldsIn(row: TextRow, end?: number): readonly string[] {
  return row.type === 'csv' ? row.fields.slice(0, end) : [];
}

/** An NDJSON row's line without blanks around it; empty for CSV. */
export function lineIn(row: TextRow): string {
  return row.type === 'ndjson' ? row.raw.trim() : '';
}
