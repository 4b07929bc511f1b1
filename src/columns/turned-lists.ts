import {UsageError} from '../errors.ts';
import type {Row} from '../input/row.ts';
import {type Intelligence, intelligenceNames, operations} from '../operations/table.ts';
import {readHeader} from './recognize/header.ts';

/** Maximum number of columns that a list of people in columns may have before it counts as a list of its own. */
const MOST_NAMES = 30;
const MOSTLY = 0.6;

/**
 * Refuses a list in which a row is not a person: one value a line by attribute (`7,email,jo@example.com`), or rows
 * and columns exchanged (`email,jo@example.com,al@example.com`).
 *
 * @throws {UsageError} `no_columns` for such a list, with what to export instead.
 */
export function refuseTurned(
  columns: readonly string[],
  rows: readonly Row[],
  header: readonly string[] | undefined,
): void {
  const table = rows.flatMap(row => (row.type === 'csv' ? [row.fields] : []));
  const place = columns.flatMap((_, names) =>
    columns.flatMap((_, values) =>
      names !== values && isPivoted(table, names, values) ? [{names, values}] : [],
    ),
  )[0];
  if (place !== undefined)
    throw new UsageError(
      'no_columns',
      `The list has one value a line: "${columns[place.names]}" says what "${columns[place.values]}" holds. Export one row for each person, with a column for each kind of value (a pivot table; in SQL: SELECT ID, MAX(CASE WHEN NAME = 'email' THEN VALUE END) AS email … GROUP BY ID).`,
    );
  const all = header === undefined ? table : [header, ...table];
  if (all.length <= MOST_NAMES && isTransposed(all))
    throw new UsageError(
      'no_columns',
      'Rows and columns of the list are exchanged: its first column has the names, and each further one a person. Turn it round (in a spreadsheet: copy, then paste as transposed).',
    );
}

/** True if cells of one column name kinds, several times each, and the cells of another one are of these kinds. */
function isPivoted(table: readonly (readonly string[])[], names: number, values: number): boolean {
  const told = table.flatMap(fields => {
    const kind = kindIn(fields[names]);
    return kind === undefined ? [] : [{kind, isValue: isOf(kind, fields[values])}];
  });
  const kinds = new Set(told.map(({kind}) => kind));
  const fitting = told.filter(({isValue}) => isValue).length;
  return kinds.size > 1 && told.length > 2 * kinds.size && fitting >= MOSTLY * told.length;
}

/** True if several rows begin with a kind, each with another one, and their other cells are of that kind. */
function isTransposed(table: readonly (readonly string[])[]): boolean {
  const told = table.flatMap(([name, ...cells]) => {
    const kind = kindIn(name);
    const filled = cells.filter(cell => cell.trim() !== '');
    return kind === undefined
      ? []
      : [{name, isOfKind: filled.length > 1 && filled.every(cell => isOf(kind, cell))}];
  });
  return (
    told.length > 1 &&
    told.every(({isOfKind}) => isOfKind) &&
    new Set(told.map(({name}) => name)).size === told.length
  );
}

function kindIn(text = ''): Intelligence | undefined {
  const says = readHeader(text);
  return intelligenceNames.find(name => says.get(name)?.strength === 'named');
}

/** True for a valid value, or a phone number whose country is missing. */
function isOf(kind: Intelligence, text = ''): boolean {
  const judged = operations[kind].canonical(text);
  return judged.state === 'value' || (judged.state === 'invalid' && judged.code === 'country_unknown');
}
