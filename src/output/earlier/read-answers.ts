import {dropMistypedFields, isObject} from '../../client/answer-fields.ts';
import {createRowPlanner} from '../../columns/plan-row.ts';
import {createCellReader, type Target} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {FileRow} from '../../input/row.ts';
import {type FieldType, fieldTypes, getAtPath, signals} from '../../operations/fields.ts';
import type {Operation} from '../../operations/table.ts';
import {createListFacts, type ListFacts} from '../../score/list-facts.ts';
import type {Scorer} from '../../score/scorer.ts';
import type {LookupStatus, RowView} from '../../score/subjects.ts';
import {formulaSafe} from '../csv-line.ts';
import {type AnswerField, ENRICHMENT, setAtPath} from '../result-columns.ts';
import {type EnrichedFile, openEnrichedFile} from './enriched-file.ts';

/**
 * The lookups of an output.
 *
 * @throws {UsageError} if the names of a lookup's columns don't show its operation.
 */
export function readTargets({path, results, input, summary}: EnrichedFile): Target[] {
  return results.lookups.map(({operation, target: {prefix}}) => {
    if (operation === undefined)
      throw new UsageError(
        'unknown_operation',
        `${path}: the operation of the columns "${prefix}" is not clear. Run with all fields, or with a prefix that ends with the operation's, such as signup_ip_.`,
      );
    const {column = prefix.replace(/_$/, '')} =
      summary?.columns?.find(column => column.prefix === prefix) ?? {};
    return {operation, column, prefix, cell: createCellReader(column, input.columns)};
  });
}

/** An output's rows as rules see them, with the facts of the whole output. */
export interface RowViews {
  viewOf(row: FileRow, cells: readonly string[]): RowView;
  close(): void;
}

/** `reads`: the names that rules read. If there are facts of the whole output among them, all of its rows are read. */
export async function openRowViews(
  file: EnrichedFile,
  reads: Scorer['reads'],
  sameBy?: string,
): Promise<RowViews> {
  const facts = await countListFacts(file, reads, sameBy);
  const read = createRowReader(file);
  return {
    viewOf: (row, cells) => ({...read(row, cells), shared: facts?.of(row)}),
    close: () => facts?.close(),
  };
}

/** Undefined if rules read no facts of the list, or if the columns are not known, which the summary has. */
async function countListFacts(
  file: EnrichedFile,
  reads: Scorer['reads'],
  sameBy: string | undefined,
): Promise<ListFacts | undefined> {
  const targets = readTargets(file);
  const sample = file.source.sample.filter(record => record.type === 'csv' || record.type === 'ndjson');
  if (!targets.every(({cell}) => sample.some(row => cell(row) !== undefined))) return undefined;
  const planOf = (planned: readonly Target[]) => createRowPlanner(planned, {}, sample);
  const facts = createListFacts(reads, targets, planOf, file.input, sameBy);
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
function createRowReader({results, input, source, summary}: EnrichedFile) {
  const isPartial = results.lookups.some(({operation, fields}) => {
    if (operation === undefined) return false;
    const read = signals[operation].map(path => path.join('.'));
    const shown = fields.filter(({path}) => read.includes(path.join('.')));
    // Nested NDJSON has no columns: if each answer had a field, rows that lack it were written without it.
    const shares = results.isNested ? (summary?.fields?.[operation] ?? {}) : {};
    return shown.length === 0 || shown.some(({name}) => shares[name]?.present === 1);
  });
  const isEscaped = source.format.kind === 'csv';
  const lookups = results.lookups.map(lookup => {
    const puts = lookup.fields.map(field => createFieldReader(lookup.operation, field, isEscaped));
    return {...lookup, puts, fieldsAt: lookup.at + lookup.statusColumns.length};
  });
  return (row: FileRow, cells: readonly string[]): RowView => {
    const nested = results.isNested && row.type === 'ndjson' ? row.value[ENRICHMENT] : undefined;
    return {
      isPartial,
      row: row.type === 'csv' ? {...row, fields: row.fields.slice(0, input.columns.length)} : row,
      results: lookups.map(({at}) => statusOf(cells[at], cells[at + 1])),
      answers: lookups.map(({operation, key, at, puts, fieldsAt}) => {
        if (nested === undefined) return answerIn(cells.slice(fieldsAt), puts, cells[at] === 'ok');
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

function createFieldReader(
  operation: Operation | undefined,
  {path, kind}: AnswerField,
  isEscaped: boolean,
): PutField {
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
  puts: readonly PutField[],
  isAnswered: boolean,
): Record<string, unknown> | undefined {
  const answer: Record<string, unknown> = {};
  for (const [at, put] of puts.entries()) {
    const text = cells[at] ?? '';
    if (text !== '') put(text, answer);
  }
  return isAnswered || Object.keys(answer).length > 0 ? answer : undefined;
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
