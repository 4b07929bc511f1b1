import type {InputFormat} from '../input/row.ts';
import type {Target} from '../lookup/targets.ts';
import {operationNames} from '../operations/table.ts';
import {type Condition, compile} from './condition.ts';
import {conditionChecker, type Reference} from './expression.ts';
import type {Background} from './given.ts';
import type {Facts} from './read-facts.ts';
import type {Risk, RiskLevel, RuleOutcomes} from './risk.ts';
import type {PlacedRule, RuleSet} from './rules.ts';
import {
  type Combination,
  chosen,
  combinationsOf,
  factsReader,
  keyOf,
  knownColumns,
  type RowView,
  type Subjects,
  subjectsOf,
  subjectsRead,
} from './subjects.ts';
import {answerVocabulary} from './vocabulary.ts';

/** Rules ready for rows. Pure: a row's risk depends on that row alone. */
export interface Scorer {
  score(view: RowView): {readonly risk: Risk; readonly outcomes: RuleOutcomes};
  /** What is known so far, as a number whatever is missing: what conditions of further lookups go by. */
  soFar(view: RowView): {readonly score: number; readonly level: RiskLevel};
}

/** What is missing, as the output names it: the lookup where it has no answer, else the answer's field. */
type NameSignal = (reference: Reference, view: RowView, combination: Combination) => string;

interface ReadyRule {
  /** Its place among all rules. */
  readonly place: number;
  readonly condition: Condition;
  readonly combinations: readonly Combination[];
  readonly add: number;
  readonly reason: string;
}

/**
 * Checks and compiles rules for these columns.
 *
 * @throws {UsageError} when a rule is no condition, or reads something that there is not.
 */
export function createScorer(
  {rules, levels}: RuleSet,
  targets: readonly Target[],
  format: Pick<InputFormat, 'kind' | 'columns'>,
  background: Background,
): Scorer {
  const subjects = subjectsOf(targets, operationNames);
  const ready = compileRules(rules, subjects, format, background);
  const conditions = ready.map(({condition}) => condition);
  const readFacts = factsReader(subjects, conditions, format.columns, background.facts);
  const relevant = [
    ...new Set(
      conditions.flatMap(condition =>
        [...subjectsRead(condition, subjects)].flatMap(name => subjects.get(name)?.targets ?? []),
      ),
    ),
  ];
  const judge = (view: RowView, missing: Set<string> | undefined) => {
    const facts = readFacts(view);
    const held: number[] = [];
    const undecided: number[] = [];
    let wrong = NONE;
    let sum = 0;
    for (const rule of ready) {
      const outcome = outcomeOf(rule, facts, view, missing, signal);
      if (outcome === 'undecided') undecided.push(rule.place);
      else if (outcome === 'wrong') wrong = [...wrong, rule.place];
      if (outcome !== 'held') continue;
      held.push(rule.place);
      sum += rule.add;
    }
    const score = Math.min(100, Math.max(0, sum));
    return {
      score,
      outcomes: {held, undecided, wrong},
      level: levelOf(score, levels, isBlind(view, relevant)),
    };
  };
  const keys = targets.map((_, index) => keyOf(targets, index));
  const signal: NameSignal = ({path, name}, {results}, combination) => {
    const [root = '', inner = ''] = path;
    const subject = root === 'status' || root === 'error' ? inner : root;
    const index = combination.get(subject) ?? subjects.get(subject)?.targets[0];
    const key = index === undefined ? undefined : keys[index];
    if (index === undefined || key === undefined) return name;
    if (subject !== root || results[index]?.status !== 'ok') return key;
    return key === root ? name : key + name.slice(root.length);
  };
  return {
    score(view) {
      const missing = new Set<string>();
      const {score: known, level, outcomes} = judge(view, missing);
      const points = pointsOf(rules, outcomes.held);
      const score = level === 'unknown' ? null : known;
      return {
        risk: {score, level, reasons: Object.keys(points), points, missing: [...missing]},
        outcomes,
      };
    },
    soFar: view => judge(view, undefined),
  };
}

const NONE: readonly number[] = [];

/** By reason, which rules may share; a reason may be called `constructor`. */
function pointsOf(rules: readonly PlacedRule[], held: readonly number[]): Record<string, number> {
  const points: Record<string, number> = {};
  for (const place of held) {
    const rule = rules[place];
    if (rule === undefined) continue;
    const before = points[rule.reason];
    points[rule.reason] = typeof before === 'number' ? before + rule.add : rule.add;
  }
  return points;
}

function compileRules(
  rules: readonly PlacedRule[],
  subjects: Subjects,
  format: Pick<InputFormat, 'kind' | 'columns'>,
  {vocabulary}: Background,
): ReadyRule[] {
  const operations = Object.fromEntries([...subjects].map(([name, {operation}]) => [name, operation]));
  const check = conditionChecker({...vocabulary, ...answerVocabulary(operations, knownColumns(format))});
  return rules.flatMap(({when, add, reason, place: written}, place) => {
    const condition = compile(check(when, written));
    const combinations = combinationsOf(condition, subjects);
    return combinations === undefined ? [] : [{place, condition, combinations, add, reason}];
  });
}

/** Whether a rule holds for any of the lookups it speaks of; where nobody can tell, `missing` learns what it lacks. */
function outcomeOf(
  {condition, combinations}: ReadyRule,
  facts: Facts,
  view: RowView,
  missing: Set<string> | undefined,
  signal: NameSignal,
): 'not' | keyof RuleOutcomes {
  const several = combinations.length > 1;
  let undecided: [Facts, Combination][] | undefined;
  for (const combination of combinations) {
    const these = several ? chosen(facts, view, combination) : facts;
    const decision = condition.decide(these);
    if (decision === true) return 'held';
    if (decision !== undefined) continue;
    undecided ??= [];
    undecided.push([these, combination]);
  }
  if (missing === undefined || undecided === undefined) return 'not';
  let wrong = false;
  for (const [these, combination] of undecided) {
    const lacked = new Set<Reference>();
    wrong = condition.missing(these, lacked) || wrong;
    for (const reference of lacked) missing.add(signal(reference, view, combination));
  }
  return wrong ? 'wrong' : 'undecided';
}

/** Harmless as far as is known is no low risk where something is not known that should be. */
function levelOf(score: number, {medium, high}: RuleSet['levels'], blind: boolean): RiskLevel {
  if (score >= high) return 'high';
  if (score >= medium) return 'medium';
  return blind ? 'unknown' : 'low';
}

/** Whether a lookup that the rules read went wrong, or none of them has said anything at all. */
function isBlind({results}: RowView, relevant: readonly number[]): boolean {
  let heard = relevant.length === 0;
  for (const index of relevant) {
    const result = results[index];
    if (result === undefined || result.status === 'empty') continue;
    if (result.status === 'failed' || result.status === 'unknown') return true;
    if (result.status === 'skipped') {
      if (result.error !== 'condition') return true;
    } else heard = true;
  }
  return !heard;
}
