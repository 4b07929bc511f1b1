import {keyOf, type Target} from '../columns/targets.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {Result} from '../ledger/lookup.ts';
import {isOperation, type Operation, operationNames} from '../operations/table.ts';
import type {Background} from './given.ts';
import type {Condition} from './language/condition.ts';
import {type CheckCondition, conditionChecker} from './language/expression.ts';
import type {Facts} from './language/read-facts.ts';
import {answerVocabulary, type RuleVocabulary, type SharedBy, subjectOf} from './language/vocabulary.ts';

/**
 * A name in expressions, with its lookups: `ip` is any of the columns that are looked up as IP addresses. If there
 * are several, each has its own name too, such as `signup_ip`.
 */
export interface Subject {
  readonly operation: Operation;
  /** Indexes of the targets; empty for an operation without a column. */
  readonly targets: readonly number[];
}

export type Subjects = ReadonlyMap<string, Subject>;

/** A lookup's result, as rules read it. */
export interface LookupStatus {
  readonly status: Result['status'];
  readonly error?: string;
}

/** One row, as far as its results are known. */
export interface RowView {
  readonly row: Row;
  /** Each lookup's result; undefined while unknown. */
  readonly results: readonly (LookupStatus | undefined)[];
  /** The parsed answer of each lookup that has one. */
  readonly answers: readonly unknown[];
  /** The facts of the list; undefined if it was not counted. */
  readonly shared?: SharedBy | undefined;
}

/** Names with another meaning in expressions. A column with such a name is read by its operation's name only. */
const RESERVED = new Set([
  ...['status', 'error', 'row', 'risk', 'shared', 'now', 'list', 'constant'],
  ...['has', 'size', 'in', 'true', 'false', 'null'],
]);

/** The names of all operations, also of those without a column, and of all columns that are looked up. */
export function subjectsOf(targets: readonly Target[]): Subjects {
  const subjects = new Map<string, Subject>();
  for (const operation of operationNames) {
    const own = targets.flatMap((target, index) => (target.operation === operation ? [index] : []));
    subjects.set(operation, {operation, targets: own});
  }
  for (const [index, target] of targets.entries()) {
    const name = keyOf(targets, index);
    const usable = /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name) && !subjects.has(name);
    if (usable) subjects.set(name, {operation: target.operation, targets: [index]});
  }
  return subjects;
}

/** Names of the columns, if they are known before the first row; undefined for NDJSON. */
export function knownColumns(format: InputFormat): readonly string[] | undefined {
  return format.kind === 'csv' ? format.columns : undefined;
}

/**
 * Makes a checker of conditions. They may read the run's constants, lists and time, the row's columns, the
 * answers of `subjects`, and the names in `more`.
 */
export function subjectsChecker(
  subjects: Subjects,
  format: InputFormat,
  {vocabulary}: Background,
  more: RuleVocabulary = {},
): CheckCondition {
  const operations = Object.fromEntries([...subjects].map(([name, {operation}]) => [name, operation]));
  const answers = answerVocabulary(operations, knownColumns(format));
  return conditionChecker({...vocabulary, ...answers, ...more});
}

/** Makes a reader of the row's columns that conditions use; undefined if they use no column. */
export function rowReader(
  conditions: readonly Condition[],
  columns: readonly string[],
): ((row: Row) => Readonly<Record<string, unknown>>) | undefined {
  const references = conditions
    .flatMap(condition => condition.references)
    .filter(({path}) => path[0] === 'row');
  if (references.length === 0) return undefined;
  const read = new Set(references.flatMap(({path}) => path.slice(1, 2)));
  const cells = [...read].map(name => ({name, at: columns.indexOf(name)}));
  return row => {
    if (row.type !== 'csv') return row.value;
    const values: Record<string, unknown> = {};
    for (const {name, at} of cells) values[name] = row.fields[at];
    return values;
  };
}

/**
 * A choice for each subject that a condition reads: the name of the subject, and the index of one of its
 * targets. So if `ip` means several columns, each combination reads one of them.
 */
export type Combination = ReadonlyMap<string, number>;

/** All combinations of lookups to try a condition with; undefined if one of its subjects is not looked up. */
export function combinationsOf(condition: Condition, subjects: Subjects): readonly Combination[] | undefined {
  let combinations: Combination[] = [new Map()];
  for (const name of subjectsRead(condition, subjects)) {
    const targets = subjects.get(name)?.targets ?? [];
    if (targets.length === 0) return undefined;
    combinations = combinations.flatMap(chosen => targets.map(index => new Map([...chosen, [name, index]])));
  }
  return combinations;
}

/** Names of the subjects that a condition reads something of. */
export function subjectsRead({references}: Condition, subjects: Subjects): Set<string> {
  const names = references.map(({path}) => subjectOf(path));
  return new Set(names.filter(name => subjects.has(name)));
}

/**
 * Makes a reader of a row's facts. Each subject stands for the lookup that `combination` chooses, else for its first.
 * Facts that are the same for all rows, such as `now`, are added only if a condition reads one: adding them doubles
 * the time.
 */
export function factsReader(
  subjects: Subjects,
  conditions: readonly Condition[],
  columns: readonly string[],
  {facts: background}: Background,
): (view: RowView, combination?: Combination) => Facts {
  const readRow = rowReader(conditions, columns);
  const firsts = [...subjects].map(([name, {targets}]) => ({name, first: targets[0] ?? -1}));
  const {now, constant, list, list_} = background;
  const roots = new Set(conditions.flatMap(({references}) => references.map(({path}) => path[0] ?? '')));
  const reads = Object.keys(background).some(name => roots.has(name));
  return (view, combination) => {
    const {row, results, answers} = view;
    const status: Record<string, string> = {};
    const error: Record<string, string> = {};
    const shared: Record<string, unknown> = {};
    const own = {status, error, row: readRow?.(row), shared};
    const facts: Record<string, unknown> = reads ? {...own, now, constant, list, list_} : own;
    for (const {name, first} of firsts) {
      const index = combination?.get(name) ?? first;
      facts[name] = answers[index];
      const counts = sharedIn(view, index);
      if (isOperation(name)) Object.assign(shared, counts);
      else shared[name] ??= counts;
      const result = results[index];
      if (result === undefined) continue;
      status[name] = result.status;
      error[name] = result.error ?? '';
    }
    return facts;
  };
}

/** The facts of the list for one lookup; undefined if its cell has no value. */
export function sharedIn({results, shared}: RowView, index: number): SharedBy[number] {
  const result = results[index];
  const isValue = result?.status !== 'empty' && result?.status !== 'invalid' && result?.error !== 'footer';
  return isValue ? shared?.[index] : undefined;
}
