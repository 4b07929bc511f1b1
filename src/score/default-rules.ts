import {type ScoreRules, scoreRules} from '../job/settings/score-rules.ts';
import {operationNames, operations} from '../operations/table.ts';

/**
 * The rules of a job without rules of its own. They read flags, error codes, and one number: the verdict's score.
 * The service's interface gives no range for its other numbers.
 */
export const defaultRules: ScoreRules['rules'] = operationNames.flatMap(name => operations[name].rules);

/** Scores from which a row is of medium or high risk. */
export const defaultLevels: ScoreRules['levels'] = scoreRules.parse({}).levels;
