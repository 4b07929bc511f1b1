import {existsSync, readFileSync, statSync} from 'node:fs';
import {BulkEnrichError, UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {FileRow, InputFormat, InputRecord} from '../../input/row.ts';
import {openRecordSource, type RecordSource, type SourceSettings} from '../../input/source.ts';
import {sidePathsOfOutput} from '../../job/file-names.ts';
import {getAtPath} from '../../operations/signals.ts';
import type {Summary} from '../../report/summary.ts';
import {riskLevels, statusCodes} from '../../score/language/rule-variables.ts';
import {ENRICHMENT} from '../columns.ts';
import {findResultColumns, findResultMembers, type ResultColumns} from './result-columns.ts';

/** Maximum length in bytes of a row that is read back. It has room for a run's longest row and its answers. */
const MOST_BYTES = 2 ** 28;

/** An output of a run that is read back. */
export interface EnrichedFile extends ResultLayout {
  readonly path: string;
  /** The summary beside the file; undefined if it is missing or can't be parsed. */
  readonly summary: Summary | undefined;
  readonly source: RecordSource;
  /**
   * Delivers the rows, once.
   *
   * @throws {InputError} for an unreadable row. Runs write no such rows, so the file was changed or damaged.
   */
  batches(): AsyncGenerator<readonly FileRow[]>;
  close(): Promise<void>;
}

interface ResultLayout {
  /** Format of the output, but only with the columns that the run's input had. */
  readonly own: InputFormat;
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
  const settings = {header: true, encoding: 'utf-8', maxRecordSize: MOST_BYTES} as const;
  const source = await openRecordSource({...settings, ...formatBySummary(path, summary), paths: [path]});
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
    const settings = {header: true, encoding: 'utf-8', maxRecordSize: MOST_BYTES} as const;
    const source = await openRecordSource({...settings, paths: [path]});
    const found = layoutOf(source);
    await source.close();
    return found !== undefined;
  } catch (error) {
    if (error instanceof BulkEnrichError) return false;
    throw error;
  }
}

/**
 * True if the record's statuses and risk level are ones that runs write. Files of other tools may have
 * columns of the same names, but with other values. True for an unreadable record, too.
 */
function isWritten(record: InputRecord, {results, cellsOf}: ResultLayout): boolean {
  if (record.type !== 'csv' && record.type !== 'ndjson') return true;
  const cells = cellsOf(record);
  const said = (name: string) => cells[results.names.indexOf(name)] ?? '';
  return (
    results.lookups.every(({target}) => statusCodes.known.includes(said(`${target.prefix}status`))) &&
    ['', ...riskLevels].includes(said('risk_level'))
  );
}

function notOutput(path: string, why: string): UsageError {
  return new UsageError('not_output', `${path} is not an output of bulk-enrich: ${why}.`);
}

function summaryBeside(path: string): Summary | undefined {
  const {summary} = sidePathsOfOutput(path);
  if (!existsSync(summary)) return undefined;
  try {
    return JSON.parse(readFileSync(summary, 'utf8')) as Summary;
  } catch {
    return undefined;
  }
}

/** Time at which the file's run first started (ms since the epoch); NaN if unknown. Rules read it as `now`. */
export function readRunStart({summary}: EnrichedFile): number {
  return Date.parse(summary?.started_at ?? '');
}

/**
 * The format by the summary; empty if the file has another length. Its text then shows the format.
 *
 * @throws {InputError} if the file is shorter than its summary says: a file cut between two rows would look whole.
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
    const {own: width} = results;
    const [header, columns] = [format.header?.slice(0, width), format.columns.slice(0, width)];
    const cellsOf = (row: FileRow) => (row.type === 'csv' ? row.fields.slice(width) : []);
    return {own: {...format, header, columns}, results, cellsOf};
  }
  // Uses only the first row: there, the results come after the list's own members. In `format.columns`, own
  // members that only later rows have would come after the results.
  const [first] = sample;
  const members = first?.type === 'ndjson' ? first.value : {};
  const results = findResultMembers(members[ENRICHMENT]) ?? findResultColumns(Object.keys(members));
  if (results === undefined) return undefined;
  const paths = results.isNested ? nestedPaths(results) : results.names.map(name => [name]);
  const added = new Set(paths.map(([name]) => name));
  const columns = format.columns.filter(name => !added.has(name));
  const cellsOf = (row: FileRow) =>
    paths.map(path => textOf(row.type === 'ndjson' ? getAtPath(row.value, path) : undefined));
  return {own: {...format, columns}, results, cellsOf};
}

/** The paths of nested results in a row, in the order of their names. */
function nestedPaths({lookups, risk}: ResultColumns): string[][] {
  const ofLookups = lookups.flatMap(({key, said, fields}) => [
    ...said.map(({name}) => [key, name]),
    ...fields.map(({path}) => [key, 'data', ...path]),
  ]);
  return [...ofLookups, ...risk.map(name => ['risk', name])].map(path => [ENRICHMENT, ...path]);
}

/** A JSON value as the text of a CSV cell. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
