import type {Sqlite} from '../disk/sqlite.ts';
import {operationNames} from '../operations/table.ts';
import {pagesOf, ROWS_AT_ONCE} from './ledger-rows.ts';
import {historyIn} from './value-history.ts';

/** SQL condition that is true for every row of `lookup` that this program wrote. */
const IS_SOUND = `operation IN (${operationNames.map(name => `'${name}'`).join(', ')}) AND typeof(state) = 'integer' AND typeof(cost) = 'integer'`;

/**
 * Describes damage in a ledger's file; undefined if the whole file is sound. Called before anything is sent, so
 * that no run finds damage midway. Takes 1 µs per value.
 *
 * @throws SQLite's errors if pages or texts can't be read; {@link StateError} for a damaged history.
 */
export function damageOf(db: Sqlite): string | undefined {
  const found = db.query(['quick_check AS found'], 'FROM pragma_quick_check(1)').get()?.found;
  if (found !== 'ok') return String(found);
  // SQLite doesn't check that texts are UTF-8. Reading a text does, so this reads all texts.
  const page = db.query(
    [
      'max(id) AS last',
      `sum(NOT (${IS_SOUND})) AS odd`,
      "group_concat(key || coalesce(error, '') || coalesce(data, ''), '') AS texts",
      'json_group_array(history) FILTER (WHERE history IS NOT NULL) AS histories',
    ],
    `FROM (SELECT * FROM lookup WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE})`,
  );
  for (let id = 0; ; ) {
    const {last = null, odd, histories} = page.get(id) ?? {};
    for (const history of JSON.parse(String(histories ?? '[]'))) historyIn(history);
    if (Number(odd) > 0) return `a value's row between ${id} and ${last}`;
    if (last === null) break;
    id = Number(last);
  }
  const carried = db.query(
    ['key', 'scope', 'history', 'error', 'data'],
    `FROM carried WHERE (key, scope) > (?, ?) ORDER BY key, scope LIMIT ${ROWS_AT_ONCE}`,
  );
  for (const rows of pagesOf(last => carried.all(String(last?.key ?? ''), String(last?.scope ?? ''))))
    for (const {history} of rows) historyIn(history);
  return undefined;
}
