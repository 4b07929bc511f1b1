import {z} from 'zod';
import {packageFile} from '../../operations/package-files.ts';
import type {VerifyData} from '../../operations/table.ts';
import {compileCondition, fieldReader} from '../../score/language/condition.ts';
import {createConditionChecker} from '../../score/language/expression.ts';
import {checkWithSchema, readServiceYaml, ServiceSetupError} from '../options.ts';
import {factTypes, type UserFacts} from './user-session.ts';

const ruleSchema = z.strictObject({
  id: z.string().min(1).max(64).describe('Unique in the file.'),
  name: z.string().min(1).max(200).describe('In words.'),
  source: z
    .enum(['bot', 'access'])
    .describe('bot: lowers the score, because a program is at work; access: decides who may pass.'),
  action: z
    .enum(['allow', 'block', 'flag'])
    .describe('allow: passes, even if other rules match; block: does not pass; flag: decides nothing.'),
  when: z.string().min(1).describe('A condition on the facts, in the Common Expression Language.'),
  weight: z.number().min(0).max(100).default(0).describe('Points that a match takes off the score.'),
  shadow: z.boolean().default(false).describe('True if a match is only shown, without effect.'),
});

/** A rules file (YAML or JSON): a list of rules. A verdict lists the rules that matched in this order. */
export const accessRulesSchema = z.array(ruleSchema).describe('Rules of the embedded service.');

export interface ReadyAccessRule extends z.infer<typeof ruleSchema> {
  matches(facts: UserFacts): boolean;
}

/**
 * The built-in rules. Their weights are our own choice: most for a program as user agent, then for impossible times.
 */
const SAMPLE = packageFile('samples/rules.yaml');

/** @throws ServiceSetupError that names the file, the rule and the fault */
export function loadAccessRules(path: string | undefined): ReadyAccessRule[] {
  const where = path ?? 'the default rules';
  const file = path ?? SAMPLE;
  const rules = checkWithSchema(accessRulesSchema, readServiceYaml('rules', file), file, 'the file');
  const ids = new Set<string>();
  const check = createConditionChecker(factTypes);
  return rules.map(rule => {
    if (ids.has(rule.id)) throw new ServiceSetupError(`${where}: the rule ${rule.id} occurs twice`);
    ids.add(rule.id);
    try {
      const expression = check(rule.when, `${where}: the condition of ${rule.id}`);
      const {decide} = compileCondition<UserFacts>(expression, path => fieldReader(facts => facts, path));
      return {...rule, matches: facts => decide(facts) === true};
    } catch (error) {
      throw new ServiceSetupError((error as Error).message);
    }
  });
}

interface Judgement {
  /** 0 for a bot, 100 for a human. */
  score: number;
  canPass: boolean;
  /** Every rule that matched, shadow ones included. */
  matched: NonNullable<VerifyData['rules']>;
}

/** Minimum score that passes unless a rule decides: our own choice, the middle of the scale. */
const PASS_FROM = 50;

/**
 * The score is 100 less the weights of matching bot rules. A matching `allow` rule lets a session pass, else a
 * `block` rule stops it, else the score decides. Shadow rules are shown, and change nothing.
 */
export function judgeSession(rules: readonly ReadyAccessRule[], facts: UserFacts): Judgement {
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
