import {operationName} from '../display-names.ts';
import {count, many, percent} from '../format.ts';
import type {Section, Tone} from '../model.ts';
import type {LookupCounts, Summary} from '../summary.ts';
import {tableIfAny} from './blocks.ts';
import {codesTable} from './trouble-section.ts';

const outcomes: readonly (readonly [keyof LookupCounts, Tone])[] = [
  ['answered', 'good'],
  ['skipped', 'known'],
  ['empty', 'quiet'],
  ['invalid', 'repeat'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
];

export function rowsSection({rows, lookups, repairs, left_out}: Summary): Section | undefined {
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
      ...tableIfAny(
        'Columns that were not looked up',
        ['Column', 'its values', 'to look it up'],
        left_out.map(({operation, column, share, flag}) => [
          column,
          `${percent(share, 1)} may be of the kind ${operation}`,
          flag,
        ]),
        {texts: [0, 1, 2]},
      ),
    ],
  };
}
