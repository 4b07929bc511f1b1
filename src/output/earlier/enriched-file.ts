import {readFileSync, statSync} from 'node:fs';
import {isObject} from '../../client/answer-fields.ts';
import {BulkEnrichError, UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {FileRow, InputFormat, InputRecord} from '../../input/row.ts';
import {openRecordSource, type RecordSource, type SourceSettings} from '../../input/source.ts';
import {sidePathsOfOutput} from '../../job/file-names.ts';
import {getAtPath} from '../../operations/fields.ts';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import type {Summary} from '../../report/summary.ts';
import {riskLevels, statusCodes} from '../../score/language/rule-variables.ts';
import {
  addedNames,
  cellText,
  ENRICHMENT,
  fieldsOfOperation,
  listResultColumns,
  listStatusColumns,
  type PrefixedColumns,
  REPAIRS_COLUMN,
  type RiskColumn,
  riskColumns,
} from '../result-columns.ts';

/** How outputs are read back. A run's longest row may be longer with its answers than a row of a list. */
const READING = {header: true, encoding: 'utf-8', maxRecordSize: 2 ** 28} as const;

/** An output of a run that is read back. */
export interface EnrichedFile extends ResultLayout {
  readonly path: string;
  /** The summary beside the file; undefined if it is missing or can't be parsed. */
  readonly summary: Summary | undefined;
  readonly source: RecordSource;
  /** Delivers the rows, once. @throws {InputError} for an unreadable row: the file was changed or damaged. */
  batches(): AsyncGenerator<readonly FileRow[]>;
  close(): Promise<void>;
}

interface ResultLayout {
  /** Format of the output, but only with the columns that the run's input had. */
  readonly input: InputFormat;
  readonly results: ResultColumns;
  /** The results of a row as texts, in the order of the results' names. */
  cellsOf(row: FileRow): readonly string[];
}

/**
 * Opens an output of a run. The file may have been moved or renamed since.
 *
 * @throws {UsageError} if no run wrote it; {@link InputError} if it can't be read, or is cut off.
 */
export async function openEnrichedFile(path: string): Promise<EnrichedFile> {
  if (path === '-')
    throw new UsageError('no_file', "Outputs are read more than once, so stdin can't be one. Name a file.");
  const summary = summaryBeside(path);
  const source = await openRecordSource({...READING, ...formatBySummary(path, summary), paths: [path]});
  try {
    const layout = layoutOf(source);
    if (layout === undefined)
      throw notOutput(path, 'it does not end with columns of a run, such as ip_status and ip_error');
    if (!source.sample.every(record => isWritten(record, layout)))
      throw notOutput(path, "it has a status or level that runs don't write");
    return {
      ...layout,
      path,
      summary,
      source,
      batches: () => rowsOf(path, source),
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** True for an empty file, and for one whose header or first row has a run's columns. */
export async function isReplaceable(path: string): Promise<boolean> {
  if (statSync(path).size === 0) return true;
  try {
    const source = await openRecordSource({...READING, paths: [path]});
    await source.close();
    return layoutOf(source) !== undefined;
  } catch (error) {
    if (error instanceof BulkEnrichError) return false;
    throw error;
  }
}

/**
 * True if the record's statuses and risk level are ones that runs write: other tools' columns of the same names have other
 * values. True for an unreadable record, too.
 */
function isWritten(record: InputRecord, {results, cellsOf}: ResultLayout): boolean {
  if (record.type !== 'csv' && record.type !== 'ndjson') return true;
  const cells = cellsOf(record);
  const level = cells[results.names.indexOf('risk_level')] ?? '';
  const areStatuses = results.lookups.every(({at}) => statusCodes.known.includes(cells[at] ?? ''));
  return areStatuses && ['', ...riskLevels].includes(level);
}

function notOutput(path: string, why: string): UsageError {
  return new UsageError('not_output', `${path} is not an output of bulk-enrich: ${why}.`);
}

function summaryBeside(path: string): Summary | undefined {
  try {
    return JSON.parse(readFileSync(sidePathsOfOutput(path).summary, 'utf8')) as Summary;
  } catch {
    return undefined;
  }
}

/** Start of the file's run (ms since the epoch), which rules read as `now`; NaN if unknown. */
export function readRunStart({summary}: EnrichedFile): number {
  return Date.parse(summary?.started_at ?? '');
}

/**
 * The format by the summary; empty if the file is longer.
 *
 * @throws {InputError} if it is shorter: a file cut between two rows would look whole.
 */
function formatBySummary(path: string, summary: Summary | undefined): Partial<SourceSettings> {
  const {delimiter, bytes} = summary?.output ?? {};
  const size = statSync(path, {throwIfNoEntry: false})?.size;
  if (size !== undefined && typeof bytes === 'number' && size < bytes)
    throw new InputError(
      'input_corrupt',
      `${path} is cut off: it has ${size} of the ${bytes} bytes that its run wrote. Copy it again.`,
    );
  return typeof delimiter === 'string' && size === bytes ? {inputFormat: 'csv', delimiter} : {};
}

async function* rowsOf(path: string, source: RecordSource): AsyncGenerator<readonly FileRow[]> {
  for await (const records of source.batches()) yield records.map(record => demandRow(path, record));
}

function demandRow(path: string, record: InputRecord): FileRow {
  if (record.type === 'csv' || record.type === 'ndjson') return record;
  const why = record.type === 'reject' ? record.detail : 'it is an object';
  throw new InputError(
    'input_corrupt',
    `${path}:${record.line} can't be read (${why}): the file is cut off, or was changed since its run.`,
  );
}

function layoutOf({format, sample}: RecordSource): ResultLayout | undefined {
  if (format.kind === 'csv') {
    const results = format.header === undefined ? undefined : findResultColumns(format.columns);
    if (results === undefined) return undefined;
    const {inputWidth: width} = results;
    const [header, columns] = [format.header?.slice(0, width), format.columns.slice(0, width)];
    const cellsOf = (row: FileRow) => (row.type === 'csv' ? row.fields.slice(width) : []);
    return {input: {...format, header, columns}, results, cellsOf};
  }
  // In the first row, the results come last. In `format.columns`, members that only later rows have would follow them.
  const [first] = sample;
  const members = first?.type === 'ndjson' ? first.value : {};
  const results = findResultMembers(members[ENRICHMENT]) ?? findResultColumns(Object.keys(members));
  if (results === undefined) return undefined;
  const paths = results.isNested ? nestedPaths(results) : results.names.map(name => [name]);
  const added = new Set(paths.map(([name]) => name));
  const columns = format.columns.filter(name => !added.has(name));
  const cellsOf = (row: FileRow) =>
    paths.map(path => cellText(row.type === 'ndjson' ? getAtPath(row.value, path) : undefined));
  return {input: {...format, columns}, results, cellsOf};
}

/** The paths of nested results in a row, in the order of their names. */
function nestedPaths({lookups, risk}: ResultColumns): string[][] {
  const ofLookups = lookups.flatMap(({key, statusColumns, fields}) => [
    ...statusColumns.map(({name}) => [key, name]),
    ...fields.map(({path}) => [key, 'data', ...path]),
  ]);
  return [...ofLookups, ...risk.map(name => ['risk', name])].map(path => [ENRICHMENT, ...path]);
}

/** One lookup's columns in an output. */
export interface LookupColumns extends PrefixedColumns {
  /** Undefined if the columns fit several operations, or none. */
  readonly operation: Operation | undefined;
  /** Name of the lookup's member under `enrichment`, if answers are nested. */
  readonly key: string;
  /** Index of the first column, the status, among the results. The error is next. */
  readonly at: number;
}

/** Columns that a run added to its rows. */
interface ResultColumns {
  /** Number of the input's own columns, which come first. */
  readonly inputWidth: number;
  readonly lookups: readonly LookupColumns[];
  readonly risk: readonly RiskColumn[];
  readonly repairs: boolean;
  /** True if one member of a row, `enrichment`, holds all results. */
  readonly isNested: boolean;
  /** The columns' names in CSV, in the order in which a row has them. */
  readonly names: readonly string[];
  /** Index of the first column of the risk, or of the first one that would follow. */
  readonly riskAt: number;
}

/** A lookup whose place among the results is still to be found. */
type FoundLookup = Omit<LookupColumns, 'at'>;

function resultColumns(
  found: readonly FoundLookup[],
  others: Pick<ResultColumns, 'inputWidth' | 'risk' | 'repairs' | 'isNested'>,
): ResultColumns {
  let riskAt = 0;
  const lookups = found.map(lookup => {
    const at = riskAt;
    riskAt += listResultColumns(lookup).length;
    return {...lookup, at};
  });
  return {...others, lookups, names: addedNames(lookups, others), riskAt};
}

/** Finds the columns that a run added at the end of a header; undefined if there are none. */
function findResultColumns(names: readonly string[]): ResultColumns | undefined {
  for (const inputWidth of names.keys()) {
    const results = resultsFrom(names, inputWidth);
    if (results !== undefined) return results;
  }
  return undefined;
}

/** Reads all names from index `inputWidth` on as result columns; undefined if one of them names no result column. */
function resultsFrom(names: readonly string[], inputWidth: number): ResultColumns | undefined {
  const lookups: FoundLookup[] = [];
  let at = inputWidth;
  for (let lookup = lookupAt(names, at); lookup !== undefined; lookup = lookupAt(names, at)) {
    lookups.push(lookup);
    at += listResultColumns(lookup).length;
  }
  const risk = riskColumns.filter(name => names[at] === `risk_${name}` && ++at > 0);
  const repairs = names[at] === REPAIRS_COLUMN;
  const isAll = lookups.length > 0 && at + Number(repairs) === names.length;
  return isAll ? resultColumns(lookups, {inputWidth, risk, repairs, isNested: false}) : undefined;
}

function lookupAt(names: readonly string[], at: number): FoundLookup | undefined {
  const name = names[at] ?? '';
  const prefix = name.slice(0, -'status'.length);
  if (name !== `${prefix}status` || names[at + 1] !== `${prefix}error`) return undefined;
  const statusColumns = listStatusColumns(names[at + 2] === `${prefix}stale`);
  const from = at + statusColumns.length;
  const candidates = operationNames.map(operation => {
    let next = from;
    const fields = fieldsOfOperation(operation).filter(
      field => names[next] === prefix + field.name && ++next > 0,
    );
    return {operation, fields};
  });
  const most = Math.max(...candidates.map(({fields}) => fields.length));
  const fitting = candidates.filter(({fields}) => fields.length === most);
  const operation = operationOf(
    fitting.map(candidate => candidate.operation),
    prefix,
  );
  const fields =
    fitting.find(candidate => operation === undefined || candidate.operation === operation)?.fields ?? [];
  return {operation, target: {prefix}, key: prefix.replace(/_$/, ''), statusColumns, fields};
}

/** The only fitting operation; of several, the one that the prefix names, such as `ip_` or `signup_ip_`. */
function operationOf(fitting: readonly Operation[], prefix: string): Operation | undefined {
  const named = fitting.filter(name => `_${prefix}`.endsWith(`_${operations[name].prefix}`));
  return fitting.length === 1 ? fitting[0] : named[0];
}

/** The result columns in an NDJSON row's `enrichment` member; undefined if that member is something else. */
function findResultMembers(enrichment: unknown): ResultColumns | undefined {
  if (!isObject(enrichment)) return undefined;
  const {risk: judged, ...members} = enrichment;
  const lookups = Object.entries(members).map(([key, member]): FoundLookup | undefined => {
    if (!isObject(member) || !('status' in member)) return undefined;
    const operation = operationNames.find(name => name === key) ?? operationOf(operationNames, `${key}_`);
    const prefix = operation === key ? operations[operation].prefix : `${key}_`;
    const fields = operation === undefined ? [] : fieldsOfOperation(operation);
    return {operation, target: {prefix}, key, statusColumns: listStatusColumns('stale' in member), fields};
  });
  const known = lookups.filter(lookup => lookup !== undefined);
  if (known.length === 0 || known.length < lookups.length) return undefined;
  const risk = riskColumns.filter(name => name in Object(judged));
  return resultColumns(known, {inputWidth: 0, risk, repairs: false, isNested: true});
}
