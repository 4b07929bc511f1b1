import {isObject} from '../client/answer-fields.ts';
import {UsageError} from '../errors.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import type {RepairCode} from '../operations/cell.ts';
import type {AnswerData, Intelligence, Operation} from '../operations/table.ts';
import {ENRICHMENT, pickFields, type TargetColumns} from '../output/result-columns.ts';
import type {EnrichedObject} from '../run/io.ts';
import type {Layout} from '../run/layout/layout.ts';
import type {Risk} from '../score/scorer.ts';
import type {RunSettings} from './job-input.ts';

/** A key of the rows, which may be of several types; any text if their keys are unknown. */
type RowKey<Row> =
  // By itself, so that a function that is generic over its rows may name a key of them.
  | (keyof Row & string)
  | ([keyof Row] extends [never] ? string : Row extends unknown ? keyof Row & string : never);

/** A column: a key of the rows, or a path that begins with a key. */
type ColumnName<Row> = RowKey<Row> | `${RowKey<Row>}.${string}`;

/** A column to look up: alone, or with the prefix of its answers and the condition of its lookups. */
type LookedUp<Row> =
  | ColumnName<Row>
  | `${RowKey<Row>}=${string}`
  | {readonly column: ColumnName<Row>; readonly prefix?: string; readonly when?: string};

/** Dotted names of an answer's fields. */
type PathOf<Data> = {
  [Name in keyof Data & string]: NonNullable<Data[Name]> extends readonly unknown[]
    ? Name
    : NonNullable<Data[Name]> extends object
      ? `${Name}.${PathOf<NonNullable<Data[Name]>>}`
      : Name;
}[keyof Data & string];

type FieldName =
  | {[Name in Operation]: PathOf<AnswerData<Name>> | `${Name}.${PathOf<AnswerData<Name>>}`}[Operation]
  | `risk.${'score' | 'level' | 'reasons' | 'points' | 'missing' | 'shared'}`;

type OneOrMore<T> = T | readonly T[];

/** The column of session tokens, alone or with the columns whose values are sent with a token. */
type VerdictColumns<Row> =
  | ColumnName<Row>
  | {
      readonly [Name in keyof GivenVerdict]: Name extends 'action'
        ? GivenVerdict[Name]
        : ColumnName<Row> | undefined;
    };
type GivenVerdict = Extract<RunSettings['verdict'], object>;

/** Settings of a run that takes rows from the program and gives them back: columns are keys of the rows. */
export type EnrichSettings<Row = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof RunSettings]: Name extends Intelligence
    ? OneOrMore<LookedUp<Row>> | undefined
    : Name extends 'country'
      ? OneOrMore<ColumnName<Row>> | undefined
      : Name extends 'verdict'
        ? VerdictColumns<Row> | undefined
        : Name extends 'fields'
          ? OneOrMore<FieldName> | undefined
          : RunSettings[Name];
};

/** The type that a compile error names at a setting that does not exist. */
interface NoSuchSetting<Name> {
  readonly name: Name;
}

/** Makes an unknown setting a compile error. */
export type OnlyKnown<S, Settings> = S & {
  readonly [Name in Exclude<keyof S, keyof Settings>]: NoSuchSetting<Name>;
};

/** Result of one lookup; `error` is a stable code. */
export type LookupResult<Data = Readonly<Record<string, unknown>>> = StatusAndData<Data> & {
  /**
   * True if an expired answer was used, as no call was possible. Null without an answer. Only with the setting
   * `stale`.
   */
  readonly stale?: boolean | null;
  /** Repairs of the cell before its lookup. Missing if there were none. */
  readonly repairs?: readonly RepairCode[];
};

type StatusAndData<Data> =
  | {
      readonly status: 'ok';
      readonly error: null;
      readonly data: Readonly<Data>;
    }
  | {readonly status: 'empty'; readonly error: null; readonly data: null}
  | {readonly status: 'invalid' | 'skipped'; readonly error: string; readonly data: null}
  | {readonly status: 'failed' | 'unknown'; readonly error: string; readonly data: Readonly<Data> | null};

/** The reason why a row was not looked up. Each of its lookups is `skipped`, with the code `rejected`. */
export interface RejectedRow {
  /** The row's index among the given rows, from 0. */
  readonly index: number;
  readonly reason: 'not_an_object' | 'too_large';
  readonly detail: string;
}

/** The setting that names an operation's columns. */
type SettingOf<Name extends Operation> = Name extends Intelligence ? Name : 'verdict';

/** Key of a lookup: its operation, or its column or prefix if several columns share the operation. */
type KeysOf<Columns, Name> = Columns extends readonly [unknown, unknown, ...unknown[]]
  ? ColumnKey<Columns[number]>
  : Name;
type ColumnKey<Column> = Column extends {readonly prefix: infer Prefix}
  ? WithoutEnd<Prefix>
  : Column extends {readonly column: infer Named}
    ? Named
    : Column extends `${string}=${infer Prefix}`
      ? WithoutEnd<Prefix>
      : Column;
type WithoutEnd<Prefix> = Prefix extends `${infer Key}_` ? Key : Prefix;

/** Lookups that the settings certainly name. {@link Perhaps}: those whose setting may be undefined. */
type NamedAnswers<S> = {
  readonly [Name in Operation as SettingOf<Name> extends infer K extends keyof S
    ? undefined extends S[K]
      ? never
      : KeysOf<S[K], Name> & string
    : never]: LookupResult<AnswerData<Name>>;
};
type Perhaps<S> = {
  readonly [Name in Operation as SettingOf<Name> extends infer K extends keyof S
    ? undefined extends S[K]
      ? Name
      : never
    : never]?: LookupResult<AnswerData<Name>>;
};

/** Lookups if the settings name no columns: the run then finds the columns in the rows. */
type Found = {readonly [Name in Intelligence]?: LookupResult<AnswerData<Name>>};

type RowLookups<S> = keyof (NamedAnswers<S> & Perhaps<S>) extends never
  ? Found
  : NamedAnswers<S> & Perhaps<S>;

type Scored<S> = S extends {readonly score: infer Score}
  ? Score extends 'none'
    ? unknown
    : string extends Score
      ? {readonly risk?: Risk}
      : {readonly risk: Risk}
  : 'score' extends keyof S
    ? {readonly risk?: Risk}
    : {readonly risk: Risk};

/** Results of a row, by operation or column, as these settings request them. */
export type Enrichment<S = EnrichSettings> = RowLookups<S> & Scored<S> & {readonly rejected?: RejectedRow};

/** A row with its answers and risk. */
export type Enriched<Row, S = EnrichSettings> = Row & {readonly enrichment: Enrichment<S>};

/** Marks results that a run put on a row. A later run may replace them, but not a row's own `enrichment`. */
const OURS = Symbol('bulk-enrich');

/** @throws {UsageError} if the row has an `enrichment` of its own. Called before the lookups of the row. */
export function refuseOwnEnrichment(given: unknown, index: number): void {
  if (typeof given !== 'object' || given === null || !(ENRICHMENT in given)) return;
  const {enrichment} = given;
  if (typeof enrichment === 'object' && enrichment !== null && OURS in enrichment) return;
  throw new UsageError(
    'column_clash',
    `The row at index ${index} has a property "${ENRICHMENT}" of its own, and answers need that name. Rename it. Nothing of that row was looked up.`,
  );
}

/**
 * Adds `enrichment` to the caller's own row, and returns it: of a row that takes no more properties a copy, of an entry
 * that is not an object a new one.
 */
export function attachResults(row: EnrichedObject, layout: Layout): object {
  const isReject = 'type' in row;
  const given = isReject ? row.given : row.row.value;
  const enrichment = isReject ? ofReject(row, layout) : ofRow(row, layout);
  Object.defineProperty(enrichment, OURS, {value: true});
  const property = {value: enrichment, enumerable: true, configurable: true, writable: true};
  const target = isObject(given) ? given : {};
  if (Reflect.defineProperty(target, ENRICHMENT, property)) return target;
  return Object.defineProperty(copyOf(target), ENRICHMENT, property);
}

function ofRow(
  {results, repairs, answers, risk}: Exclude<EnrichedObject, {type: 'reject'}>,
  {columns}: Layout,
): object {
  const lookups = columns.map((column, index) => {
    const answer = answers[index];
    const data = column.whole || answer === undefined ? answer : pickFields(answer, column.fields);
    const repaired = repairs?.[index]?.length ? {repairs: repairs[index]} : {};
    return [column.key, {...lookupResult(results[index] as CellResult, data, column), ...repaired}] as const;
  });
  return {...Object.fromEntries(lookups), ...(risk === undefined ? {} : {risk})};
}

function ofReject(
  {record, reason, detail}: Extract<EnrichedObject, {type: 'reject'}>,
  {columns, scorer}: Layout,
): object {
  const keys = columns.map(({key}) => key);
  const skipped: LookupResult = {status: 'skipped', error: 'rejected', data: null};
  const risk: Risk = {score: null, level: 'unknown', reasons: [], points: {}, missing: keys};
  const rejected = {index: record - 1, reason, detail} as RejectedRow;
  return {
    ...Object.fromEntries(keys.map(key => [key, skipped])),
    ...(scorer === undefined ? {} : {risk}),
    rejected,
  };
}

function lookupResult(result: CellResult, data: unknown, {statusColumns}: TargetColumns): LookupResult {
  const members = statusColumns.map(column => [column.name, column.of(result, data)]);
  return {...Object.fromEntries(members), data: data ?? null};
}

function copyOf(row: object): object {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(row));
  const open = descriptors.map(([name, property]) => [name, {...property, configurable: true}] as const);
  return Object.create(Object.getPrototypeOf(row), Object.fromEntries(open));
}
