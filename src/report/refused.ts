import {many} from './format.ts';
import type {Summary} from './summary.ts';

export const PERHAPS_ACCOUNT = 'The cause may be the account, so the next run looks them up again.';

/** Sentences on values that were refused one after the other, with a leading space; empty without such values. */
export function streaksSentence({lookups}: Summary): string {
  const streaks = Object.entries(lookups).filter(([, counts]) => counts.refused_in_a_row > 0);
  if (streaks.length === 0) return '';
  const told = streaks.map(([name, counts]) => many(counts.refused_in_a_row, `${name} value`));
  return ` ${told.join(' and ')} in a row were refused, with nothing answered in between. ${PERHAPS_ACCOUNT}`;
}
