import type {ScoreRules} from '../job/settings/score-rules.ts';
import {operationNames, operations} from '../operations/table.ts';

/**
 * The rules that apply where a job brings none. They read flags and statuses, and of the numbers only the verdict's
 * score: the ranges of the others are not in the interface.
 */
export const defaultRules: ScoreRules['rules'] = operationNames.flatMap(name => operations[name].rules);

/** From which score on a row is a medium or a high risk. */
export const defaultLevels: ScoreRules['levels'] = {medium: 30, high: 60};
