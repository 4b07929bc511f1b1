import {keyOf, type Target} from '../columns/targets.ts';
import type {InputFormat} from '../input/row.ts';
import {operations} from '../operations/table.ts';
import type {Background} from './given.ts';
import {type Condition, compile, type Decision, type Lacking} from './language/condition.ts';
import type {Reference} from './language/expression.ts';
import {type Facts, SharedReads} from './language/read-facts.ts';
import {subjectOf} from './language/vocabulary.ts';
import type {Risk, RiskLevel, RuleOutcomes} from './risk.ts';
import type {PlacedRule, RuleSet} from './rules.ts';
import {
  type Combination,
  combinationsOf,
  factsReader,
  type RowView,
  type Subjects,
  sharedIn,
  subjectsChecker,
  subjectsOf,
} from './subjects.ts';

/** Compiled rules. Pure: a row's risk depends on that row alone. */
export interface Scorer {
  /** All paths that the rules read. */
  readonly reads: readonly Reference[];
  score(view: RowView): {readonly risk: Risk; readonly outcomes: RuleOutcomes};
  /** The score of the answers so far, for the conditions of further lookups. */
  soFar(view: RowView): {readonly score: number; readonly level: RiskLevel};
}

/**
 * Names what a rule lacks, for the column `risk_missing`: the lookup if it has no answer, else the answer's field.
 */
type NameSignal = (reference: Reference, view: RowView, combination: Combination) => string;

interface ReadyRule {
  /** The rule's index among all rules. */
  readonly index: number;
  readonly condition: Condition;
  readonly combinations: readonly Combination[];
  readonly add: number;
  readonly reason: string;
  /** True if the summary counts the rule, but the rule changes no row's risk. */
  readonly shadow: boolean;
}

/**
 * Checks and compiles rules for these columns. `shows`: the parts of the risk that are written.
 *
 * @throws {UsageError} if a rule's `when` is not a condition, or reads an unknown name.
 */
export function createScorer(
  {rules, levels}: RuleSet,
  targets: readonly Target[],
  format: InputFormat,
  background: Background,
  shows: readonly (keyof Risk)[] = [],
): Scorer {
  const subjects = subjectsOf(targets);
  const ready = compileRules(rules, subjects, format, background);
  const conditions = ready.map(({condition}) => condition);
  const readFacts = factsReader(subjects, conditions, format.columns, background);
  const counting = ready.filter(({shadow}) => !shadow);
  const relevant = lookupsRead(
    counting.map(({condition}) => condition),
    subjects,
  );
  const nameSignal = signalNames(targets, subjects);
  const verdict = (held: readonly ReadyRule[], view: RowView) => {
    const sum = held.reduce((all, {add}) => all + add, 0);
    const score = Math.min(100, Math.max(0, sum));
    return {score, level: levelOf(score, levels, isBlind(view, relevant, targets))};
  };
  return {
    reads: conditions.flatMap(({references}) => references),
    score(view) {
      const missing = new Missing(view, nameSignal);
      const {held, undecided, wrong} = judge(ready, factsOnce(readFacts, view), missing);
      const counted = held.filter(({shadow}) => !shadow);
      const {score, level} = verdict(counted, view);
      const points = pointsOf(counted);
      const reasons = Object.keys(points);
      return {
        risk: {
          ...{score: level === 'unknown' ? null : score, level, reasons, points, missing: missing.names},
          ...(shows.includes('shared') && {shared: sharedOf(view, targets)}),
        },
        outcomes: {held: held.map(({index}) => index), undecided, wrong},
      };
    },
    soFar(view) {
      const facts = factsOnce(readFacts, view);
      const held = counting.filter(rule => decide(rule, facts) === true);
      return verdict(held, view);
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
  const shared = new SharedReads();
  return rules.flatMap(({when, add, reason, shadow = false, place}, index) => {
    const condition = compile(check(when, place), shared);
    // Equal combinations of several rules become one object, so that the facts of each are read once.
    const combinations = combinationsOf(condition, subjects)?.map(combination =>
      shared.named(`choice ${JSON.stringify([...combination])}`, () => combination),
    );
    return combinations === undefined ? [] : [{index, condition, combinations, add, reason, shadow}];
  });
}

/** Indexes of the lookups without whose results the risk is not known. Facts of the list need no result. */
function lookupsRead(conditions: readonly Condition[], subjects: Subjects): readonly number[] {
  const references = conditions.flatMap(({references}) => references);
  const names = references.filter(({path}) => path[0] !== 'shared').map(({path}) => subjectOf(path));
  return [...new Set(names.flatMap(name => subjects.get(name)?.targets ?? []))];
}

function signalNames(targets: readonly Target[], subjects: Subjects): NameSignal {
  const keys = targets.map((_, index) => keyOf(targets, index));
  return ({path, name}, {results}, combination) => {
    const [root = ''] = path;
    const subject = subjectOf(path);
    const index = combination.get(subject) ?? subjects.get(subject)?.targets[0];
    const key = index === undefined ? undefined : keys[index];
    if (index === undefined || key === undefined) return name;
    const status = results[index]?.status;
    // A row without a value lacks the value; else the list was not counted.
    if (root === 'shared') return status === 'empty' || status === 'invalid' ? key : name;
    if (subject !== root || status !== 'ok') return key;
    return key === root ? name : key + name.slice(root.length);
  };
}

type Judged = Pick<RuleOutcomes, 'undecided' | 'wrong'> & {readonly held: readonly ReadyRule[]};

/** Decides each rule, and collects the names of what the undecided rules lack. */
function judge(rules: readonly ReadyRule[], facts: FactsFor, missing: Missing): Judged {
  const held: ReadyRule[] = [];
  const undecided: number[] = [];
  const wrong: number[] = [];
  for (const rule of rules) {
    const decision = decide(rule, facts);
    if (decision === true) held.push(rule);
    else if (decision === undefined) (addLacking(rule, facts, missing) ? wrong : undecided).push(rule.index);
  }
  return {held, undecided, wrong};
}

/** Collects the names of fields and lookups that rules lack, in the rules' order. */
class Missing {
  readonly #view: RowView;
  readonly #nameSignal: NameSignal;
  readonly #names = new Set<string>();
  readonly #seen = new Set<Reference>();
  /**
   * The collector for rules with only one combination of lookups. Their name for a field is always the same,
   * so each field is named once.
   */
  readonly #only: Lacking = {
    add: reference => {
      if (this.#seen.has(reference)) return;
      this.#seen.add(reference);
      this.#names.add(this.#nameSignal(reference, this.#view, NO_CHOICE));
    },
  };

  constructor(view: RowView, nameSignal: NameSignal) {
    this.#view = view;
    this.#nameSignal = nameSignal;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /**
   * Returns the object that collects a rule's missing fields for one combination of lookups. For a shadow
   * rule it collects nothing.
   */
  of({combinations, shadow}: ReadyRule, combination: Combination): Lacking {
    if (shadow) return NOWHERE;
    if (combinations.length === 1) return this.#only;
    return {add: reference => this.#names.add(this.#nameSignal(reference, this.#view, combination))};
  }
}

const NO_CHOICE: Combination = new Map();
const NOWHERE: Lacking = {add: () => {}};

/** True if a rule holds for one of its combinations; undefined if it holds for none and one is undecided. */
function decide(rule: ReadyRule, facts: FactsFor): Decision {
  let any: Decision = false;
  for (const combination of rule.combinations) {
    const decision = rule.condition.decide(facts(rule, combination));
    if (decision === true) return true;
    if (decision === undefined) any = undefined;
  }
  return any;
}

/**
 * Adds the fields and lookups that leave a rule undecided. Returns true if the rule could not use a value
 * that the row has, such as a text that is not a number.
 */
function addLacking(rule: ReadyRule, facts: FactsFor, missing: Missing): boolean {
  let hadAll = false;
  for (const combination of rule.combinations) {
    // `condition.missing` adds nothing to `lacking` if the rule is decided with this combination of lookups.
    const lacking = missing.of(rule, combination);
    hadAll = rule.condition.missing(facts(rule, combination), lacking) || hadAll;
  }
  return hadAll;
}

/** Gives the values that a rule reads with a combination of lookups. */
type FactsFor = (rule: ReadyRule, combination: Combination) => Facts;

/** Reads a row's values once for each combination. Rules with a single one share the facts without a choice. */
function factsOnce(read: ReturnType<typeof factsReader>, view: RowView): FactsFor {
  const known = new Map<Combination | undefined, Facts>();
  return ({combinations}, combination) => {
    const chosen = combinations.length === 1 ? undefined : combination;
    const facts = known.get(chosen) ?? read(view, chosen);
    known.set(chosen, facts);
    return facts;
  };
}

/**
 * Sums up points by reason. A reason may be called `constructor`: then `before` is a function that
 * every object inherits.
 */
function pointsOf(held: readonly ReadyRule[]): Record<string, number> {
  const points: Record<string, number> = {};
  for (const {reason, add} of held) {
    const before = points[reason];
    points[reason] = typeof before === 'number' ? before + add : add;
  }
  return points;
}

/** The facts of the list that the row has, by lookup. */
function sharedOf(view: RowView, targets: readonly Target[]): NonNullable<Risk['shared']> {
  const facts = targets.map((_, index) => [keyOf(targets, index), sharedIn(view, index) ?? {}] as const);
  return Object.fromEntries(facts.filter(([, counts]) => Object.keys(counts).length > 0));
}

/** Level of a score. A low score is `unknown` if an answer that the rules need is missing. */
function levelOf(score: number, {medium, high}: RuleSet['levels'], blind: boolean): RiskLevel {
  if (score >= high) return 'high';
  if (score >= medium) return 'medium';
  return blind ? 'unknown' : 'low';
}

/**
 * True if too little is known to call a row's risk low. That is so if a lookup that the rules read
 * failed, is unknown, has a fault of the list, or was skipped for another reason than its condition. It
 * is also so if no lookup that the rules read says anything about the person, by an answer or by a fault
 * such as a malformed address.
 */
function isBlind({results}: RowView, relevant: readonly number[], targets: readonly Target[]): boolean {
  let heard = relevant.length === 0;
  for (const index of relevant) {
    const result = results[index];
    if (result === undefined || result.status === 'empty') continue;
    if (result.status === 'failed' || result.status === 'unknown') return true;
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
