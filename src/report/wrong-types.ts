import {count, ranked} from './format.ts';

/** So many fields are named. */
const MOST_NAMED = 8;

/** Which fields came with another type than the interface's, and how often; undefined if none did. */
export function wrongTypesSentence(counts: Readonly<Record<string, number>>): string | undefined {
  const fields = ranked(counts);
  if (fields.length === 0) return undefined;
  const named = fields.slice(0, MOST_NAMED).map(([name, times]) => `${name} (${count(times)})`);
  const more = fields.length > MOST_NAMED ? ` and ${count(fields.length - MOST_NAMED)} more` : '';
  return `Fields of answers came with another type than the interface's: ${named.join(', ')}${more}. NDJSON output and the answer store keep them as they came. CSV leaves them empty, and rules don't read them.`;
}
