import type {z} from 'zod';
import {type Target, targetKey} from '../columns/targets.ts';
import {UsageError} from '../errors.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {SettingLocator} from '../job/parse.ts';
import {compileCondition, fieldReader} from './language/condition.ts';
import {createConditionChecker, type PathReference} from './language/expression.ts';
import {type RuleVocabulary, riskVocabulary, typeAtPath, typeOfSchema} from './language/rule-variables.ts';
import type {RunFacts} from './run-facts.ts';
import type {Scorer} from './scorer.ts';
import {
  createConditionCompiler,
  findSubjects,
  type RowCondition,
  type RowView,
  type Subjects,
} from './subjects.ts';

/** Returns true if the row is looked up. Returns false if the filter is false for the row, or can't be decided. */
export type RowFilter = (row: Row) => boolean;

/** @throws {UsageError} if `where` is not a condition, or reads an unknown name. */
export function createRowFilter(
  where: string,
  format: InputFormat,
  background: RunFacts,
  placeOf: SettingLocator,
): RowFilter {
  refuseNumbers(where, format, placeOf);
  const {decide} = createConditionCompiler(new Map(), format, background)(where, placeOf(['where']));
  return row => decide({row, results: [], answers: []}) === true;
}

/** A cell that is compared with a number: `row.id == 5`. */
const WITH_NUMBER = /\brow(?:\.\w+|\[[^\]]*\])\s*[!=<>]=?\s*(-?\d+(?:\.\d+)?)(?![\w.])/;

/** @throws {UsageError} if a condition compares a cell of a CSV, which is a text, with a number. */
function refuseNumbers(where: string, format: InputFormat, placeOf: SettingLocator): void {
  const number = format.kind === 'csv' ? WITH_NUMBER.exec(where)?.[1] : undefined;
  if (number === undefined) return;
  throw new UsageError(
    'settings',
    `${placeOf(['where'])}: write "${number}": cells are texts. To compare as numbers: double(row.COLUMN) > 5.`,
  );
}

/** The lookups with a condition (`when`), in stages: one is decided once those before it are answered. */
export interface LookupConditions {
  readonly reads: readonly PathReference[];
  /** Indexes of lookups by stage. The first stage follows the answers to lookups without a condition. */
  readonly stages: readonly (readonly number[])[];
  /** Returns a test: is the lookup at `index` made? `view` must have the answers of all stages before it. */
  asks(view: RowView): (index: number) => boolean;
}

interface ReadyCondition {
  readonly condition: RowCondition;
  /** Lookups that this condition reads and that have conditions of their own, which are decided first. */
  readonly after: readonly number[];
  readonly place: string;
}

/**
 * Compiles the conditions (`when`) of lookups; undefined if no lookup has one. They read the row, the answers of
 * earlier lookups, and their score. One of an operation of several columns must hold for one of them.
 *
 * @throws {UsageError} if a `when` is not a condition, or depends on itself.
 */
export function compileLookupConditions(
  targets: readonly Target[],
  format: InputFormat,
  scorer: Scorer | undefined,
  background: RunFacts,
  placeOf: SettingLocator,
): LookupConditions | undefined {
  if (targets.every(({when}) => when === undefined)) return undefined;
  const subjects = readableSubjects(targets);
  const more = scorer === undefined ? {} : riskVocabulary;
  const compileOf = createConditionCompiler(subjects, format, background, more);
  const ready = targets.map(({when, operation}): ReadyCondition | undefined => {
    if (when === undefined) return undefined;
    const place = placeOf([operation, 'when']);
    const condition = compileOf(when, place);
    const read = new Set(condition.alternatives.flatMap(({chosen}) => [...chosen.values()]));
    return {condition, after: [...read].filter(index => targets[index]?.when !== undefined), place};
  });
  const conditions = ready.flatMap(one => (one === undefined ? [] : [one.condition]));
  return {
    reads: conditions.flatMap(({references}) => references),
    stages: stagesOf(ready, index => targetKey(targets, index)),
    asks: view => {
      const judged = {...view, risk: scorer?.soFar(view)};
      return index => ready[index]?.condition.decide(judged) === true;
    },
  };
}

/** The names of conditions. An operation's name stands for its columns without `when`, or else for all. */
function readableSubjects(targets: readonly Target[]): Subjects {
  const subjects = [...findSubjects(targets)].map(([name, {operation, targets: all}]) => {
    const always = all.filter(index => targets[index]?.when === undefined);
    return [name, {operation, targets: always.length > 0 ? always : all}] as const;
  });
  return new Map(subjects.filter(([, subject]) => subject.targets.length > 0));
}

/** Puts each lookup into the stage after the last stage that it waits for. */
function stagesOf(
  ready: readonly (ReadyCondition | undefined)[],
  nameOf: (index: number) => string,
): number[][] {
  const stageOf = (index: number, waiting: readonly number[]): number => {
    const {after, place} = ready[index] as ReadyCondition;
    const chain = [...waiting, index];
    if (waiting.includes(index))
      throw new UsageError(
        'circular_when',
        `${place}: this lookup would wait for itself: ${chain.map(nameOf).join(', which waits for ').replace(', which', '')}.`,
      );
    return Math.max(-1, ...after.map(other => stageOf(other, chain))) + 1;
  };
  const stages: number[][] = [];
  for (const [index, condition] of ready.entries()) {
    if (condition === undefined) continue;
    const stage = stageOf(index, []);
    stages[stage] = [...(stages[stage] ?? []), index];
  }
  return stages;
}

export interface FailCondition {
  readonly text: string;
  /** Undefined if the summary lacks a figure that the expression reads, such as a mean when there are no rows. */
  exceeded(summary: object): boolean | undefined;
}

/**
 * Checks thresholds against the schema of the summary.
 *
 * @throws {UsageError} if a threshold is not a condition, or reads an unknown field.
 */
export function compileFailConditions(
  texts: readonly string[],
  summary: z.ZodObject,
  placeOf: SettingLocator,
): FailCondition[] {
  if (texts.length === 0) return [];
  const vocabulary = vocabularyOf(summary);
  const check = createConditionChecker(vocabulary);
  return texts.map((text, index) => {
    const condition = compileCondition<object>(check(text, placeOf(['failIf', index])), path => {
      const read = fieldReader<object>(found => found, path);
      const owner = path.slice(0, -1);
      if (typeAtPath(vocabulary, owner)?.kind !== 'map') return read;
      // The summary leaves counts of 0 out.
      const counts = fieldReader<object>(found => found, owner);
      return found => read(found) ?? (counts(found) === undefined ? undefined : 0);
    });
    return {text, exceeded: found => condition.decide(found)};
  });
}

function vocabularyOf(schema: z.ZodObject): RuleVocabulary {
  const type = typeOfSchema(schema);
  return type.kind === 'object' ? type.fields : {};
}
