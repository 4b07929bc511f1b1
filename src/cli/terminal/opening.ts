import {totalSpending} from '../../ledger/run/tally.ts';
import {joinWithAnd, operationNames, operations} from '../../operations/table.ts';
import {formatCount, formatDuration, formatMoney, pluralize} from '../../report/format.ts';
import type {PlanReport} from '../../run/plan.ts';
import type {Session} from '../../run/session.ts';
import {breakLines} from './lines.ts';

const NOT_CONFIGURED =
  'No service is configured, so the embedded service answers from open data, at no cost. For a live one, set BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY.';

export function formatOpening({job, input: {layout}, asking: {executor, ledger}}: Session): string[] {
  const {endpoint, settings} = job;
  const {targets, countries} = layout.mapping;
  const all = [...targets, ...[...countries.values()].map(column => ({operation: 'country', column}))];
  const columns = describeColumns(all, settings.defaultCountry);
  const {limit} = executor.pace();
  const pace = limit === undefined ? 'without a rate limit' : `at most ${pluralize(limit, 'call')} a second`;
  const isEmbedded = endpoint.kind === 'embedded';
  return [
    ...(isEmbedded && endpoint.byDefault ? [NOT_CONFIGURED] : []),
    columns === ''
      ? 'No column is looked up, so no calls are made.'
      : `Looking up ${columns}${isEmbedded ? '. The embedded service answers' : ''}, ${pace}.`,
    ...(ledger.isResumed ? [resumedSentence(ledger)] : []),
  ].map(sentence => breakLines(sentence));
}

function resumedSentence({spending, interrupted}: Session['asking']['ledger']): string {
  const {calls} = totalSpending(spending);
  // A new count has no calls, but may know answers of the counts before it.
  const kept =
    calls === 0
      ? 'Answers already paid for are kept.'
      : `Resuming: what the ${pluralize(calls, 'call')} made before answered is not asked again, and its rows are written again.`;
  if (interrupted === 0) return kept;
  return `${kept} ${pluralize(interrupted, 'call')} in flight when the last session ended may have been charged.`;
}

/** Columns, each with its kind unless the name shows it: `last_ip (IP), phone (country from "land"), email`. */
export function describeColumns(
  columns: readonly {readonly operation: string; readonly column: string}[],
  defaultCountry: string | undefined,
): string {
  const columnsOf = (wanted: string) => [
    ...new Set(columns.filter(({operation}) => operation === wanted).map(({column}) => column)),
  ];
  const groups = operationNames.flatMap(operation => {
    const names = columnsOf(operation);
    if (names.length === 0) return [];
    const notes = names.every(name => name.toLowerCase() === operation) ? [] : [operations[operation].label];
    const from = operation === 'phone' ? columnsOf('country') : [];
    if (from.length > 0) notes.push(`country from ${from.map(name => `"${name}"`).join(' and ')}`);
    if (operation === 'phone' && defaultCountry !== undefined)
      notes.push(`${from.length === 0 ? 'country' : 'else'} ${defaultCountry}`);
    return [`${joinWithAnd(names.map(quoted))}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`];
  });
  return groups.join(', ');
}

/** A column's name, quoted if it could be read as words of the sentence. */
function quoted(name: string): string {
  return /^[\p{L}\p{N}_.-]+$/u.test(name) ? name : `"${name}"`;
}

/** The forecast of a run: `655 calls, 655 credits (1,965 at worst), about 33 s at 20/s`. */
export function formatForecast(plan: PlanReport, kind: 'embedded' | 'live'): string {
  const {credits, time_ms: ms, rate_per_second: rate, price} = plan;
  const {at_least: least, all_sent_once: most, at_most: worst} = credits;
  const calls = sumPlanned(plan, 'calls');
  const parts = [between(calls - sumPlanned(plan, 'conditional'), calls, 'call')];
  const cost = between(least, most, 'credit');
  const inBrackets = (amount: string) => (worst === most ? '' : ` (${amount} at worst)`);
  if (kind === 'embedded') {
    const atWorst = worst === most ? '' : `, ${formatCount(worst)} at worst`;
    parts.push(`free with the embedded service (at a live service: ${cost}${atWorst})`);
  } else {
    parts.push(cost + inBrackets(formatCount(worst)));
    if (price !== undefined) parts.push(formatMoney(most, price) + inBrackets(formatMoney(worst, price)));
  }
  if (ms) parts.push(`about ${formatDuration(ms)} at ${formatCount(rate ?? 0)}/s`);
  return parts.join(', ');
}

/** `4 calls`; `2 to 4 calls` if the number depends on conditions of lookups (`when`). */
function between(least: number, most: number, singular: string): string {
  return least === most ? pluralize(most, singular) : `${formatCount(least)} to ${pluralize(most, singular)}`;
}

export function sumPlanned({lookups}: PlanReport, which: 'calls' | 'conditional'): number {
  return Object.values(lookups).reduce((sum, counts) => sum + counts[which], 0);
}
