import type {InputFormat} from '../input/row.ts';
import {keyOf, type Target} from '../lookup/targets.ts';
import {operationNames, operations} from '../operations/table.ts';
import type {Background} from './given.ts';
import {type Condition, compile, type Decision} from './language/condition.ts';
import type {Reference} from './language/expression.ts';
import type {Facts} from './language/read-facts.ts';
import {type IsListFault, isBlind, levelOf} from './level.ts';
import type {Risk, RiskLevel, RuleOutcomes} from './risk.ts';
import type {PlacedRule, RuleSet} from './rules.ts';
import {
  type Combination,
  chosen,
  combinationsOf,
  factsReader,
  type RowView,
  type Subjects,
  subjectsChecker,
  subjectsOf,
  subjectsRead,
} from './subjects.ts';

/** Rules ready for rows. Pure: a row's risk depends on that row alone. */
export interface Scorer {
  /** All that its rules read. */
  readonly reads: readonly Reference[];
  score(view: RowView): {readonly risk: Risk; readonly outcomes: RuleOutcomes};
  /** Score from the answers until now, whatever is missing, for the conditions of further lookups. */
  soFar(view: RowView): {readonly score: number; readonly level: RiskLevel};
}

/** Name of a missing signal in the output: the lookup if it has no answer, else the answer's field. */
type NameSignal = (reference: Reference, view: RowView, combination: Combination) => string;

interface ReadyRule {
  /** Its place among all rules. */
  readonly place: number;
  readonly condition: Condition;
  readonly combinations: readonly Combination[];
  readonly add: number;
  readonly reason: string;
  /** It is told of, and changes nothing. */
  readonly shadow: boolean;
}

/**
 * Checks and compiles rules for these columns.
 *
 * @throws {UsageError} when a rule is not a condition, or reads a name that does not exist.
 */
export function createScorer(
  {rules, levels}: RuleSet,
  targets: readonly Target[],
  format: InputFormat,
  background: Background,
): Scorer {
  const subjects = subjectsOf(targets, operationNames);
  const ready = compileRules(rules, subjects, format, background);
  const conditions = ready.map(({condition}) => condition);
  const readFacts = factsReader(subjects, conditions, format.columns, background.facts);
  const counting = ready.filter(({shadow}) => !shadow);
  const relevant = lookupsRead(
    counting.map(({condition}) => condition),
    subjects,
  );
  const nameSignal = signalNames(targets, subjects);
  const isListFault: IsListFault = (index, code) => {
    const target = targets[index];
    return target !== undefined && !operations[target.operation].personFaults.some(fault => fault === code);
  };
  const verdict = (held: readonly ReadyRule[], view: RowView) => {
    const sum = held.reduce((all, {add}) => all + add, 0);
    const score = Math.min(100, Math.max(0, sum));
    return {score, level: levelOf(score, levels, isBlind(view, relevant, isListFault))};
  };
  return {
    reads: conditions.flatMap(({references}) => references),
    score(view) {
      const {held, undecided, wrong, missing} = judge(ready, readFacts(view), view, nameSignal);
      const counted = held.filter(({shadow}) => !shadow);
      const {score, level} = verdict(counted, view);
      const points = pointsOf(counted);
      const reasons = Object.keys(points);
      return {
        risk: {score: level === 'unknown' ? null : score, level, reasons, points, missing},
        outcomes: {held: held.map(({place}) => place), undecided, wrong},
      };
    },
    soFar(view) {
      const facts = readFacts(view);
      return verdict(
        counting.filter(rule => decide(rule, facts, view) === true),
        view,
      );
    },
  };
}

function compileRules(
  rules: readonly PlacedRule[],
  subjects: Subjects,
  format: InputFormat,
  background: Background,
): ReadyRule[] {
  const check = subjectsChecker(subjects, format, background);
  return rules.flatMap(({when, add, reason, shadow = false, place: written}, place) => {
    const condition = compile(check(when, written));
    const combinations = combinationsOf(condition, subjects);
    return combinations === undefined ? [] : [{place, condition, combinations, add, reason, shadow}];
  });
}

/** The lookups that conditions depend on. */
function lookupsRead(conditions: readonly Condition[], subjects: Subjects): readonly number[] {
  const names = conditions.flatMap(condition => [...subjectsRead(condition, subjects)]);
  return [...new Set(names.flatMap(name => subjects.get(name)?.targets ?? []))];
}

function signalNames(targets: readonly Target[], subjects: Subjects): NameSignal {
  const keys = targets.map((_, index) => keyOf(targets, index));
  return ({path, name}, {results}, combination) => {
    const [root = '', inner = ''] = path;
    const subject = root === 'status' || root === 'error' ? inner : root;
    const index = combination.get(subject) ?? subjects.get(subject)?.targets[0];
    const key = index === undefined ? undefined : keys[index];
    if (index === undefined || key === undefined) return name;
    if (subject !== root || results[index]?.status !== 'ok') return key;
    return key === root ? name : key + name.slice(root.length);
  };
}

interface Judged {
  readonly held: readonly ReadyRule[];
  readonly undecided: readonly number[];
  readonly wrong: readonly number[];
  readonly missing: readonly string[];
}

/** Decides each rule, and collects the missing fields of those that can't be decided. */
function judge(rules: readonly ReadyRule[], facts: Facts, view: RowView, nameSignal: NameSignal): Judged {
  const held: ReadyRule[] = [];
  const undecided: number[] = [];
  const wrong: number[] = [];
  let missing: Set<string> | undefined;
  for (const rule of rules) {
    const decision = decide(rule, facts, view);
    if (decision === true) held.push(rule);
    else if (decision === undefined) {
      if (!rule.shadow) missing ??= new Set();
      const hadAll = addLacking(
        rule,
        facts,
        view,
        nameSignal,
        rule.shadow ? new Set() : (missing ?? new Set()),
      );
      (hadAll ? wrong : undecided).push(rule.place);
    }
  }
  return {held, undecided, wrong, missing: missing === undefined ? [] : [...missing]};
}

/** True if a rule holds for any of its lookups; undefined if it can't be decided. */
function decide(rule: ReadyRule, facts: Facts, view: RowView): Decision {
  let any: Decision = false;
  for (const combination of rule.combinations) {
    const decision = rule.condition.decide(factsFor(rule, combination, facts, view));
    if (decision === true) return true;
    if (decision === undefined) any = undefined;
  }
  return any;
}

/** Adds what an undecided rule lacked. True where it had all and could not work with it. */
function addLacking(
  rule: ReadyRule,
  facts: Facts,
  view: RowView,
  nameSignal: NameSignal,
  missing: Set<string>,
): boolean {
  let hadAll = false;
  for (const combination of rule.combinations) {
    const lacked = new Set<Reference>();
    // Of a combination that decides it, nothing is missing.
    hadAll = rule.condition.missing(factsFor(rule, combination, facts, view), lacked) || hadAll;
    for (const reference of lacked) missing.add(nameSignal(reference, view, combination));
  }
  return hadAll;
}

/**
 * A row's facts as they stand have the first lookup of each subject, which is the only one where there are not
 * several.
 */
function factsFor({combinations}: ReadyRule, combination: Combination, facts: Facts, view: RowView): Facts {
  return combinations.length > 1 ? chosen(facts, view, combination) : facts;
}

/** By reason, which rules may share; a reason may be called `constructor`. */
function pointsOf(held: readonly ReadyRule[]): Record<string, number> {
  const points: Record<string, number> = {};
  for (const {reason, add} of held) {
    const before = points[reason];
    points[reason] = typeof before === 'number' ? before + add : add;
  }
  return points;
}
