import type {ScoreRules} from '../job/settings/score-rules.ts';
import {operationNames, operations} from '../operations/table.ts';

/**
 * The rules of a job without its own. They read flags and statuses, and of the numbers only the verdict's score: the
 * interface does not give the ranges of the others.
 */
export const defaultRules: ScoreRules['rules'] = operationNames.flatMap(name => operations[name].rules);

/** Scores from which a row is of medium or high risk. */
export const defaultLevels: ScoreRules['levels'] = {medium: 30, high: 60};
