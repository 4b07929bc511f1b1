import {type Target, targetKey} from '../columns/targets.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {Result} from '../ledger/lookup.ts';
import {isOperation, type Operation, operationNames} from '../operations/table.ts';
import {type Condition, compileCondition, type Decision, type Facts} from './language/condition.ts';
import {LIST, type Locate, locateAsWritten} from './language/engine.ts';
import {conditionChecker, type Reference} from './language/expression.ts';
import {
  answerVocabulary,
  type RuleVocabulary,
  type SharedBy,
  subjectOfPath,
} from './language/rule-vocabulary.ts';
import type {Background} from './rule-inputs.ts';

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
export function findSubjects(targets: readonly Target[]): Subjects {
  const subjects = new Map<string, Subject>();
  for (const operation of operationNames) {
    const own = targets.flatMap((target, index) => (target.operation === operation ? [index] : []));
    subjects.set(operation, {operation, targets: own});
  }
  for (const [index, target] of targets.entries()) {
    const name = targetKey(targets, index);
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
 * A condition on a row's results. If it reads an operation of several columns, it has an alternative for each column,
 * and holds if one of them holds.
 */
export interface RowCondition {
  readonly references: readonly Reference[];
  /** Empty if the condition reads a lookup that is not made. */
  readonly alternatives: readonly Alternative[];
  /** Undefined if no alternative holds, and one is undecided. */
  decide(facts: Facts): Decision;
}

export interface Alternative {
  readonly condition: Condition;
  /** The lookup that is read for each subject: the subject's name, and the index of one of its targets. */
  readonly chosen: ReadonlyMap<string, number>;
}

/**
 * Makes a compiler of conditions. They may read the run's constants, lists and time, the row's columns, the answers
 * of `subjects`, and the names in `more`.
 */
export function conditionCompiler(
  subjects: Subjects,
  format: InputFormat,
  {vocabulary, facts: {constant}}: Background,
  more: RuleVocabulary = {},
): (text: string, place: string) => RowCondition {
  const operations = Object.fromEntries([...subjects].map(([name, {operation}]) => [name, operation]));
  const answers = answerVocabulary(operations, knownColumns(format));
  const check = conditionChecker({...vocabulary, ...answers, ...more}, {constant});
  return (text, place) => {
    const expression = check(text, place);
    const {references} = expression;
    const alternatives = choicesOf(references, subjects).map(chosen => ({
      condition: compileCondition(expression, locateIn(chosen)),
      chosen,
    }));
    const decide = (facts: Facts) => {
      let any: Decision = false;
      for (const {condition} of alternatives) {
        const decision = condition.decide(facts);
        if (decision === true) return true;
        if (decision === undefined) any = undefined;
      }
      return any;
    };
    return {references, alternatives, decide};
  };
}

/** All choices of one target for each subject that is read. */
function choicesOf(references: readonly Reference[], subjects: Subjects): Alternative['chosen'][] {
  const names = new Set(references.map(({path}) => subjectOfPath(path)));
  let choices: Alternative['chosen'][] = [new Map()];
  for (const name of names) {
    const {targets} = subjects.get(name) ?? {};
    if (targets === undefined) continue;
    choices = choices.flatMap(chosen => targets.map(index => new Map([...chosen, [name, index]])));
  }
  return choices;
}

/** A lookup's name in the facts. No expression can have it, so it is no other name of the vocabulary. */
const factOf = (index: number) => `lookup ${index}`;
/** The name of its facts of the list, if a condition calls it by its operation: `shared.network`. */
const sharedOf = (index: number) => `shared ${index}`;

/** Finds a path in the facts of {@link factsReader}, where each lookup has a number in place of its name. */
function locateIn(chosen: Alternative['chosen']): Locate {
  return path => {
    const subject = subjectOfPath(path);
    const index = chosen.get(subject);
    if (index === undefined) return locateAsWritten(path);
    const [root = '', , ...rest] = path;
    if (root === 'shared' && isOperation(subject)) return [sharedOf(index), ...path.slice(1)];
    return root === subject ? [factOf(index), ...path.slice(1)] : [root, factOf(index), ...rest];
  };
}

/** Makes a reader of the row's columns that conditions use; undefined if they use no column. */
export function rowReader(
  references: readonly Reference[],
  columns: readonly string[],
): ((row: Row) => Readonly<Record<string, unknown>>) | undefined {
  const used = references.filter(({path}) => path[0] === 'row');
  if (used.length === 0) return undefined;
  const read = new Set(used.flatMap(({path}) => path.slice(1, 2)));
  const cells = [...read].map(name => ({name, at: columns.indexOf(name)}));
  return row => {
    if (row.type !== 'csv') return row.value;
    const values: Record<string, unknown> = {};
    for (const {name, at} of cells) values[name] = row.fields[at];
    return values;
  };
}

/**
 * Makes a reader of a row's facts. Facts that are the same for all rows, such as `now`, are added only if a condition
 * reads one: adding them doubles the time.
 */
export function factsReader(
  conditions: readonly RowCondition[],
  {length}: readonly Target[],
  columns: readonly string[],
  {facts: background}: Background,
): (view: RowView) => Facts {
  const references = conditions.flatMap(condition => condition.references);
  const readRow = rowReader(references, columns);
  const roots = new Set(references.map(({path}) => locateAsWritten(path)[0]));
  const reads = Object.keys(background).some(name => roots.has(name));
  const {now, constant, [LIST]: list} = background;
  const lookups = Array.from({length}, (_, index) => factOf(index));
  return view => {
    const status: Record<string, string> = {};
    const error: Record<string, string> = {};
    const shared: Record<string, unknown> = {};
    const own = {status, error, shared, row: readRow?.(view.row)};
    const facts: Record<string, unknown> = reads ? {...own, now, constant, [LIST]: list} : own;
    for (let index = 0; index < length; index++) {
      const name = lookups[index] as string;
      facts[name] = view.answers[index];
      if (view.shared !== undefined) facts[sharedOf(index)] = shared[name] = sharedFactsOf(view, index);
      const result = view.results[index];
      if (result === undefined) continue;
      status[name] = result.status;
      error[name] = result.error ?? '';
    }
    return facts;
  };
}
/** The facts of the list for one lookup; undefined if its cell has no value. */
export function sharedFactsOf({results, shared}: RowView, index: number): SharedBy[number] {
  const result = results[index];
  const isValue = result?.status !== 'empty' && result?.status !== 'invalid' && result?.error !== 'footer';
  return isValue ? shared?.[index] : undefined;
}
