import {packageFile} from '../../operations/package-files.ts';
import {Engine} from '../../score/language/engine.ts';
import {explainError} from '../../score/language/explain-error.ts';
import {checkWithSchema, readYaml, ServiceSetupError} from '../setup-error.ts';
import {type Rule, rulesSchema} from './access-rule.ts';
import {factTypes, type UserFacts} from './user-facts.ts';

/** A rule ready to be evaluated. */
export interface ReadyAccessRule extends Rule {
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
  const rules = checkWithSchema(rulesSchema, readYaml('rules', file), file, 'the file');
  const ids = new Set<string>();
  return rules.map(rule => {
    if (ids.has(rule.id)) throw new ServiceSetupError(`${where}: the rule ${rule.id} occurs twice`);
    ids.add(rule.id);
    return {...rule, matches: compile(rule, where)};
  });
}

/** Prepares a rule's condition. Declares the facts, so that a misspelt one is an error at start. */
function compile({id, when}: Rule, where: string): (facts: UserFacts) => boolean {
  const engine = new Engine(environment => {
    for (const [name, type] of Object.entries(factTypes)) environment.registerVariable(name, type);
  });
  try {
    const type = engine.typeOf(when);
    if (type !== 'bool') throw new Error(`is a ${type}, not a condition`);
    const {evaluate} = engine.compile(when);
    return facts => evaluate(facts) === true;
  } catch (error) {
    throw new ServiceSetupError(`${where}: the condition of ${id}: ${explainError(error as Error, when)}`);
  }
}
