import {ranked} from '../../report/format.ts';
import type {RuleSet} from '../../score/rules.ts';
import type {Counters} from './counters.ts';
import {ruleSummary, ruleWarnings} from './rule-counts.ts';

/** How risky the rows are, and by which rules. */
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
    reasons: Object.fromEntries(ranked(risk.reasons)),
    missing: Object.fromEntries(ranked(risk.missing)),
    ...(rules && {levels: rules.levels, default_rules: rules.rules.some(({own}) => !own)}),
    rules: ruleSummary(risk.rules, rules),
    warnings: ruleWarnings(risk.rules, rules, rows.written),
  };
}
