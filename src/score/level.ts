import type {RiskLevel} from './risk.ts';
import type {RuleSet} from './rules.ts';
import type {RowView} from './subjects.ts';

/** Level of a score. A low score is `unknown` if an answer that the rules need is missing. */
export function levelOf(score: number, {medium, high}: RuleSet['levels'], blind: boolean): RiskLevel {
  if (score >= high) return 'high';
  if (score >= medium) return 'medium';
  return blind ? 'unknown' : 'low';
}

/** True if a lookup's code is a fault of the list, which tells nothing about the person. */
export type IsListFault = (index: number, code: string) => boolean;

/** True if a lookup that the rules read failed, if a fault of the list prevented it, or if none has an answer. */
export function isBlind({results}: RowView, relevant: readonly number[], isListFault: IsListFault): boolean {
  let heard = relevant.length === 0;
  for (const index of relevant) {
    const result = results[index];
    if (result === undefined || result.status === 'empty') continue;
    if (result.status === 'failed' || result.status === 'unknown') return true;
    if (result.status === 'invalid' && isListFault(index, result.error ?? '')) return true;
    if (result.status === 'skipped') {
      if (result.error !== 'condition') return true;
    } else heard = true;
  }
  return !heard;
}
