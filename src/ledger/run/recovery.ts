import type {Sqlite} from '../../disk/sqlite.ts';
import type {Operation} from '../../operations/table.ts';
import {type Accounting, bookLost} from './bookkeeping.ts';
import {newEntry} from './entry.ts';
import {entryOf, findRows, ledgerStatements, writeEntries} from './ledger-rows.ts';
import type {Meta} from './meta.ts';
import {saved} from './saved-value.ts';

/** A call of a lease, as it is saved. */
export type LeasedCall = readonly [key: string, operation: Operation, cost: number, dispatch: number];

/**
 * Books calls as maybe charged that were in flight when a session was killed: the calls of a lease that are not booked
 * under it. Returns their number.
 */
export function recoverLeases(db: Sqlite, accounts: Accounting, meta: Meta): number {
  return db.transaction(() => {
    const count = bookLeases(db, accounts);
    if (count === 0) return 0;
    meta.set('books', accounts.books);
    return count;
  });
}

function bookLeases(db: Sqlite, {books, tally}: Accounting): number {
  let count = 0;
  for (const row of db.query(['id', 'scope', 'calls'], 'FROM lease ORDER BY id').all()) {
    const [lease, scope] = [Number(row.id), Number(row.scope)];
    const sql = ledgerStatements(db, scope);
    const calls = saved<readonly LeasedCall[]>(row.calls);
    const found = findRows(
      sql,
      calls.map(([key]) => key),
    );
    const known = new Map(found.map(one => [String(one.key), entryOf(one)]));
    const lost = calls.flatMap(([key, operation, cost, dispatch]) => {
      const entry = known.get(key) ?? newEntry({operation, key});
      if (entry.lease >= lease) return [];
      bookLost({books, scope, tally}, entry, {cost, dispatch, lease});
      return [entry];
    });
    writeEntries(sql, lost);
    sql.endLease.run(lease);
    count += lost.length;
  }
  return count;
}
