import type {ScoreRules} from '../job/settings/score-rules.ts';
import {operationNames, operations} from '../operations/table.ts';

/**
 * The rules of a job without its own. They read flags, statuses and one number, the verdict's score: the service's
 * interface does not give the ranges of other numbers.
 */
export const defaultRules: ScoreRules['rules'] = operationNames.flatMap(name => operations[name].rules);

/** Scores from which a row is of medium or high risk. */
export const defaultLevels: ScoreRules['levels'] = {medium: 30, high: 60};
