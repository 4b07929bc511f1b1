import type {Price, Summary} from './summary.ts';

/** `1234567` → `1,234,567`. */
export function formatCount(value: number): string {
  // The first `toLocaleString` loads V8's tables of languages, so small numbers are formatted without it.
  if (Number.isInteger(value) && Math.abs(value) < 1_000) return String(value);
  return value.toLocaleString('en-US', {maximumFractionDigits: 2});
}

/** Milliseconds → `850 ms`, `12 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${twoDigits(Math.floor((seconds % 3_600) / 60))} min`;
}

/** A share of a whole: `12%`, `3.4%`, `< 0.1%`; `–` if the whole is 0. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.1) return '< 0.1%';
  if (value < 100 && value > 99.9) return '> 99.9%';
  return `${value.toLocaleString('en-US', {maximumFractionDigits: value < 10 || value > 99 ? 1 : 0})}%`;
}

/** `1536` → `1.5 KiB`. */
export function formatBytes(value: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [size, unit] = [value, 0];
  while (size >= 1_024 && unit < units.length - 1) [size, unit] = [size / 1_024, unit + 1];
  return `${size.toLocaleString('en-US', {maximumFractionDigits: unit === 0 ? 0 : 1})} ${units[unit]}`;
}

/** `2026-01-05T07:29:16.123Z` → `5 Jan 2026, 07:29 UTC`. */
export function formatMoment(iso: string): string {
  const parts = {day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC'} as const;
  return `${new Date(iso).toLocaleDateString('en-GB', parts)}, ${iso.slice(11, 16)} UTC`;
}

/** Names with their counts, the most common first, then in alphabetical order. */
export function rankByCount(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

export function pluralize(value: number, singular: string): string {
  return `${formatCount(value)} ${value === 1 ? singular : `${singular}s`}`;
}

export function formatMoney(credits: number, price: Price): string {
  return formatAmount(credits * price.per_credit, price.currency);
}

/** An amount of money: `2.62 EUR`. Amounts below 0.10 have two significant digits. */
export function formatAmount(amount: number, currency: string): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.1;
  const digits = isSmall
    ? {maximumSignificantDigits: 2}
    : {minimumFractionDigits: 2, maximumFractionDigits: 2};
  return `${amount.toLocaleString('en-US', digits)} ${currency}`;
}

/** Characters that steer a terminal: C0, C1 and DEL, except tab and line feed, and marks of writing direction. */
const CONTROL = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text without control characters: reports are read in terminals and CI logs too. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL, '');
}

/** Escapes all in a JSON text that steers a terminal or a CI log. `JSON.stringify` only escapes C0. */
export function escapeJsonControls(json: string): string {
  return json
    .replace(CONTROL, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/##(?=\[|vso\[)/g, '#\\u0023');
}

/** The first rows of `count`: `4, 17, 18, …`. */
export function listRows(first: readonly number[], count: number): string {
  return `${first.join(', ')}${count > first.length ? ', …' : ''}`;
}

/** The text of the summary's file: indented, but with short lists on one line. */
export function summaryJson(summary: Summary): string {
  const indented = escapeJsonControls(JSON.stringify(summary, null, 2));
  return `${indented.replace(/\[\n[^[\]{}]*\]/g, list => list.replace(/\n\s*/g, ' ').replace('[ ', '[').replace(/ \]$/, ']'))}\n`;
}

/** Sentences on a run, by its summary. Each begins with a space, and is empty if there is nothing to tell. */

export const PERHAPS_ACCOUNT = 'The cause may be the account, so the next run looks them up again.';

export function refusalStreaksSentence({lookups}: Summary): string {
  const streaks = Object.entries(lookups).filter(([, counts]) => counts.refused_in_a_row > 0);
  if (streaks.length === 0) return '';
  const values = streaks.map(([name, counts]) => pluralize(counts.refused_in_a_row, `${name} value`));
  return ` ${values.join(' and ')} in a row were refused, with nothing answered in between. ${PERHAPS_ACCOUNT}`;
}

/** `why`: codes for why no call was possible. The run's own reason may be another, such as `fail_if`. */
export function staleSentence({lookups}: Summary, why: readonly string[] = []): string {
  const stale = Object.values(lookups).reduce((sum, counts) => sum + counts.stale, 0);
  const codes = why.length === 0 ? '' : ` (${why.join(', ')})`;
  return stale === 0 ? '' : ` ${pluralize(stale, 'lookup')} used an answer past its age${codes}.`;
}

export function storeTroubleSentence({store}: {readonly store?: Summary['store']}): string {
  if (!store) return '';
  const {trouble, not_looked_up: unread, perhaps_paid_again: credits, not_stored: unwritten} = store;
  const costs: string[] = [];
  if (unread > 0)
    costs.push(
      `${pluralize(unread, 'value')} could not be looked up in it, so up to ${pluralize(credits, 'credit')} may have been paid again`,
    );
  if (unwritten > 0) costs.push(`${pluralize(unwritten, 'answer')} could not be kept for the next run`);
  if (costs.length === 0) return '';
  return ` The answer store could not be used${trouble === null ? ' for a while' : ` (${trouble})`}: ${costs.join('; ')}.`;
}

const MOST_NAMED = 8;

/** Answer fields whose type differs from the API's, with counts. */
export function wrongTypesSentence({calls}: Summary): string {
  const fields = rankByCount(calls.wrong_types);
  if (fields.length === 0) return '';
  const named = fields.slice(0, MOST_NAMED).map(([name, times]) => `${name} (${formatCount(times)})`);
  const more = fields.length > MOST_NAMED ? ` and ${formatCount(fields.length - MOST_NAMED)} more` : '';
  return ` Fields of answers came with another type than the interface's: ${named.join(', ')}${more}. NDJSON output and the answer store keep them as they came. CSV leaves them empty, and rules don't read them.`;
}
