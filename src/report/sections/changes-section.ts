import {levelGrid} from '../changes.ts';
import {count} from '../format.ts';
import type {Section} from '../model.ts';
import type {Summary} from '../summary.ts';
import {rankingIfAny, tableIfAny} from './blocks.ts';

/** Changes since the job's last output; undefined without a comparison. */
export function changesSection({changes}: Summary): Section | undefined {
  if (changes === undefined) return undefined;
  const {rows, new: added, gone, changed, unchanged, compared_with: old, reasons, answers, key} = changes;
  const levels = levelGrid(changes.levels);
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
      ...tableIfAny('Rows by level, before and now', ['From', ...levels.names], levels.rows, {small: true}),
      ...rankingIfAny('Reasons that came', 'Reason', reasons.came, rows.new),
      ...rankingIfAny('Reasons that went', 'Reason', reasons.went, rows.new),
      ...rankingIfAny('Answers that changed', 'Column', answers, rows.new),
    ],
  };
}
