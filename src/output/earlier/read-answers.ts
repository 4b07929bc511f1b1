import {dropMistypedFields, isObject} from '../../client/answer-fields.ts';
import {createRowPlanner} from '../../columns/plan-row.ts';
import {createCellReader, type Target} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {FileRow} from '../../input/row.ts';
import {type FieldType, fieldTypes} from '../../operations/field-types.ts';
import {getAtPath, signals} from '../../operations/signals.ts';
import type {Operation} from '../../operations/table.ts';
import {createListFacts, type ListFacts} from '../../score/list-facts.ts';
import type {Scorer} from '../../score/scorer.ts';
import type {LookupStatus, RowView} from '../../score/subjects.ts';
import {type AnswerField, ENRICHMENT, setAtPath} from '../columns.ts';
import {formulaSafe} from '../csv-line.ts';
import {type EnrichedFile, openEnrichedFile} from './enriched-file.ts';

/** Reads a row's results and answers as rules see them. */
export type RowViewReader = (row: FileRow, cells: readonly string[]) => RowView;

/**
 * The lookups of an output.
 *
 * @throws {UsageError} if the names of a lookup's columns don't show its operation.
 */
export function readTargets({path, results, own, summary}: EnrichedFile): Target[] {
  return results.lookups.map(({operation, target: {prefix}}) => {
    if (operation === undefined)
      throw new UsageError(
        'unknown_operation',
        `${path}: the operation of the columns "${prefix}" is not clear. Run with all fields, or with a prefix that ends with the operation's, such as signup_ip_.`,
      );
    const {column = prefix.replace(/_$/, '')} = summary?.columns?.find(one => one.prefix === prefix) ?? {};
    return {operation, column, prefix, cell: createCellReader(column, own.columns)};
  });
}

/**
 * Counts the facts of a whole output that rules read; undefined if they read none, or if the columns are not known,
 * which the summary has.
 */
export async function readListFacts(
  file: EnrichedFile,
  reads: Scorer['reads'],
  sameBy?: string,
): Promise<ListFacts | undefined> {
  const targets = readTargets(file);
  const first = file.source.sample.filter(record => record.type === 'csv' || record.type === 'ndjson');
  if (!targets.every(({cell}) => first.some(row => cell(row) !== undefined))) return undefined;
  const planOf = (some: readonly Target[]) => createRowPlanner(some, {}, first);
  const facts = createListFacts(reads, targets, planOf, file.own, sameBy);
  if (facts === undefined) return undefined;
  const again = await openEnrichedFile(file.path);
  try {
    for await (const rows of again.batches()) for (const row of rows) facts.add(row);
    facts.count(() => true);
    return facts;
  } catch (error) {
    facts.close();
    throw error;
  } finally {
    await again.close();
  }
}

/** Makes a reader of an output's rows. Rules then see the same answers as in the run that wrote the output. */
export function createRowViewReader({results, own, source, summary}: EnrichedFile): RowViewReader {
  const isPartial = results.lookups.some(({operation, fields}) => {
    if (operation === undefined) return false;
    const read = signals[operation].map(path => path.join('.'));
    const shown = fields.filter(({path}) => read.includes(path.join('.')));
    // Nested NDJSON has no columns: if each answer had a field, rows that lack it were written without it.
    const shares = results.isNested ? (summary?.fields?.[operation] ?? {}) : {};
    return shown.length === 0 || shown.some(({name}) => shares[name]?.present === 1);
  });
  const width = own.columns.length;
  const isEscaped = source.format.kind === 'csv';
  let at = 0;
  const columns = results.lookups.map(({operation, fields, said, key}) => {
    const reads = fields.map(field => readerOf(operation, field, isEscaped));
    const column = {operation, status: at, error: at + 1, first: at + said.length, reads, key};
    at = column.first + fields.length;
    return column;
  });
  return (row, cells) => {
    const nested = results.isNested && row.type === 'ndjson' ? row.value[ENRICHMENT] : undefined;
    return {
      isPartial,
      row: row.type === 'csv' ? {...row, fields: row.fields.slice(0, width)} : row,
      results: columns.map(({status, error}) => statusOf(cells[status], cells[error])),
      answers: columns.map(({operation, first, reads, key, status}) => {
        if (nested === undefined) return answerIn(cells, first, reads, cells[status] === 'ok');
        const data = getAtPath(nested, [key, 'data']);
        return isObject(data) && operation !== undefined ? dropMistypedFields(operation, data) : undefined;
      }),
    };
  };
}

function statusOf(status = '', error = ''): LookupStatus {
  const known = {status: status as LookupStatus['status']};
  return error === '' ? known : {...known, error};
}

/** Reads a cell's text, and puts the value into its field of `answer`. */
type PutField = (text: string, answer: Record<string, unknown>) => void;

function readerOf(operation: Operation | undefined, {path, kind}: AnswerField, isEscaped: boolean): PutField {
  let type: FieldType | undefined = operation && fieldTypes[operation];
  for (const part of path) type = type instanceof Map ? type.get(part) : undefined;
  const read = type !== undefined && 'read' in type ? type.read : (text: string) => text;
  return (text, answer) => {
    const value = kind === 'json' ? parseJsonCell(text) : read(isEscaped ? unescaped(text) : text);
    setAtPath(answer, path, value);
  };
}

/** Rebuilds an answer from the cells of its fields. An empty cell means that the answer lacked the field. */
function answerIn(
  cells: readonly string[],
  first: number,
  reads: readonly PutField[],
  isAnswered: boolean,
): Record<string, unknown> | undefined {
  const answer: Record<string, unknown> = {};
  let isEmpty = true;
  for (const [at, put] of reads.entries()) {
    const text = cells[first + at] ?? '';
    if (text === '') continue;
    isEmpty = false;
    put(text, answer);
  }
  return isEmpty && !isAnswered ? undefined : answer;
}

function unescaped(text: string): string {
  return text.startsWith("'") && formulaSafe(text.slice(1)) === text ? text.slice(1) : text;
}

/** A cell's JSON; undefined if the text is not JSON. */
export function parseJsonCell(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
