import type {InputFormat, Row} from '../input/row.ts';
import type {PlaceOf} from '../job/parse.ts';
import type {Target} from '../lookup/targets.ts';
import {operationNames} from '../operations/table.ts';
import {type Condition, compile} from './condition.ts';
import {conditionChecker} from './expression.ts';
import type {Scorer} from './scorer.ts';
import {
  type Combination,
  chosen,
  combinationsOf,
  factsReader,
  knownColumns,
  type RowView,
  rowReader,
  subjectsOf,
} from './subjects.ts';
import {answerVocabulary, riskVocabulary, rowVocabulary} from './vocabulary.ts';

type Format = Pick<InputFormat, 'kind' | 'columns'>;

/** Whether a row is worth asking about: where its condition can't be decided, it is not. */
export type RowFilter = (row: Row) => boolean;

/** @throws {UsageError} when `where` is no condition over the row's columns. */
export function createRowFilter(where: string, format: Format, placeOf: PlaceOf): RowFilter {
  const condition = compile(conditionChecker(rowVocabulary(knownColumns(format)))(where, placeOf(['where'])));
  const read = rowReader([condition], format.columns);
  return row => condition.decide({row: read?.(row)}) === true;
}

/** Which of the lookups that have a condition are worth asking, once all that have none are answered. */
export type AskWhich = (view: RowView) => (index: number) => boolean;

interface ReadyCondition {
  readonly condition: Condition;
  readonly combinations: readonly Combination[];
}

/**
 * The conditions (`when`) of lookups. Each reads the row, the answers of the lookups without a condition, and the
 * score that these come to; it holds if it does for any of several columns. Undefined where no lookup has one.
 *
 * @throws {UsageError} when one is no condition, or reads a lookup that has a condition itself.
 */
export function createConditions(
  targets: readonly Target[],
  format: Format,
  scorer: Scorer | undefined,
  placeOf: PlaceOf,
): AskWhich | undefined {
  if (targets.every(({when}) => when === undefined)) return undefined;
  const subjects = new Map(
    [...subjectsOf(targets, operationNames)]
      .map(([name, {operation, targets: own}]) => {
        return [name, {operation, targets: own.filter(index => targets[index]?.when === undefined)}] as const;
      })
      .filter(([, subject]) => subject.targets.length > 0),
  );
  const operations = Object.fromEntries([...subjects].map(([name, {operation}]) => [name, operation]));
  const check = conditionChecker({
    ...answerVocabulary(operations, knownColumns(format)),
    ...(scorer === undefined ? {} : riskVocabulary),
  });
  const ready = targets.map(({when, operation}): ReadyCondition | undefined => {
    if (when === undefined) return undefined;
    const condition = compile(check(when, placeOf([operation, 'when'])));
    return {condition, combinations: combinationsOf(condition, subjects) ?? []};
  });
  const conditions = ready.flatMap(some => (some === undefined ? [] : [some.condition]));
  const readFacts = factsReader(subjects, rowReader(conditions, format.columns));
  return view => {
    const facts = {...readFacts(view), risk: scorer?.soFar(view)};
    return index => {
      const some = ready[index];
      if (some === undefined) return true;
      return some.combinations.some(
        combination => some.condition.decide(chosen(facts, view, combination)) === true,
      );
    };
  };
}
