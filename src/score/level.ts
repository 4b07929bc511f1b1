import type {RiskLevel} from './risk.ts';
import type {RuleSet} from './rules.ts';
import type {RowView} from './subjects.ts';

/** Harmless as far as is known is no low risk where something is not known that should be. */
export function levelOf(score: number, {medium, high}: RuleSet['levels'], blind: boolean): RiskLevel {
  if (score >= high) return 'high';
  if (score >= medium) return 'medium';
  return blind ? 'unknown' : 'low';
}

/** What a lookup's code says: whether it is a fault of the list, and so no word on the person. */
export type IsListFault = (index: number, code: string) => boolean;

/**
 * Whether a lookup that the rules read went wrong, or was never made for a fault of the list, or none of them has said
 * anything at all.
 */
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
