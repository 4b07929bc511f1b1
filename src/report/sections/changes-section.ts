import {levelGrid} from '../changes.ts';
import {count} from '../format.ts';
import type {Section} from '../model.ts';
import type {Summary} from '../summary.ts';
import {rankingOf} from './ranking.ts';

/** Changes since the job's last output; undefined without a comparison. */
export function changesSection({changes}: Summary): Section | undefined {
  if (changes === undefined) return undefined;
  const {rows, new: added, gone, changed, unchanged, compared_with: old, reasons, answers, key} = changes;
  return {
    title: 'Since the last output',
    note:
      old === null
        ? 'The job had no output to compare with: all rows are new.'
        : `Compared with ${old}, matched by ${key.join(', ')}.`,
    blocks: [
      {
        kind: 'table',
        caption: 'Rows',
        head: ['What', 'rows'],
        rows: Object.entries({new: added, gone, changed, unchanged}).map(([name, of]) => [name, count(of)]),
        small: true,
      },
      ...levelTable(changes.levels),
      ...rankingOf('Reasons that came', 'Reason', reasons.came, rows.new),
      ...rankingOf('Reasons that went', 'Reason', reasons.went, rows.new),
      ...rankingOf('Answers that changed', 'Column', answers, rows.new),
    ],
  };
}

function levelTable(levels: NonNullable<Summary['changes']>['levels']): Section['blocks'] {
  const {names, rows} = levelGrid(levels);
  return rows.length === 0
    ? []
    : [
        {
          kind: 'table',
          caption: 'Rows by level, before and now',
          head: ['From', ...names],
          rows,
          small: true,
        },
      ];
}
