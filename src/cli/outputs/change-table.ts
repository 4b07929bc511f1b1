import {type Changes, levelGrid} from '../../report/changes.ts';
import {ranked} from '../../report/format.ts';
import {broken, count, many, widthOf} from '../terminal/lines.ts';
import {table} from '../terminal/table.ts';

/** Changes as text for people. `old` and `fresh`: names of the compared files. */
export function changeTable(changes: Changes, [old, fresh]: readonly [string, string]): string {
  const {levels, reasons, answers, columns} = changes;
  const {names, rows} = levelGrid(levels);
  const only = (path: string, some: readonly string[]) =>
    some.length === 0 ? [] : [`Only ${path} has ${some.join(', ')}: not compared.`];
  return [
    sentenceOf(changes),
    ...keyTroubles(changes, [old, fresh]),
    ...only(old, columns.old),
    ...only(fresh, columns.new),
    ...(rows.length === 0 ? [] : ['', table([['from \\ to', ...names], ...rows])]),
    ...ranking('Reasons that came', reasons.came),
    ...ranking('Reasons that went', reasons.went),
    ...ranking('Answers that changed', answers),
  ]
    .map(line => broken(line, line.startsWith('from') ? Number.POSITIVE_INFINITY : widthOf('stdout')))
    .join('\n');
}

function sentenceOf({new: added, gone, changed, unchanged, key}: Changes): string {
  const by = key.length === 0 ? '' : `, matched by ${key.map(name => `"${name}"`).join(', ')}`;
  return `${count(added)} new, ${count(gone)} gone, ${count(changed)} changed, ${count(unchanged)} unchanged${by}.`;
}

/** Sentences on rows without a key, and on rows with the key of an earlier row. */
function keyTroubles({without_key: without, repeated}: Changes, paths: readonly [string, string]): string[] {
  return paths.flatMap((path, at) => {
    const side = at === 0 ? 'old' : 'new';
    return [
      ...(without[side] === 0 ? [] : [`${path}: ${many(without[side], 'row')} without a key: not matched.`]),
      ...(repeated[side] === 0
        ? []
        : [
            `${path}: ${many(repeated[side], 'row')} with the key of an earlier row. Rows with one key are matched in the order of their files.`,
          ]),
    ];
  });
}

function ranking(title: string, counts: Readonly<Record<string, number>>): string[] {
  const all = ranked(counts).map(([name, rows]) => `${name} ${count(rows)}`);
  return all.length === 0 ? [] : ['', `${title}: ${all.join(', ')}.`];
}
