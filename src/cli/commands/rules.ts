import {exitCodes, UsageError} from '../../errors.ts';
import {pluralize} from '../../report/format.ts';
import {type TestedRule, testRules} from '../../score/rule-tests.ts';
import {readRulesFile} from '../../score/rules.ts';
import {annotation, inGitHubActions} from '../github.ts';
import {print, printWorkflowCommand} from '../terminal/printable.ts';

/** `bulk-enrich rules test FILE…`: runs the tests in rules files. */
export async function rulesTestCommand(paths: readonly string[]): Promise<number> {
  let failed = 0;
  for (const path of paths) failed += testFile(path);
  return failed === 0 ? exitCodes.ok : exitCodes.limit;
}

/** Runs the tests of one rules file, and returns how many failed. */
function testFile(path: string): number {
  const file = readRulesFile(path);
  const {tests, rules, unreached} = testRules(file);
  if (tests.length === 0)
    throw new UsageError(
      'score_rules',
      `${path} has no tests. Add them below "tests:"${file.isUnderScore ? ', within "score:"' : ''}, such as {answers: {ip: {is_tor_node: true}}, level: medium}.`,
    );
  const failed = tests.filter(({failures}) => failures.length > 0);
  for (const test of failed) tell(test);
  const passed = `${path}: ${tests.length - failed.length} of ${pluralize(tests.length, 'test')} passed.`;
  const unreachedRules =
    unreached.length === 0
      ? ''
      : ` No test reaches ${unreached.length} of ${pluralize(rules, 'rule')}: ${unreached.join(', ')}.`;
  print('stdout', `${passed}${unreachedRules}\n`);
  return failed.length;
}

function tell({name, place, failures}: TestedRule): void {
  const what = failures.join('; ');
  print('stdout', `FAILED ${place}: ${name}: ${what}.\n`);
  if (!inGitHubActions()) return;
  const [, file = '', line = '1'] = /^(.*?):(\d+)/.exec(place) ?? [];
  printWorkflowCommand(annotation('error', `bulk-enrich: ${name}`, what, {file, line: Number(line)}));
}
