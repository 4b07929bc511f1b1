import {makeTargets, type Target} from '../../src/columns/targets.ts';
import type {InputFormat, Row} from '../../src/input/row.ts';
import type {ScoreRules} from '../../src/job/settings/score-rules.ts';
import type {CellResult} from '../../src/ledger/lookup-outcome.ts';
import {operationNames} from '../../src/operations/table.ts';
import {type Condition, compileCondition, fieldReader} from '../../src/score/language/condition.ts';
import {createConditionChecker} from '../../src/score/language/expression.ts';
import {createAnswerVocabulary} from '../../src/score/language/rule-variables.ts';
import {makeRunFacts} from '../../src/score/run-facts.ts';
import {createScorer, type Risk, type Scorer} from '../../src/score/scorer.ts';
import type {RowView} from '../../src/score/subjects.ts';
import {whole} from '../support/whole.ts';

const columns = ['ip', 'ip2', 'phone', 'email', 'token', 'country', 'first name'];
export const format = whole<InputFormat>({kind: 'csv', columns});

/** Targets by operation: one column each, named as the operation, or these. */
export function targets(of: Partial<Record<(typeof operationNames)[number], readonly string[]>>): Target[] {
  return operationNames.flatMap(operation => {
    const choices = (of[operation] ?? []).map(column => ({column}));
    return makeTargets(operation, choices, columns);
  });
}

/** A condition over all operations, these columns, and these constants. */
export function condition(
  text: string,
  place = 'rules.yaml:1',
  constants: ScoreRules['constants'] = {},
): Condition<Readonly<Record<string, unknown>>> {
  const operations = Object.fromEntries(operationNames.map(name => [name, name]));
  const {vocabulary} = makeRunFacts({constants, lists: {}}, 0);
  const names = {...vocabulary, ...createAnswerVocabulary(operations, columns)};
  const check = createConditionChecker(names, {constant: constants});
  return compileCondition(check(text, place), path => fieldReader(facts => facts, path));
}

export function scorer(
  of: readonly Target[],
  ...rules: readonly [when: string, add: number, reason: string, shadow?: 'shadow'][]
): {readonly score: (view: RowView) => Risk} & Pick<Scorer, 'soFar'> {
  const placed = rules.map(([when, add, reason, shadow]) => {
    const rule = {when, add, reason, place: `the rule ${reason}`, own: true};
    return shadow ? {...rule, shadow: true} : rule;
  });
  const all = {rules: placed, levels: {medium: 30, high: 60}, constants: {}, lists: {}};
  const {score, soFar} = createScorer(all, of, format, makeRunFacts(undefined, 0));
  return {score: given => score(given).risk, soFar};
}

const row: Row = {type: 'csv', record: 1, line: 2, fields: ['', '', '', '', '', 'US', 'Test']};

/** A row with these results; an object is an answer, undefined what is not known yet. */
export function view(...given: readonly (CellResult | object | undefined)[]): RowView {
  const results = given.map((some): CellResult | undefined =>
    some === undefined || 'status' in some
      ? (some as CellResult)
      : {status: 'ok', data: JSON.stringify(some), boughtAt: 0},
  );
  const answers = results.map(result => {
    const data = result && 'data' in result ? result.data : undefined;
    return data && JSON.parse(data);
  });
  return {row, results, answers};
}
