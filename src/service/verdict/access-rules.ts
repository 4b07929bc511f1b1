import {packageFile} from '../../operations/package-files.ts';
import {compileCondition, fieldReader} from '../../score/language/condition.ts';
import {createConditionChecker} from '../../score/language/expression.ts';
import {checkWithSchema, readServiceYaml, ServiceSetupError} from '../setup-error.ts';
import {type AccessRule, accessRulesSchema} from './access-rule.ts';
import {factTypes, type UserFacts} from './user-facts.ts';

/** A rule ready to be evaluated. */
export interface ReadyAccessRule extends AccessRule {
  matches(facts: UserFacts): boolean;
}

/**
 * File of the built-in rules. The weights are our own choice: a user agent that names a program weighs most, then
 * impossible times, then unusual traits.
 */
const SAMPLE = packageFile('samples/rules.yaml');

/**
 * The rules of a file, or the built-in ones.
 *
 * @throws ServiceSetupError that names the file, the rule and the fault
 */
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
