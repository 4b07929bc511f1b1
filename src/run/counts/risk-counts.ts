import {countName} from '../../ledger/run/tally.ts';
import {formatCount, rankByCount} from '../../report/format.ts';
import type {RiskCounts} from '../../report/summary.ts';
import {truncateText} from '../../score/language/expression.ts';
import type {PlacedRule, RuleSet} from '../../score/rules.ts';
import type {Risk, RuleOutcomes} from '../../score/scorer.ts';

type OutcomeCounts = Record<keyof RuleOutcomes, number>;

/** Maximum number of rows of high risk in the summary. */
const HIGH_ROWS = 100;
/** Number of bars in the histogram, and also the width of each bar in points. */
const HISTOGRAM = 10;

const zeroOutcomes = (): OutcomeCounts => ({held: 0, undecided: 0, wrong: 0});

type RiskTally = ReturnType<typeof emptyRiskTally>;

export function emptyRiskTally() {
  return {
    levels: {low: 0, medium: 0, high: 0, unknown: 0},
    /** Sum of all scores. */
    sum: 0,
    /** Number of rows by the tens of their scores: 0 to 9, 10 to 19, …, 90 to 100. */
    histogram: Array.from({length: HISTOGRAM}, () => 0),
    reasons: {} as Record<string, number>,
    missing: {} as Record<string, number>,
    /** Numbers of the first rows of high risk. */
    highRows: [] as number[],
    /** Number of rows by the rule's index and its outcome. A rule that was false in every row is missing. */
    rules: {} as Record<number, OutcomeCounts>,
  };
}

export function countRisk(tally: RiskTally, {score, level, reasons, missing}: Risk, row: number): void {
  tally.levels[level] += 1;
  if (level === 'high' && tally.highRows.length < HIGH_ROWS) tally.highRows.push(row);
  for (const reason of reasons) countName(tally.reasons, reason);
  for (const signal of missing) countName(tally.missing, signal);
  if (score === null) return;
  tally.sum += score;
  const tens = Math.min(HISTOGRAM - 1, Math.floor(score / HISTOGRAM));
  tally.histogram[tens] = (tally.histogram[tens] ?? 0) + 1;
}

export function countRules({rules}: RiskTally, outcomes: RuleOutcomes): void {
  for (const outcome of ['held', 'undecided', 'wrong'] as const)
    for (const index of outcomes[outcome]) {
      rules[index] ??= zeroOutcomes();
      rules[index][outcome] += 1;
    }
}

/** The summary's `risk`: rows by level and score, and the job's own rules, not the default ones, with their counts. */
export function riskSummary(tally: RiskTally, rows: number, rules: RuleSet | undefined): RiskCounts {
  const {levels, sum, histogram, reasons, missing, highRows} = tally;
  const scored = levels.low + levels.medium + levels.high;
  const ownRules = (rules?.rules ?? []).flatMap((rule, index): CountedRule[] =>
    rule.own ? [{rule, counts: tally.rules[index] ?? zeroOutcomes()}] : [],
  );
  return {
    scored,
    unknown: levels.unknown,
    low: levels.low,
    medium: levels.medium,
    high: levels.high,
    high_rows: highRows,
    mean: scored === 0 ? null : Math.round((sum / scored) * 100) / 100,
    histogram,
    reasons: Object.fromEntries(rankByCount(reasons)),
    missing: Object.fromEntries(rankByCount(missing)),
    ...(rules && {levels: rules.levels, default_rules: rules.rules.some(({own}) => !own)}),
    rules: ownRules.map(({rule: {reason, when, add, shadow, description, owner}, counts}) => ({
      reason,
      when: truncateText(when),
      add,
      ...(shadow && {shadow}),
      ...(description !== undefined && {description}),
      ...(owner !== undefined && {owner}),
      ...counts,
    })),
    warnings: ruleWarnings(ownRules, rows),
  };
}

interface CountedRule {
  readonly rule: PlacedRule;
  readonly counts: OutcomeCounts;
}

const MOST_NAMED = 20;

/**
 * Warns of each rule that no row could decide, because its values were of the wrong type or missing in every row (most
 * likely a misspelt name). One more warning names the rules that never held: these names may be misspelt, too.
 */
function ruleWarnings(rules: readonly CountedRule[], rows: number): string[] {
  if (rows === 0) return [];
  const inNone = `in ${rows === 1 ? 'the only row' : `any of ${formatCount(rows)} rows`}`;
  const isUndecided = ({counts}: CountedRule) => counts.undecided + counts.wrong === rows;
  const warnings = rules.filter(isUndecided).map(({rule, counts}) => {
    const fault =
      counts.wrong === rows
        ? `could not use the values it reads ${inNone}, such as a text instead of a number`
        : `could not be decided ${inNone}, because something that it reads was always missing`;
    return `The rule ${rule.reason} (${rule.place}) ${fault}: ${truncateText(rule.when)}`;
  });
  const idle = rules.filter(each => each.counts.held === 0 && !isUndecided(each));
  if (idle.length === 0) return warnings;
  const named = idle.slice(0, MOST_NAMED).map(({rule}) => rule.reason);
  if (idle.length > MOST_NAMED) named.push('…');
  const subject = idle.length === 1 ? 'A rule' : `${idle.length} rules`;
  return [...warnings, `${subject} never held ${inNone}: ${named.join(', ')}`];
}
