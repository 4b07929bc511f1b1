import {formatCount, pluralize, rankByCount} from './format.ts';
import type {Summary} from './summary.ts';

/** Sentences on a run, by its summary. Each begins with a space, and is empty if there is nothing to tell. */

export const PERHAPS_ACCOUNT = 'The cause may be the account, so the next run looks them up again.';

/** Values that were refused one after the other. */
export function streaksSentence({lookups}: Summary): string {
  const streaks = Object.entries(lookups).filter(([, counts]) => counts.refused_in_a_row > 0);
  if (streaks.length === 0) return '';
  const told = streaks.map(([name, counts]) => pluralize(counts.refused_in_a_row, `${name} value`));
  return ` ${told.join(' and ')} in a row were refused, with nothing answered in between. ${PERHAPS_ACCOUNT}`;
}

/** Costs of trouble with the answer store. */
export function storeSentence({store}: {readonly store?: Summary['store']}): string {
  if (!store) return '';
  const {trouble, not_looked_up: unread, perhaps_paid_again: credits, not_stored: unwritten} = store;
  const paid = `${pluralize(unread, 'value')} could not be looked up in it, so up to ${pluralize(credits, 'credit')} may have been paid again`;
  const lost = `${pluralize(unwritten, 'answer')} could not be kept for the next run`;
  const costs = [...(unread === 0 ? [] : [paid]), ...(unwritten === 0 ? [] : [lost])];
  if (costs.length === 0) return '';
  return ` The answer store could not be used${trouble === null ? ' for a while' : ` (${trouble})`}: ${costs.join('; ')}.`;
}

/** Maximum number of fields that a sentence names. */
const MOST_NAMED = 8;

/** Answer fields whose type differs from the API's, with counts. */
export function wrongTypesSentence({calls}: Summary): string {
  const fields = rankByCount(calls.wrong_types);
  if (fields.length === 0) return '';
  const named = fields.slice(0, MOST_NAMED).map(([name, times]) => `${name} (${formatCount(times)})`);
  const more = fields.length > MOST_NAMED ? ` and ${formatCount(fields.length - MOST_NAMED)} more` : '';
  return ` Fields of answers came with another type than the interface's: ${named.join(', ')}${more}. NDJSON output and the answer store keep them as they came. CSV leaves them empty, and rules don't read them.`;
}
