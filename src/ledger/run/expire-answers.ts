import {type Operation, perOperation} from '../../operations/table.ts';
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
  // Prices may have changed since: an answer counts no more than was spent on it.
  const answers = perOperation(() => 0);
  for (const entries of answeredAfter(sql, nth)) for (const {operation} of entries) answers[operation] += 1;
  const paid = perOperation(operation =>
    Math.min(costOf(operation), Math.floor(counts.spending[operation].spent / answers[operation])),
  );
  let count = 0;
  for (const entries of answeredAfter(sql, nth)) {
    for (const entry of entries) {
      if (isFresh(entry)) continue;
      count += 1;
      counts.expired += paid[entry.operation];
      writer.add(Object.assign(entry, {nth: null}));
    }
    writer.drain();
  }
  return count;
}
