import {levelGrid} from '../changes.ts';
import {count, ranked} from '../format.ts';
import type {RankingBlock, Section} from '../model.ts';
import type {Summary} from '../summary.ts';

const MOST = 12;

/** Changes since the job's last output; undefined without a comparison. */
export function changesSection({changes}: Summary): Section | undefined {
  if (changes === undefined) return undefined;
  const {rows, new: added, gone, changed, unchanged, compared_with: old, reasons, answers, key} = changes;
  const ranking = (
    caption: string,
    what: string,
    counts: Readonly<Record<string, number>>,
  ): RankingBlock[] => {
    const found = ranked(counts).slice(0, MOST);
    if (found.length === 0) return [];
    return [
      {
        kind: 'ranking',
        caption,
        what,
        of: rows.new,
        tone: 'known',
        rows: found.map(([name, times]) => ({name, count: times})),
      },
    ];
  };
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
      ...ranking('Reasons that came', 'Reason', reasons.came),
      ...ranking('Reasons that went', 'Reason', reasons.went),
      ...ranking('Answers that changed', 'Column', answers),
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
