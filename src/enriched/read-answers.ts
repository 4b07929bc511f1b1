import {isObject, usedAnswer} from '../client/answer-fields.ts';
import {UsageError} from '../errors.ts';
import type {TextRow} from '../input/row.ts';
import {cellReader, type Target} from '../lookup/targets.ts';
import {type Field, formulaSafe, valueAt} from '../output/columns.ts';
import {ENRICHMENT} from '../output/encoder.ts';
import type {LookupStatus, RowView} from '../score/subjects.ts';
import type {EnrichedFile} from './enriched-file.ts';

/** A row as its rules saw it. */
export type ReadRow = (row: TextRow, cells: readonly string[]) => RowView;

/** The lookups of an output. @throws {UsageError} where columns don't tell whose answers they have. */
export function targetsIn({path, results}: Pick<EnrichedFile, 'path' | 'results'>): Target[] {
  return results.lookups.map(({operation, target: {prefix}}) => {
    if (operation === undefined)
      throw new UsageError(
        'unknown_operation',
        `${path}: the columns of "${prefix}" don't tell which operation answered. Run with all fields, or with a prefix that ends with the operation's, such as signup_ip_.`,
      );
    return {operation, column: prefix, prefix, cell: cellReader(prefix, [])};
  });
}

/** Reads rows back with their answers, as rules read them when the output was written. */
export function rowReaderOf(file: EnrichedFile, targets: readonly Target[]): ReadRow {
  const {results, own, source} = file;
  const width = own.columns.length;
  const isEscaped = source.format.kind === 'csv';
  let at = 0;
  const places = results.lookups.map(({fields, marksStale, key}) => {
    const place = {status: at, error: at + 1, first: at + 2 + Number(marksStale), fields, key};
    at = place.first + fields.length;
    return place;
  });
  return (row, cells) => {
    const nested = results.isNested && row.type === 'ndjson' ? row.value[ENRICHMENT] : undefined;
    return {
      row: row.type === 'csv' ? {...row, fields: row.fields.slice(0, width)} : row,
      results: places.map(({status, error}) => statusOf(cells[status], cells[error])),
      answers: places.map(({first, fields, key, status}, index) => {
        const given =
          nested === undefined ? dataIn(cells, first, fields, isEscaped) : valueAt(nested, [key, 'data']);
        const isAnswer = isObject(given) && (cells[status] === 'ok' || Object.keys(given).length > 0);
        const operation = targets[index]?.operation;
        return isAnswer && operation !== undefined ? usedAnswer(operation, given) : undefined;
      }),
    };
  };
}

function statusOf(status = '', error = ''): LookupStatus {
  const known = {status: status as LookupStatus['status']};
  return error === '' ? known : {...known, error};
}

/** An answer of the fields that have a cell; an empty one is a field that the answer lacked. */
function dataIn(
  cells: readonly string[],
  first: number,
  fields: readonly Field[],
  isEscaped: boolean,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [index, {path, kind}] of fields.entries()) {
    const text = cells[first + index] ?? '';
    if (text === '') continue;
    let inner = data;
    for (const key of path.slice(0, -1)) {
      inner[key] ??= {};
      inner = inner[key] as Record<string, unknown>;
    }
    inner[path.at(-1) ?? ''] = kind === 'json' ? parsed(text) : isEscaped ? unescaped(text) : text;
  }
  return data;
}

function unescaped(text: string): string {
  return text.startsWith("'") && formulaSafe(text.slice(1)) === text ? text.slice(1) : text;
}

/** A cell's JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
