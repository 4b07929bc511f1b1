import {z} from 'zod';
import {markedNumber, unmarkNumbers} from '../client/answer-fields.ts';
import {type Target, targetKey} from '../columns/targets.ts';
import {UsageError} from '../errors.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import type {RepairCode} from '../operations/cell.ts';
import {getAtPath} from '../operations/fields.ts';
import {type Operation, operations} from '../operations/table.ts';
import type {Risk} from '../score/scorer.ts';
import {closestName, say, sayFlags, setting} from '../sentence.ts';

/** Name of the member of an NDJSON row, or of a program's row, that holds all results. */
export const ENRICHMENT = 'enrichment';

/** One column of a lookup's results, in all formats. */
export interface LookupResultColumn {
  /** The name after the target's prefix. A field's path is joined by `_`: `device.os` is `device_os`. */
  readonly name: string;
  readonly kind: 'scalar' | 'flag' | 'json';
  /** The column's value for a result and its parsed answer, `data`; null or undefined without a value. */
  readonly of: (result: CellResult, data: unknown) => unknown;
}

/** One field of an operation's answer as a column. The field `verdict.can_pass` is the column `can_pass`. */
export interface AnswerField extends LookupResultColumn {
  readonly path: readonly string[];
}

/** Columns that every result has. They come before the columns of the answer's fields. */
const STATUS: readonly LookupResultColumn[] = [
  {name: 'status', kind: 'scalar', of: result => result.status},
  {name: 'error', kind: 'scalar', of: result => ('error' in result ? result.error : null)},
  // True if the answer exceeds its maximum age; null without an answer.
  {
    name: 'stale',
    kind: 'flag',
    of: result => 'stale' in result || (result.status === 'ok' ? false : null),
  },
];

/** The columns before the answer's fields. `marksStale`: true to include the column `stale`. */
export function listStatusColumns(marksStale: boolean): readonly LookupResultColumn[] {
  return STATUS.filter(({name}) => marksStale || name !== 'stale');
}

/** The fields of an operation's answer, in the order of the interface's tables. */
export function fieldsOfOperation(operation: Operation): AnswerField[] {
  return flatten(operations[operation].data, []);
}

function flatten(schema: z.ZodObject, path: readonly string[]): AnswerField[] {
  return Object.entries(schema.shape).flatMap(([name, optional]): AnswerField[] => {
    const inner = (optional as z.ZodOptional<z.ZodType>).unwrap();
    const inside = [...path, name];
    if (inner instanceof z.ZodObject) return flatten(inner, inside);
    // The whole answer is a verdict, so the columns of the two flags in `verdict` omit that word: `can_pass`.
    const named = inside[0] === 'verdict' ? inside.slice(1) : inside;
    const of: AnswerField['of'] = (_, data) => getAtPath(data, inside);
    return [{name: named.join('_'), path: inside, kind: kindOf(inner), of}];
  });
}

function kindOf(schema: z.ZodType): AnswerField['kind'] {
  if (schema instanceof z.ZodArray) return 'json';
  return schema instanceof z.ZodBoolean ? 'flag' : 'scalar';
}

/** The columns that one target adds. The target's prefix and a column's own name make its full name. */
export interface PrefixedColumns {
  readonly target: {readonly prefix: string};
  /** The target's columns that come before the answer's fields: status, error and, in some runs, stale. */
  readonly statusColumns: readonly LookupResultColumn[];
  readonly fields: readonly AnswerField[];
}

/** Columns that one target adds to the output. */
export interface TargetColumns extends PrefixedColumns {
  readonly target: Target;
  /** All fields that the answer may have, selected or not. */
  readonly answerFields: readonly AnswerField[];
  /** True if all fields are written, including unknown ones. */
  readonly whole: boolean;
  /** The target's key under `enrichment` in NDJSON. */
  readonly key: string;
}

export function listResultColumns({statusColumns, fields}: PrefixedColumns): readonly LookupResultColumn[] {
  return [...statusColumns, ...fields];
}

/**
 * The columns that each target adds to the output. `only`: the names in `--fields`, such as `ip.country` or `country`.
 *
 * @throws {UsageError} if one of these names is not a field.
 */
export function planColumns(
  targets: readonly Target[],
  only: readonly string[] | undefined,
  marksStale = false,
): TargetColumns[] {
  const chosen = only === undefined ? undefined : new Set(only);
  const unused = new Set(only?.filter(name => !OTHERS.includes(name)));
  const statusColumns = listStatusColumns(marksStale);
  const planned = targets.map((target, index) => {
    const answerFields = fieldsOfOperation(target.operation);
    const fields = answerFields.filter(({name, path}) => {
      const names = [name, path.join('.')].flatMap(own => [own, `${target.operation}.${own}`]);
      for (const written of names) unused.delete(written);
      return chosen === undefined || names.some(written => chosen.has(written));
    });
    return {
      target,
      statusColumns,
      fields,
      answerFields,
      whole: chosen === undefined,
      key: targetKey(targets, index),
    };
  });
  const [unknown] = unused;
  if (unknown !== undefined) throw unknownField(unknown, targets);
  return planned;
}

function unknownField(name: string, targets: readonly Target[]): UsageError {
  const asked = [...new Set(targets.map(target => target.operation))];
  const fields = asked.flatMap(operation =>
    fieldsOfOperation(operation).map(field => `${operation}.${field.name}`),
  );
  const known = [...fields, ...OTHERS];
  const short = fields.map(field => field.slice(field.indexOf('.') + 1));
  const near = closestName(name, known) ?? closestName(name, short);
  const hint = near === undefined ? `Known fields: ${known.join(', ')}.` : `Did you mean "${near}"?`;
  return new UsageError('unknown_field', say`${setting('fields')}: no answer has a field "${name}". ${hint}`);
}

/** Names of all added columns, in order: lookups, risk score, repairs. */
export function addedNames(
  columns: readonly PrefixedColumns[],
  {risk, repairs}: {readonly risk: readonly RiskColumn[]; readonly repairs: boolean},
): string[] {
  const lookups = columns.flatMap(column =>
    listResultColumns(column).map(({name}) => column.target.prefix + name),
  );
  return [...lookups, ...risk.map(name => `risk_${name}`), ...(repairs ? [REPAIRS_COLUMN] : [])];
}

/** The last column, which has the repairs of the row's cells. `--fields` accepts this name too. */
export const REPAIRS_COLUMN = 'input_repairs';

/** Repairs by the key of their lookup: `{"phone":["decimal_zero"]}`; undefined if no cell was repaired. */
export function repairsByKey(
  repairs: readonly (readonly RepairCode[])[] | undefined,
  columns: readonly TargetColumns[],
): Readonly<Record<string, readonly RepairCode[]>> | undefined {
  if (repairs === undefined) return undefined;
  const entries = columns.map(({key}, index) => [key, repairs[index] ?? []] as const);
  return Object.fromEntries(entries.filter(([, codes]) => codes.length > 0));
}

/** Parts of the risk with their own columns, `risk_…`. */
export const riskColumns = ['score', 'level', 'reasons', 'points', 'missing', 'shared'] as const;
export type RiskColumn = (typeof riskColumns)[number];
/** Names of `--fields` that are not of an answer. */
const OTHERS: readonly string[] = [REPAIRS_COLUMN, ...riskColumns.map(name => `risk.${name}`)];
const ALWAYS: readonly RiskColumn[] = ['score', 'level', 'reasons'];

/** Columns of the risk. `only`: the names of `--fields`; without it, all columns but `shared`. */
export function planRiskColumns(only: readonly string[] | undefined): RiskColumn[] {
  const isNamed = (name: RiskColumn) => only?.includes(`risk.${name}`) ?? name !== 'shared';
  return riskColumns.filter(name => ALWAYS.includes(name) || isNamed(name));
}

export function riskCells(risk: Risk, columns: readonly RiskColumn[]): string[] {
  return columns.map(name => cellText(risk[name]));
}

/** A JSON value as the text of a CSV cell. */
export function cellText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}

const RUN_ITS_LIST =
  'To renew its answers, run the list that it was made from; answers that are stored cost nothing. To judge its rows by other rules, use bulk-enrich score.';

/**
 * Refuses a column that would be in the output twice. `countries`: the country columns, if all columns were guessed.
 *
 * @throws {UsageError} if an added column would have the name of an input column, or of another added one.
 */
export function refuseClashes(
  inputColumns: readonly string[],
  added: readonly string[],
  targets: readonly Target[] = [],
  countries?: readonly string[],
): void {
  const taken = new Set(inputColumns);
  const twice = added.filter((column, at) => taken.has(column) || added.indexOf(column) !== at);
  const [name] = twice;
  if (name === undefined) return;
  if (name === ENRICHMENT)
    throw new UsageError(
      'column_clash',
      say`The rows have "${name}" already, as the output of a run has. ${RUN_ITS_LIST} To keep both results, add ${setting('flatten', true)}.`,
    );
  const clashing = targets.filter(({prefix}) => twice.some(column => column.startsWith(prefix)));
  const [first] = clashing;
  // Targets that clash must not get one prefix together.
  const prefixOf = ({prefix}: Target) => (clashing.length > 1 ? `checked_${prefix}` : 'checked_');
  const choice =
    first === undefined
      ? say`${setting('ip', 'COLUMN=checked_')}`
      : sayFlags(choiceOf(first, prefixOf(first)));
  const isOutput = clashing.some(({prefix}) => taken.has(`${prefix}status`) && taken.has(`${prefix}error`));
  const isAnswer = ({column}: Target) =>
    clashing.some(target => target.column !== column && column.startsWith(target.prefix));
  // A flag that names a column turns detection off, so the other columns need flags too.
  const flags = targets
    .filter(target => !isOutput || !isAnswer(target))
    .flatMap(target => choiceOf(target, clashing.includes(target) ? prefixOf(target) : undefined));
  throw new UsageError(
    'column_clash',
    isOutput
      ? say`The list is the output of a run: it has "${name}" already. ${RUN_ITS_LIST} To keep both results, give the new columns another prefix, such as ${choice}.`
      : say`The output would have "${name}" twice. Give the new columns another prefix, such as ${choice}, or rename the input's column.`,
    countries === undefined ? {} : {flags: [...flags, ...countries.flatMap(column => ['--country', column])]},
  );
}

/** The flag that names a column, and gives its results another prefix if `prefix` is defined. */
function choiceOf(
  {operation, column, prefix: given}: Target,
  prefix = column.includes('=') ? given.replaceAll('=', '_') : undefined,
): [string, string] {
  return [`--${operations[operation].setting}`, prefix === undefined ? column : `${column}=${prefix}`];
}

/** @throws {UsageError} if two columns' answers, or an answer and the risk, would share a name under `enrichment`. */
export function refuseEnrichmentKeyClashes(columns: readonly TargetColumns[], risk: boolean): void {
  refuseClashes(
    risk ? [`${ENRICHMENT}.risk`] : [],
    columns.map(({key}) => `${ENRICHMENT}.${key}`),
  );
}

export function resultCells(
  result: CellResult,
  data: unknown,
  columns: readonly LookupResultColumn[],
  safe: (text: string) => string,
): string[] {
  return columns.map(({kind, of}) => {
    const value = of(result, data);
    if (value === undefined || value === null) return '';
    if (kind === 'json') return unmarkNumbers(JSON.stringify(value));
    return typeof value === 'string' ? (markedNumber(value) ?? safe(value)) : String(value);
  });
}

/** Returns an answer with only these fields. Fields that the answer lacks are left out. */
export function pickFields(data: unknown, fields: readonly AnswerField[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const {path} of fields) {
    const value = getAtPath(data, path);
    if (value !== undefined) setAtPath(picked, path, value);
  }
  return picked;
}

/** Sets the field at `path` of an answer, and makes the objects around it. */
export function setAtPath(answer: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let inner = answer;
  for (const key of path.slice(0, -1)) {
    inner[key] ??= {};
    inner = inner[key] as Record<string, unknown>;
  }
  inner[path.at(-1) as string] = value;
}
