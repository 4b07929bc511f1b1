import {formatCount, rankByCount} from '../../report/format.ts';
import type {RuleCount} from '../../report/summary.ts';
import {truncateText} from '../../score/language/explain-error.ts';
import type {PlacedRule, RuleSet} from '../../score/rules.ts';
import type {Counters} from './counters.ts';

type Counts = Counters['risk']['rules'];

const NEVER = {held: 0, undecided: 0, wrong: 0};

/** The job's own rules, not the default ones, with their counts. */
function ruleSummary(counts: Counts, rules: RuleSet | undefined): RuleCount[] {
  return ownRules(rules).map(({rule: {reason, when, add, shadow, description, owner}, index}) => ({
    reason,
    when: truncateText(when),
    add,
    ...(shadow && {shadow}),
    ...(description !== undefined && {description}),
    ...(owner !== undefined && {owner}),
    ...(counts[index] ?? NEVER),
  }));
}

/**
 * Warns of each rule that no row could decide, because its values were of the wrong type or missing in
 * every row (most likely a misspelt name). One more warning names the rules that never held: these names
 * may be misspelt, too.
 */
function ruleWarnings(counts: Counts, rules: RuleSet | undefined, rows: number): string[] {
  if (rows === 0) return [];
  const inNone = `in ${rows === 1 ? 'the only row' : `any of ${formatCount(rows)} rows`}`;
  const idle: string[] = [];
  const warnings = ownRules(rules).flatMap(({rule, index}) => {
    const {held, undecided, wrong} = counts[index] ?? NEVER;
    const fault =
      wrong === rows
        ? `could not use the values it reads ${inNone}, such as a text instead of a number`
        : `could not be decided ${inNone}, because something that it reads was always missing`;
    if (undecided + wrong === rows)
      return [`The rule ${rule.reason} (${rule.place}) ${fault}: ${truncateText(rule.when)}`];
    if (held === 0) idle.push(rule.reason);
    return [];
  });
  if (idle.length === 0) return warnings;
  const named = `${idle.slice(0, MOST_NAMED).join(', ')}${idle.length > MOST_NAMED ? ', …' : ''}`;
  const some = idle.length === 1 ? 'A rule' : `${idle.length} rules`;
  return [...warnings, `${some} never held ${inNone}: ${named}`];
}

const MOST_NAMED = 20;

function ownRules(rules: RuleSet | undefined): {readonly rule: PlacedRule; readonly index: number}[] {
  return (rules?.rules ?? []).flatMap((rule, index) => (rule.own ? [{rule, index}] : []));
}

/** Counts of rows by level and score, and of rules that held. */
export function riskSummary({risk, rows}: Counters, rules: RuleSet | undefined) {
  const {low, medium, high, unknown} = risk.levels;
  const scored = low + medium + high;
  return {
    scored,
    unknown,
    low,
    medium,
    high,
    high_rows: risk.highRows,
    mean: scored === 0 ? null : Math.round((risk.sum / scored) * 100) / 100,
    histogram: risk.histogram,
    reasons: Object.fromEntries(rankByCount(risk.reasons)),
    missing: Object.fromEntries(rankByCount(risk.missing)),
    ...(rules && {levels: rules.levels, default_rules: rules.rules.some(({own}) => !own)}),
    rules: ruleSummary(risk.rules, rules),
    warnings: ruleWarnings(risk.rules, rules, rows.written),
  };
}
