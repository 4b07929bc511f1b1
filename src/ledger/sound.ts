import type {Sqlite} from '../disk/sqlite.ts';
import {operationNames} from '../operations/table.ts';

/** So many rows are read at once. */
const ROWS_AT_ONCE = 500;

/** What is in every row of the table that its session wrote. */
const IS_SOUND = `operation IN (${operationNames.map(name => `'${name}'`).join(', ')}) AND typeof(state) = 'integer' AND typeof(cost) = 'integer'`;

/**
 * What is wrong with a ledger's file, in any page of it; undefined where it is sound. So damage is found before anything
 * is sent, and not in the middle of the run. Costs 1 µs a value.
 *
 * @throws SQLite's errors: where pages or texts can't be read at all, too.
 */
export function damageOf(db: Sqlite): string | undefined {
  const found = db.query(['quick_check AS found'], 'FROM pragma_quick_check(1)').get()?.found;
  if (found !== 'ok') return String(found);
  // What SQLite itself does not check is whether texts are UTF-8: to have read all of them shows it.
  const page = db.query(
    [
      'max(id) AS last',
      `sum(NOT (${IS_SOUND})) AS odd`,
      "group_concat(key || coalesce(error, '') || coalesce(data, ''), '') AS texts",
    ],
    `FROM (SELECT * FROM lookup WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE})`,
  );
  for (let id = 0; ; ) {
    const {last = null, odd} = page.get(id) ?? {};
    if (Number(odd) > 0) return `a value's row between ${id} and ${last}`;
    if (last === null) break;
    id = Number(last);
  }
  const carried = db.query(
    ['key', 'scope', 'error', 'data'],
    `FROM carried WHERE (key, scope) > (?, ?) ORDER BY key, scope LIMIT ${ROWS_AT_ONCE}`,
  );
  for (let rows = carried.all('', ''); rows.length > 0; ) {
    const {key, scope} = rows.at(-1) ?? {};
    rows = carried.all(String(key), String(scope));
  }
  return undefined;
}
