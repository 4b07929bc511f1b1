import {UsageError} from '../errors.ts';
import type {Row} from '../input/row.ts';
import type {ColumnChoice} from '../job/setting-types.ts';
import {nestsTooDeep} from '../job/yaml.ts';
import {getAtPath, hasKey} from '../operations/fields.ts';
import {type Operation, operations} from '../operations/table.ts';
import {didYouMean, shellWord} from '../sentence.ts';

/** Reads a column's cell in a row as text; undefined if the row has no such cell. */
export type CellReader = (row: Row) => string | undefined;

export interface Target {
  readonly operation: Operation;
  readonly column: string;
  /** Prefix of the target's output columns, such as `ip_`. */
  readonly prefix: string;
  readonly when?: string | undefined;
  readonly cell: CellReader;
}

/** A target's name in rules and NDJSON output: its operation; its prefix if several targets share the operation. */
export function targetKey(targets: readonly Target[], index: number): string {
  const target = targets[index];
  if (target === undefined) return '';
  const several = targets.filter(({operation}) => operation === target.operation).length > 1;
  return several ? target.prefix.replace(/_$/, '') : target.operation;
}

/** Makes the reader of a column: by position in CSV, by key or dotted path in NDJSON. */
export function createCellReader(
  name: string,
  columns: readonly string[],
  index = columns.indexOf(name),
): CellReader {
  const path = name.split('.');
  return row => {
    if (row.type === 'csv') return row.fields[index];
    return textOf(hasKey(row.value, name) ? row.value[name] : getAtPath(row.value, path));
  };
}

/** True if an object has this column. Undefined if nothing on its dotted path could have it, as in `{user: null}`. */
export function objectHasColumn(value: object, name: string): boolean | undefined {
  try {
    let inner: unknown = value;
    for (const key of hasKey(value, name) ? [] : name.split('.')) {
      if (typeof inner !== 'object' || inner === null) return undefined;
      if (!hasKey(inner, key)) return false;
      inner = (inner as Record<string, unknown>)[key];
    }
    return true;
  } catch {
    // A getter threw. The run reports it once it takes the row.
    return undefined;
  }
}

/** Replace a value without a usable text. Their spaces make them invalid for every operation. */
const NESTED_TOO_DEEP = 'nested too deep';
const NO_TEXT = 'has no text';

/** The text in MongoDB's typed object, such as `{"$numberLong": "12025550143"}`; undefined for any other value. */
export function readMongoValue(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (others.length > 0 || name?.startsWith('$') !== true) return undefined;
  const inner = (value as Record<string, unknown>)[name];
  return typeof inner === 'string' || typeof inner === 'number' ? String(inner) : undefined;
}

/** The text of a value; undefined for null. A list of texts becomes a cell with several; others become JSON. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  const typed = readMongoValue(value);
  if (typed !== undefined) return typed;
  if (Array.isArray(value) && value.every(member => typeof member === 'string')) return value.join(', ');
  if (nestsTooDeep(value)) return NESTED_TOO_DEEP;
  try {
    return JSON.stringify(value) ?? NO_TEXT;
  } catch {
    return NO_TEXT;
  }
}

/** One operation's targets. A single one has the prefix `ip_`, several have their columns' names. */
export function makeTargets(
  operation: Operation,
  choices: readonly ColumnChoice[],
  columns: readonly string[],
): Target[] {
  return choices.map(({column, prefix, when}) => ({
    operation,
    column,
    prefix: prefix ?? (choices.length > 1 ? `${column}_` : operations[operation].prefix),
    when,
    cell: createCellReader(column, columns),
  }));
}

/** The names of columns for a message, which shows no value of a list that has no header: `name, column 2`. */
export function listNames(columns: readonly string[]): string {
  return columns.map((name, at) => (/@|(?:\d\D?){4}/.test(name) ? `column ${at + 1}` : name)).join(', ');
}

/** @throws {UsageError} if a CSV input lacks the column. Does not check NDJSON: later rows may have other keys. */
export function requireColumn(
  name: string,
  columns: readonly string[],
  kind: 'csv' | 'ndjson',
  setting: string,
): void {
  if (kind === 'ndjson' || columns.includes(name)) return;
  // `a=b` means column `a`, prefix `b`.
  const withPrefix = columns.find(column => column.startsWith(`${name}=`));
  const hint =
    withPrefix === undefined
      ? didYouMean(name, columns)
      : ` If you mean "${withPrefix}", add a prefix: ${shellWord(`${withPrefix}=PREFIX_`)}.`;
  throw new UsageError(
    'unknown_column',
    `${setting}: there is no column "${name}" (columns: ${listNames(columns)}).${hint}`,
  );
}

/** Returns a warning if some row of an NDJSON sample has a field both as a key, `user.ip`, and as a path to it. */
export function twoFieldsWarning(name: string, rows: readonly Row[]): string | undefined {
  const isTwice = (row: Row) =>
    row.type === 'ndjson' && hasKey(row.value, name) && getAtPath(row.value, name.split('.')) !== undefined;
  const row = name.includes('.') ? rows.find(isTwice) : undefined;
  return (
    row &&
    `"${name}" is the key of that name, and not the field of the nested object, which row ${row.record} has too.`
  );
}

/** Returns a warning if no row of an NDJSON sample has the column; undefined if a row has it. */
export function missingColumnWarning(
  name: string,
  columns: readonly string[],
  rows: readonly Row[],
  setting: string,
): string | undefined {
  const cell = createCellReader(name, columns);
  if (rows.length === 0 || rows.some(row => row.type === 'csv' || cell(row) !== undefined)) return undefined;
  return describeMissingColumn(name, columns, setting);
}

export function describeMissingColumn(name: string, columns: readonly string[], setting: string): string {
  return `${setting}: the first rows have nothing in "${name}".${didYouMean(name, columns)}`;
}
