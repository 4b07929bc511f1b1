import type {VerifyData} from '../../operations/table.ts';
import type {ReadyAccessRule} from './access-rules.ts';
import type {UserFacts} from './user-facts.ts';

export interface Judgement {
  /** 0 for a bot, 100 for a human. */
  score: number;
  canPass: boolean;
  /** Every rule that matched, shadow ones included. */
  matched: NonNullable<VerifyData['rules']>;
}

/** Minimum score that passes unless a rule decides: our own choice, the middle of the scale. */
const PASS_FROM = 50;

/**
 * The score is 100 less the weights of matching bot rules. A matching `allow` rule lets a session pass.
 * Without one, a matching `block` rule stops it. Without both, the score decides. Shadow rules are shown,
 * and change nothing.
 */
export function judge(rules: readonly ReadyAccessRule[], facts: UserFacts): Judgement {
  const matched = rules.filter(rule => rule.matches(facts));
  const effective = matched.filter(({shadow}) => !shadow);
  const weights = effective.filter(({source}) => source === 'bot').map(({weight}) => weight);
  const score = Math.max(0, 100 - weights.reduce((sum, weight) => sum + weight, 0));
  const has = (action: string): boolean => effective.some(rule => rule.action === action);
  return {
    score,
    canPass: has('allow') || (!has('block') && score >= PASS_FROM),
    matched: matched.map(({action, name, id, source, shadow}) => ({action, name, id, source, shadow})),
  };
}
