import type {Operation} from '../../operations/table.ts';
import type {LedgerEntry} from './ledger-entry.ts';
import {answeredAfter, type LedgerStatements} from './ledger-rows.ts';
import type {LedgerWriter} from './ledger-writer.ts';
import type {RunCounts} from './tally.ts';

/** See {@link Ledger.expire}. */
export function expireAnswers(
  sql: LedgerStatements,
  writer: LedgerWriter,
  counts: RunCounts,
  nth: number,
  isFresh: (entry: LedgerEntry) => boolean,
  costOf: (operation: Operation) => number,
): number {
  let count = 0;
  for (const entries of answeredAfter(sql, nth)) {
    for (const entry of entries) {
      if (isFresh(entry)) continue;
      count += 1;
      counts.expired += costOf(entry.operation);
      writer.add(Object.assign(entry, {nth: null}));
    }
    writer.drain();
  }
  return count;
}
