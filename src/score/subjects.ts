import {type Target, targetKey} from '../columns/targets.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import {getAtPath} from '../operations/fields.ts';
import {isOperation, type Operation, operationNames} from '../operations/table.ts';
import {
  type Condition,
  compileCondition,
  type Decision,
  fieldReader,
  type ValueReader,
} from './language/condition.ts';
import {createConditionChecker, type PathReference} from './language/expression.ts';
import {
  createAnswerVocabulary,
  type RiskLevel,
  type RuleVocabulary,
  type SharedCounts,
  subjectOfPath,
} from './language/rule-variables.ts';
import type {RunFacts} from './run-facts.ts';

/** A name in expressions, with its lookups: `ip` is any column of IP addresses; each of several has a name. */
export interface Subject {
  readonly operation: Operation;
  /** Indexes of the targets; empty for an operation without a column. */
  readonly targets: readonly number[];
}

export type Subjects = ReadonlyMap<string, Subject>;

export interface LookupStatus {
  readonly status: CellResult['status'];
  readonly error?: string;
}

/** One row, as far as its results are known. */
export interface RowView {
  readonly row: Row;
  readonly results: readonly (LookupStatus | undefined)[];
  readonly answers: readonly unknown[];
  /** True if the answers may lack fields that came: in an output with chosen fields, and in a test of rules. */
  readonly isPartial?: boolean | undefined;
  readonly shared?: SharedCounts | undefined;
  readonly risk?: {readonly score: number; readonly level: RiskLevel} | undefined;
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
    const indexes = targets.flatMap((target, index) => (target.operation === operation ? [index] : []));
    subjects.set(operation, {operation, targets: indexes});
  }
  for (const [index, target] of targets.entries()) {
    const name = targetKey(targets, index);
    const usable = /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name) && !subjects.has(name);
    if (usable) subjects.set(name, {operation: target.operation, targets: [index]});
  }
  return subjects;
}

/** A condition on a row's results. It holds if one of its alternatives holds: one for each column it may mean. */
export interface RowCondition {
  readonly references: readonly PathReference[];
  /** Empty if the condition reads a lookup that is not made. */
  readonly alternatives: readonly ConditionAlternative[];
  /** Undefined if no alternative holds, and one is undecided. */
  decide(view: RowView): Decision;
}

export interface ConditionAlternative {
  readonly condition: Condition<RowView>;
  /** The lookup that is read for each subject: the subject's name, and the index of one of its targets. */
  readonly chosen: ReadonlyMap<string, number>;
}

/** Makes a compiler of conditions over the run's facts, columns, the answers of `subjects`, and `more`. */
export function createConditionCompiler(
  subjects: Subjects,
  format: InputFormat,
  background: RunFacts,
  more: RuleVocabulary = {},
): (text: string, place: string) => RowCondition {
  const operations = Object.fromEntries([...subjects].map(([name, {operation}]) => [name, operation]));
  const answers = createAnswerVocabulary(operations, format.kind === 'csv' ? format.columns : undefined);
  const {vocabulary, facts} = background;
  const check = createConditionChecker({...vocabulary, ...answers, ...more}, {constant: facts.constant});
  return (text, place) => {
    const expression = check(text, place);
    const {references} = expression;
    const alternatives = choicesOf(references, subjects).map(chosen => ({
      condition: compileCondition(expression, createPathReader(format, background, chosen)),
      chosen,
    }));
    const decide = (view: RowView) => {
      let any: Decision = false;
      for (const {condition} of alternatives) {
        const decision = condition.decide(view);
        if (decision === true) return true;
        if (decision === undefined) any = undefined;
      }
      return any;
    };
    return {references, alternatives, decide};
  };
}

function choicesOf(
  references: readonly PathReference[],
  subjects: Subjects,
): ConditionAlternative['chosen'][] {
  const names = new Set(references.map(({path}) => subjectOfPath(path)));
  let choices: ConditionAlternative['chosen'][] = [new Map()];
  for (const name of names) {
    const {targets} = subjects.get(name) ?? {};
    if (targets === undefined) continue;
    choices = choices.flatMap(chosen => targets.map(index => new Map([...chosen, [name, index]])));
  }
  return choices;
}

/** Makes a function that makes readers of the paths of conditions. `chosen`: the lookups that are read. */
function createPathReader(
  {columns}: InputFormat,
  {facts}: RunFacts,
  chosen: ConditionAlternative['chosen'],
): (path: readonly string[]) => ValueReader<RowView> {
  return path => {
    const [root = '', ...names] = path;
    const subject = subjectOfPath(path);
    const index = chosen.get(subject);
    if (root === 'row') return rowReader(columns, names);
    if (root === 'risk') return fieldReader(({risk}) => risk, names);
    if (Object.hasOwn(facts, root)) return fieldReader(() => facts, path);
    if (index === undefined) return view => view;
    if (root === 'status') return ({results}) => results[index]?.status;
    if (root === 'error')
      return ({results}) => {
        const result = results[index];
        return result && (result.error ?? '');
      };
    if (root !== 'shared') return fieldReader(({answers}) => answers[index], names);
    return fieldReader(view => sharedCountsOf(view, index), isOperation(subject) ? names : names.slice(1));
  };
}

function rowReader(columns: readonly string[], names: readonly string[]): ValueReader<RowView> {
  const [name] = names;
  const index = columns.indexOf(name ?? '');
  return ({row}) => {
    if (row.type !== 'csv') return getAtPath(row.value, names);
    if (name !== undefined) return row.fields[index];
    return Object.fromEntries(columns.map((column, at) => [column, row.fields[at]]));
  };
}

/** The facts of the list for one lookup; undefined if its cell has no value. */
export function sharedCountsOf({results, shared}: RowView, index: number): SharedCounts[number] {
  const result = results[index];
  const isValue = result?.status !== 'empty' && result?.status !== 'invalid' && result?.error !== 'footer';
  return isValue ? shared?.[index] : undefined;
}
