import {meaningOf} from '../codes.ts';
import {operationName} from '../display-names.ts';
import {count, many} from '../format.ts';
import type {Section, TableBlock, Tone} from '../model.ts';
import type {LookupCounts, Summary} from '../summary.ts';

const outcomes: readonly (readonly [keyof LookupCounts, Tone])[] = [
  ['answered', 'good'],
  ['skipped', 'known'],
  ['empty', 'quiet'],
  ['invalid', 'repeat'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
];

/** Results of the rows and of their lookups. */
export function rowsSection({rows, lookups, repairs}: Summary): Section | undefined {
  if (rows.read === 0) return undefined;
  const rejected = rows.rejected === 0 ? '' : `, ${count(rows.rejected)} could not be read`;
  const trouble =
    rows.with_errors === 0
      ? 'No lookup failed.'
      : `In ${many(rows.with_errors, 'row')} a lookup failed or was not made.`;
  const invalid = Object.values(lookups).reduce((sum, counts) => sum + counts.invalid, 0);
  const judged = invalid === 0 ? '' : ` ${many(invalid, 'value')} can't be looked up: see the codes below.`;
  return {
    title: 'Rows and outcomes',
    note: `${many(rows.read, 'row')} read, ${count(rows.written)} written${rejected}. ${trouble}${judged}`,
    blocks: [
      {
        kind: 'stacks',
        caption: 'What became of each value',
        what: 'Values',
        keys: outcomes.map(([name, tone]) => ({name, tone})),
        rows: Object.entries(lookups).map(([name, facts]) => ({
          name: operationName(name),
          counts: outcomes.map(([outcome]) => facts[outcome]),
        })),
      },
      ...codesTable('Repaired before the lookup', repairs),
    ],
  };
}

const MOST_CODES = 20;

/** Codes with their first rows and meanings; empty without codes. */
function codesTable(caption: string, coded: Summary['errors']): TableBlock[] {
  if (coded.length === 0) return [];
  return [
    {
      kind: 'table',
      caption,
      head: ['Code', 'count', 'first rows', 'meaning'],
      texts: [2, 3],
      rows: coded
        .slice(0, MOST_CODES)
        .map(({code, count: times, rows}) => [
          code,
          count(times),
          `${rows.join(', ')}${times > rows.length ? ', …' : ''}`,
          meaningOf(code),
        ]),
    },
  ];
}

/** Errors, with their codes and advice; undefined without any. */
export function troubleSection({errors, calls}: Summary): Section | undefined {
  const strange = Object.entries(calls.by_status).filter(([status]) => !status.startsWith('2'));
  const broken = [...strange, ...Object.entries(calls.by_error)];
  const blocks = codesTable('Codes, most often first', errors);
  if (broken.length > 0) {
    blocks.push({
      kind: 'table',
      caption: 'Calls without a usable answer, retried ones included',
      head: ['HTTP status or network code', 'calls'],
      rows: broken.sort((a, b) => b[1] - a[1]).map(([code, times]) => [code, count(times)]),
    });
  }
  if (blocks.length === 0) return undefined;
  const left = errors.length - MOST_CODES;
  const more = left > 0 ? ` ${many(left, 'rarer code')} are in the summary file.` : '';
  return {
    title: 'Where something was wrong',
    note: `Rows are named by number, never by value.${more}`,
    blocks,
  };
}
