import {totalSpending} from '../../ledger/run/tally.ts';
import {operationNames, operations} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import type {Session} from '../../run/session.ts';
import {breakLines} from './lines.ts';

const NOT_CONFIGURED =
  'No service is configured, so the embedded service answers from open data, at no cost. For a live one, set BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY.';

/** The first sentences of a run: its columns, its pace, and earlier calls. */
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
    ...(ledger.isResumed ? [resuming(ledger)] : []),
  ].map(sentence => breakLines(sentence));
}

function resuming({spending, interrupted}: Session['asking']['ledger']): string {
  const lost =
    interrupted === 0
      ? ''
      : ` ${pluralize(interrupted, 'call')} in flight when the last session ended may have been charged.`;
  const {calls} = totalSpending(spending);
  // A new count has no calls, but may know answers of the counts before it.
  const kept =
    calls === 0
      ? 'Answers already paid for are kept.'
      : `Resuming: what the ${pluralize(calls, 'call')} made before answered is not asked again, and its rows are written again.`;
  return `${kept}${lost}`;
}

/**
 * Columns, each with its kind unless the name shows it: `last_ip (IP), phone (country from "land"), email`. Those of
 * the operation `country` have the countries of phone numbers.
 */
export function describeColumns(
  columns: readonly {readonly operation: string; readonly column: string}[],
  defaultCountry: string | undefined,
): string {
  const named = (wanted: string) => [
    ...new Set(columns.filter(({operation}) => operation === wanted).map(({column}) => column)),
  ];
  const groups = operationNames.flatMap(operation => {
    const names = named(operation);
    if (names.length === 0) return [];
    const told = names.every(name => name.toLowerCase() === operation) ? [] : [operations[operation].label];
    const from = operation === 'phone' ? named('country') : [];
    if (from.length > 0) told.push(`country from ${from.map(name => `"${name}"`).join(' and ')}`);
    if (operation === 'phone' && defaultCountry !== undefined)
      told.push(`${from.length === 0 ? 'country' : 'else'} ${defaultCountry}`);
    return [`${listed(names.map(quoted))}${told.length === 0 ? '' : ` (${told.join(', ')})`}`];
  });
  return groups.join(', ');
}

/** Joins names for a sentence: `a, b and c`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** A column's name, quoted if it could be read as words of the sentence. */
function quoted(name: string): string {
  return /^[\p{L}\p{N}_.-]+$/u.test(name) ? name : `"${name}"`;
}
