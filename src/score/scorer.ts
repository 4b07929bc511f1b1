import {type Target, targetKey} from '../columns/targets.ts';
import type {InputFormat} from '../input/row.ts';
import {lacksSignals} from '../operations/fields.ts';
import {operations} from '../operations/table.ts';
import type {PathReference} from './language/expression.ts';
import {type RiskLevel, subjectOfPath} from './language/rule-variables.ts';
import type {PlacedRule, RuleSet} from './rules.ts';
import type {RunFacts} from './run-facts.ts';
import {
  type ConditionAlternative,
  createConditionCompiler,
  findSubjects,
  type RowCondition,
  type RowView,
  type Subjects,
  sharedCountsOf,
} from './subjects.ts';

export interface Risk {
  /** 0 to 100; null if the level is unknown, since a reader would take any number for a result. */
  readonly score: number | null;
  readonly level: RiskLevel;
  /** The reasons of the rules that applied, in the rules' order. */
  readonly reasons: readonly string[];
  /** The points of each reason, before the sum is limited to 0 to 100. */
  readonly points: Readonly<Record<string, number>>;
  /** Lookups (`phone`) and fields of answers (`ip.is_vpn`) that rules needed and lacked. */
  readonly missing: readonly string[];
  /** By lookup: how many in the list share its value. Only if the setting `fields` has `risk.shared`. */
  readonly shared?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Indexes of rules, by their outcome for one row. A rule in none of these lists did not hold. */
export interface RuleOutcomes {
  readonly held: readonly number[];
  /** Rules without a result, since a lookup or field that they read is missing. */
  readonly undecided: readonly number[];
  /** Rules whose values could not be used, such as a text that is not a number. */
  readonly wrong: readonly number[];
}

/** Compiled rules. Pure: a row's risk depends on that row alone. */
export interface Scorer {
  readonly reads: readonly PathReference[];
  score(view: RowView): {readonly risk: Risk; readonly outcomes: RuleOutcomes};
  /** The score of the answers so far, for the conditions of further lookups. */
  soFar(view: RowView): {readonly score: number; readonly level: RiskLevel};
}

interface ReadyRule extends Pick<PlacedRule, 'add' | 'reason'> {
  /** The rule's index among all rules. */
  readonly index: number;
  readonly condition: RowCondition;
  /** True if the summary counts the rule, but the rule changes no row's risk. */
  readonly shadow: boolean;
}

/**
 * Checks and compiles rules. `shows`: the parts of the risk that are written.
 *
 * @throws {UsageError} if a rule's `when` is not a condition, or reads an unknown name.
 */
export function createScorer(
  {rules, levels}: RuleSet,
  targets: readonly Target[],
  format: InputFormat,
  background: RunFacts,
  shows: readonly (keyof Risk)[] = [],
): Scorer {
  const subjects = findSubjects(targets);
  const compile = createConditionCompiler(subjects, format, background);
  const ready = rules.flatMap(({when, add, reason, shadow = false, place}, index): ReadyRule[] => {
    const condition = compile(when, place);
    return condition.alternatives.length === 0 ? [] : [{index, condition, add, reason, shadow}];
  });
  const conditions = ready.map(({condition}) => condition);
  const counting = ready.filter(({shadow}) => !shadow);
  const relevant = lookupsRead(counting, subjects);
  const keys = targets.map((_, index) => targetKey(targets, index));
  const verdict = (held: readonly ReadyRule[], view: RowView) => {
    const sum = held.reduce((all, {add}) => all + add, 0);
    const score = Math.min(100, Math.max(0, sum));
    return {score, level: levelOf(score, levels, isBlind(view, relevant, targets))};
  };
  return {
    reads: conditions.flatMap(({references}) => references),
    score(view) {
      const {held, undecided, wrong, missing} = judge(ready, view, keys);
      const counted = held.filter(({shadow}) => !shadow);
      const {score, level} = verdict(counted, view);
      const points = pointsOf(counted);
      const reasons = Object.keys(points);
      return {
        risk: {
          ...{score: level === 'unknown' ? null : score, level, reasons, points, missing},
          ...(shows.includes('shared') && {shared: sharedOf(view, keys)}),
        },
        outcomes: {held: held.map(({index}) => index), undecided, wrong},
      };
    },
    soFar(view) {
      return verdict(
        counting.filter(({condition}) => condition.decide(view) === true),
        view,
      );
    },
  };
}

/** Indexes of the lookups without whose results the risk is not known. Facts of the list need no result. */
function lookupsRead(rules: readonly ReadyRule[], subjects: Subjects): readonly number[] {
  const references = rules.flatMap(({condition}) => condition.references);
  const names = references.filter(({path}) => path[0] !== 'shared').map(({path}) => subjectOfPath(path));
  return [...new Set(names.flatMap(name => subjects.get(name)?.targets ?? []))];
}

/** Decides each rule, and collects the names of what the undecided rules lack, in the rules' order. */
function judge(rules: readonly ReadyRule[], view: RowView, keys: readonly string[]) {
  const held: ReadyRule[] = [];
  const undecided: number[] = [];
  const wrong: number[] = [];
  const missing = new Set<string>();
  for (const rule of rules) {
    const decision = rule.condition.decide(view);
    if (decision === true) held.push(rule);
    if (decision !== undefined) continue;
    let isWrong = false;
    for (const {condition, chosen} of rule.condition.alternatives) {
      const lacks = (reference: PathReference) => {
        if (!rule.shadow) missing.add(lackingName(reference, chosen, view, keys));
      };
      isWrong = condition.missing(view, lacks) || isWrong;
    }
    (isWrong ? wrong : undecided).push(rule.index);
  }
  return {held, undecided, wrong, missing: [...missing]};
}

/** Name of what a rule lacks, for the column `risk_missing`: a lookup without an answer, else the answer's field. */
function lackingName(
  {path, name}: PathReference,
  chosen: ConditionAlternative['chosen'],
  {results}: RowView,
  keys: readonly string[],
): string {
  const [root = ''] = path;
  const subject = subjectOfPath(path);
  const index = chosen.get(subject);
  const key = index === undefined ? undefined : keys[index];
  if (index === undefined || key === undefined) return name;
  const status = results[index]?.status;
  // A row without a value lacks the value; else the list was not counted.
  if (root === 'shared') return status === 'empty' || status === 'invalid' ? key : name;
  if (subject !== root || status !== 'ok') return key;
  return key === root ? name : key + name.slice(root.length);
}

/** Points by reason. A reason may be called `constructor`: then `before` is a function that every object inherits. */
function pointsOf(held: readonly ReadyRule[]): Record<string, number> {
  const points: Record<string, number> = {};
  for (const {reason, add} of held) {
    const before = points[reason];
    points[reason] = typeof before === 'number' ? before + add : add;
  }
  return points;
}

/** The facts of the list that the row has, by lookup. */
function sharedOf(view: RowView, keys: readonly string[]): NonNullable<Risk['shared']> {
  const facts = keys.map((key, index) => [key, sharedCountsOf(view, index) ?? {}] as const);
  return Object.fromEntries(facts.filter(([, counts]) => Object.keys(counts).length > 0));
}

/** Level of a score. A low score is `unknown` if an answer that the rules need is missing. */
function levelOf(score: number, {medium, high}: RuleSet['levels'], blind: boolean): RiskLevel {
  if (score >= high) return 'high';
  if (score >= medium) return 'medium';
  return blind ? 'unknown' : 'low';
}

/**
 * True if too little is known to call a row's risk low: a lookup that the rules read failed, is unknown, says nothing
 * that the default rules read, has a fault of the list, or was skipped for another reason than its condition; or none
 * of them says anything about the person, by an answer or by a fault such as a malformed address.
 */
function isBlind(
  {results, answers, isPartial}: RowView,
  relevant: readonly number[],
  targets: readonly Target[],
): boolean {
  let heard = relevant.length === 0;
  for (const index of relevant) {
    const result = results[index];
    if (result === undefined || result.status === 'empty') continue;
    if (result.status === 'failed' || result.status === 'unknown') return true;
    if (
      !isPartial &&
      result.status === 'ok' &&
      lacksSignals((targets[index] as Target).operation, answers[index])
    )
      return true;
    if (result.status === 'invalid' && isListFault(targets[index] as Target, result.error)) return true;
    if (result.status === 'skipped') {
      if (result.error !== 'condition') return true;
    } else heard = true;
  }
  return !heard;
}

/** True if the error code of an invalid cell is a fault of the list, and says nothing about the row's person. */
function isListFault({operation}: Target, code: string | undefined): boolean {
  return !operations[operation].personFaults.some(fault => fault === code);
}
