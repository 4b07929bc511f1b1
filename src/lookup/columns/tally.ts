import type {CellRules} from '../../operations/cell.ts';
import {type Intelligence, operations} from '../../operations/table.ts';

/** A column's cells, each with its row's country. */
export type ColumnCells = readonly (readonly [text: string, country: string | undefined])[];
export type ColumnTally = ReturnType<typeof tallyOf>;

/** Codes of addresses that the service knows nothing of. */
const BEYOND: ReadonlySet<string> = new Set(['ipv6_unsupported', 'ip_private']);

/** Counts of a column's cells, of which a guess is made. */
export function tallyOf(
  operation: Intelligence,
  cells: ColumnCells,
  rules: CellRules | undefined,
  isKnown = false,
) {
  const {canonical, habits, isTelling} = operations[operation];
  const tally = {
    values: 0,
    valid: 0,
    distinct: new Set<string>(),
    telling: 0,
    national: 0,
    listed: 0,
    unclear: 0,
    beyond: 0,
  };
  for (const [text, country] of cells) {
    const judged = canonical(text, country, rules);
    if (judged.state === 'empty') continue;
    tally.values += 1;
    if (judged.state === 'value') {
      tally.valid += 1;
      tally.distinct.add(judged.value);
      if (isTelling?.(text) !== false) tally.telling += 1;
      continue;
    }
    // How the column is written is worth finding out only where single cells don't tell.
    if (judged.code === 'calling_code_unclear' && !isKnown)
      return tallyOf(operation, cells, {...rules, ...habits?.(cells)}, true);
    if (judged.code === 'calling_code_unclear') tally.unclear += 1;
    if (judged.code === 'country_unknown') tally.national += 1;
    if (judged.code === 'ip_list') tally.listed += 1;
    if (BEYOND.has(judged.code)) tally.beyond += 1;
  }
  return tally;
}
