import type {z} from 'zod';
import type {PlaceOf} from '../job/parse.ts';
import {compileCondition} from './language/condition.ts';
import {conditionChecker, type Reference} from './language/expression.ts';
import {type RuleVocabulary, typeAtPath, typeOfSchema} from './language/rule-vocabulary.ts';

/** An expression over the summary that fails the run if it is true. */
export interface Threshold {
  readonly text: string;
  /** Undefined if the summary lacks a figure that the expression reads, such as a mean when there are no rows. */
  exceeded(summary: object): boolean | undefined;
}

/**
 * Checks thresholds against the schema of the summary.
 *
 * @throws {UsageError} if a threshold is not a condition, or reads an unknown field.
 */
export function createThresholds(
  texts: readonly string[],
  summary: z.ZodObject,
  placeOf: PlaceOf,
): Threshold[] {
  if (texts.length === 0) return [];
  const vocabulary = vocabularyOf(summary);
  const check = conditionChecker(vocabulary);
  return texts.map((text, index) => {
    const condition = compileCondition(check(text, placeOf(['failIf', index])));
    const counts = condition.references.filter(
      ({path}) => typeAtPath(vocabulary, path.slice(0, -1))?.kind === 'counts',
    );
    return {text, exceeded: found => condition.decide(withCounts(found, counts))};
  });
}

function vocabularyOf(schema: z.ZodObject): RuleVocabulary {
  const type = typeOfSchema(schema);
  return type.kind === 'object' ? type.fields : {};
}

/** Returns the summary, with 0 for each of `counts` that it lacks: the summary leaves counts of 0 out. */
function withCounts(summary: object, counts: readonly Reference[]): Readonly<Record<string, unknown>> {
  if (counts.length === 0) return summary as Record<string, unknown>;
  const copy = structuredClone(summary) as Record<string, Record<string, Record<string, number>>>;
  for (const {path} of counts) {
    const [group = '', figure = '', name = ''] = path;
    const found = copy[group]?.[figure];
    if (found !== undefined) found[name] ??= 0;
  }
  return copy;
}
