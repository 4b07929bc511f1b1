import type {AnswerData, Intelligence, Operation} from '../operations/table.ts';
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
