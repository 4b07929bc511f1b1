import type {FileRow} from '../../input/row.ts';
import type {ScoreExplanation} from '../../report/changes.ts';
import type {Summary} from '../../report/summary.ts';
import {defaultLevels, defaultRules} from '../../score/rules.ts';
import {makeRunFacts} from '../../score/run-facts.ts';
import {createConditionCompiler, findSubjects} from '../../score/subjects.ts';
import type {RiskColumn} from '../result-columns.ts';
import {type EnrichedFile, readRunStart} from './enriched-file.ts';
import {openRowViews, parseJsonCell, readTargets} from './read-answers.ts';

type WrittenRule = Omit<ScoreExplanation['rules'][number], 'reads'>;

/** The names that a rule read in a row, such as `ip.is_vpn`, with their values. */
export type RuleValues = ReadonlyMap<string, unknown>;

export interface Explained {
  readonly explanation: ScoreExplanation;
  /** The names that each rule of `explanation` used, with their values: personal data, for a terminal only. */
  readonly used: readonly RuleValues[];
}

/** Explains rows of an output. */
export interface Explainer {
  /** Undefined for a row without points. */
  explain(row: FileRow, number: number): Promise<Explained | undefined>;
  close(): void;
}

export function createExplainer(file: EnrichedFile): Explainer {
  const {summary, results} = file;
  const {risk: columns} = results;
  const first = results.riskAt;
  const rules = rulesOf(summary?.risk);
  const levels = summary?.risk?.levels ?? defaultLevels;
  let evaluated: Awaited<ReturnType<typeof evaluator>> | undefined;
  const explain: Explainer['explain'] = async (row, number) => {
    const cells = file.cellsOf(row);
    const cell = (name: RiskColumn) => cells[first + columns.indexOf(name)] ?? '';
    const points = parseJsonCell(cell('points'));
    if (!columns.includes('points') || typeof points !== 'object' || points === null) return undefined;
    evaluated ??= await evaluator(file, rules);
    const counted = points as Readonly<Record<string, number>>;
    const used = evaluated.usedBy(row, cells);
    const held = rules.flatMap((rule, at) => {
      const values = used[at];
      // Of rules with one reason, those that are known to hold gave the points.
      const isKnown = rules.some(({reason}, other) => reason === rule.reason && used[other] !== undefined);
      const isCounted = Object.hasOwn(counted, rule.reason) && (values !== undefined || !isKnown);
      const isHeld = rule.shadow === true ? values !== undefined : isCounted;
      return isHeld ? [{rule, values: values ?? new Map<string, unknown>()}] : [];
    });
    const [score, level] = [cell('score'), cell('level')];
    const explanation = {
      row: number,
      score: score === '' ? null : Number(score),
      level,
      points: counted,
      missing: (parseJsonCell(cell('missing')) ?? []) as string[],
      rules: held.map(({rule, values}) => ({...rule, reads: [...values.keys()]})),
      next: nextLevels(level, counted, rules, levels),
    };
    return {explanation, used: held.map(({values}) => values)};
  };
  return {explain, close: () => evaluated?.views.close()};
}

/** The summary's rules; the default rules too if the run used them or if there is no summary. */
function rulesOf(risk: Summary['risk'] | undefined): readonly WrittenRule[] {
  const named = (risk?.rules ?? []).map(({held: _, undecided: __, wrong: ___, ...rule}) => rule);
  const taken = new Set(named.map(({reason}) => reason));
  const hasDefaults = risk?.default_rules !== false;
  return [...(hasDefaults ? defaultRules.filter(({reason}) => !taken.has(reason)) : []), ...named];
}

/**
 * Makes a function that finds the names that each rule used in a row, with their values. It gives undefined
 * for a rule that does not hold, and for a rule with lists or constants: the summary lacks them.
 */
async function evaluator(file: EnrichedFile, rules: readonly WrittenRule[]) {
  const background = makeRunFacts(undefined, readRunStart(file) || 0);
  const compile = createConditionCompiler(findSubjects(readTargets(file)), file.input, background);
  const conditions = rules.map(({when}) => {
    try {
      return compile(when, '');
    } catch {
      return undefined;
    }
  });
  const sameBy = file.summary?.columns?.find(({operation}) => operation === 'person')?.column;
  const reads = conditions.flatMap(rule => rule?.references ?? []);
  // If the summary says that nothing is shared, no rule held by it.
  const isShared = Object.values(file.summary?.shared ?? {any: {rows: 1}}).some(({rows}) => rows > 0);
  const views = await openRowViews(file, isShared ? reads : [], sameBy);
  const usedBy = (row: FileRow, cells: readonly string[]) => {
    const view = views.viewOf(row, cells);
    return conditions.map((rule): RuleValues | undefined =>
      rule?.alternatives.find(({condition}) => condition.decide(view) === true)?.condition.valuesIn(view),
    );
  };
  return {usedBy, views};
}

/** The next higher and lower level, each with the rules that lead there: any one of them is enough. */
function nextLevels(
  level: string,
  points: Readonly<Record<string, number>>,
  rules: readonly WrittenRule[],
  {medium, high}: {readonly medium: number; readonly high: number},
): ScoreExplanation['next'] {
  const sum = Object.values(points).reduce((all, add) => all + add, 0);
  const held = Object.entries(points);
  const others = rules.filter(({reason, shadow}) => shadow !== true && !Object.hasOwn(points, reason));
  // A rule suffices alone if adding its points, or removing them, reaches the level.
  const to = (level: string, points: number) => {
    const isEnough = (change: number) => (points > 0 ? change >= points : change <= points);
    const coming = others.filter(({add}) => isEnough(add)).map(({reason}) => reason);
    const going = held.filter(([, add]) => isEnough(-add)).map(([reason]) => reason);
    const enough = points > 0 ? [...coming, ...going] : [...going, ...coming];
    return {level, points, rules: [...new Set(enough)]};
  };
  const up = (level: string, from: number) => to(level, from - sum);
  const down = (level: string, below: number) => to(level, below - 1 - sum);
  if (level === 'low') return [up('medium', medium)];
  if (level === 'medium') return [up('high', high), down('low', medium)];
  return level === 'high' ? [down('medium', high)] : [];
}
