import type {RepairCode} from '../operations/cell.ts';
import type {AnswerData, Intelligence, Operation} from '../operations/table.ts';
import type {Risk} from '../score/risk.ts';
import type {EnrichSettings} from './enrich-settings.ts';

/** Result of one lookup; `error` is a stable code. */
export type LookupResult<Data = Readonly<Record<string, unknown>>> = StatusAndData<Data> & {
  /**
   * True if the answer has expired and was used because no call was possible. Null without an answer. Only with
   * the setting `stale`.
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

/**
 * Lookups that the settings certainly name. {@link Perhaps}: those that they may name, as the setting
 * may be undefined.
 */
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
