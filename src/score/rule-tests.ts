import {createCellReader, type Target} from '../columns/targets.ts';
import {UsageError} from '../errors.ts';
import type {InputFormat} from '../input/row.ts';
import type {ScoreRules} from '../job/settings/score-rules.ts';
import {type Operation, operationNames, operations} from '../operations/table.ts';
import {didYouMean} from '../sentence.ts';
import {type SharedCountName, type SharedCounts, sharedCountNames} from './language/rule-variables.ts';
import {assembleRuleSet, type RuleSet, type RulesFile} from './rules.ts';
import {makeRunFacts} from './run-facts.ts';
import {createScorer} from './scorer.ts';
import type {LookupStatus} from './subjects.ts';

type RuleTest = ScoreRules['tests'][number];

export interface TestedRule {
  readonly name: string;
  /** The test's file, line and key, for messages. */
  readonly place: string;
  /** Differences from the expected result; empty if the test passed. */
  readonly failures: readonly string[];
}

export interface TestedRules {
  readonly tests: readonly TestedRule[];
  readonly rules: number;
  /** Reasons of the file's own rules that were true in no test. */
  readonly unreached: readonly string[];
}

const FORMAT: InputFormat = {kind: 'ndjson', eol: '\n', bom: false, encoding: 'utf-8', columns: []};

/** @throws {UsageError} if the rules or a test can't be read. */
export function testRules({rules, placeOf}: RulesFile): TestedRules {
  const ruleSet = assembleRuleSet(rules, placeOf);
  const names = lookupsIn(rules);
  const reached = new Set<number>();
  const tests = rules.tests.map((test, index): TestedRule => {
    const place = placeOf(['tests', index]);
    const {risk, outcomes} = judged(ruleSet, names, test, place);
    for (const held of outcomes.held) reached.add(held);
    const {score, level, reasons} = test;
    const compared = [
      ['score', risk.score, score],
      ['level', risk.level, level],
      ['reasons', listed(risk.reasons), reasons && listed(reasons)],
    ] as const;
    const failures = compared
      .filter(([, is, expected]) => expected !== undefined && expected !== is)
      .map(([what, is, expected]) => `${what} ${is}, expected ${expected}`);
    return {name: test.name ?? `test ${index + 1}`, place, failures};
  });
  const ofFile = ruleSet.rules.flatMap(({own, reason}, index) => (own ? [{reason, index}] : []));
  const unreached = ofFile.filter(({index}) => !reached.has(index)).map(({reason}) => reason);
  return {tests, rules: ofFile.length, unreached};
}

function listed(reasons: readonly string[]): string {
  return [...reasons].sort().join(', ') || 'none';
}

/** All operations, and the names that rules and tests give to single columns, such as `signup_ip`. */
function lookupsIn({rules, tests}: ScoreRules): readonly string[] {
  const columnName = new RegExp(`(?<![.\\w])\\w+_(?:${operationNames.join('|')})\\b`, 'g');
  const read = rules.flatMap(({when}) => when.match(columnName) ?? []);
  const given = tests.flatMap(({answers, status, error, shared}) => [
    ...[answers, status, error].flatMap(Object.keys),
    ...Object.keys(shared).filter(name => typeof shared[name] === 'object'),
  ]);
  return [...new Set([...operationNames, ...read, ...given])];
}

function judged(ruleSet: RuleSet, names: readonly string[], test: RuleTest, place: string) {
  const {answers, status, error, row, now} = test;
  const targets = names.map(name => targetOf(name, place));
  for (const [name, answer] of Object.entries(answers))
    refuseUnknown(`${name}.`, answer, Object.keys(operations[operationOf(name) ?? 'ip'].data.shape), place);
  const shared = sharedIn(test, targets, place);
  const background = makeRunFacts(ruleSet, now === undefined ? 0 : Date.parse(now));
  return createScorer(ruleSet, targets, FORMAT, background).score({
    row: {type: 'object', record: 1, line: 1, value: row, bytes: 0},
    results: names.map((name, index): LookupStatus => {
      const code = error[name];
      const isGiven = (answers[name] ?? shared[index]) !== undefined;
      return {status: status[name] ?? (isGiven ? 'ok' : 'empty'), ...(code !== undefined && {error: code})};
    }),
    answers: names.map(name => answers[name]),
    isPartial: true,
    shared,
  });
}

/** A test's facts of the list: those with a name of their own are of the operation's column. */
function sharedIn({shared}: RuleTest, targets: readonly Target[], place: string): SharedCounts {
  const counts = Object.fromEntries(Object.entries(shared).filter(([, value]) => typeof value === 'number'));
  refuseUnknown('shared.', counts, Object.values(sharedCountNames).flat(), place);
  return targets.map(({operation, column}) => {
    const facts: readonly SharedCountName[] = sharedCountNames[operation];
    const named = shared[column];
    const isOwn = operation !== column;
    if (typeof named === 'object') refuseUnknown(`shared.${column}.`, named, isOwn ? facts : [], place);
    const given = isOwn ? named : counts;
    if (typeof given !== 'object') return undefined;
    return facts.some(fact => given[fact] !== undefined) ? given : undefined;
  });
}

/** The operation with which a lookup's name ends: `ip` for `ip` and `signup_ip`; undefined for any other name. */
function operationOf(name: string): Operation | undefined {
  return operationNames.find(operation => `_${name}`.endsWith(`_${operation}`));
}

function targetOf(name: string, place: string): Target {
  const operation = operationOf(name);
  if (operation === undefined)
    throw new UsageError(
      'score_rules',
      `${place}: "${name}" is not a lookup. Write ${operationNames.join(', ')}, or a column's own name that ends with one, such as signup_ip.`,
    );
  return {operation, column: name, prefix: `${name}_`, cell: createCellReader(name, [])};
}

/** Refuses a misspelt name. Otherwise the right one would be missing, and the test would prove nothing. */
function refuseUnknown(prefix: string, given: object, known: readonly string[], place: string): void {
  const odd = Object.keys(given).find(name => !known.includes(name));
  if (odd !== undefined)
    throw new UsageError(
      'score_rules',
      `${place}: there is no field "${prefix}${odd}".${didYouMean(odd, known)}`,
    );
}
