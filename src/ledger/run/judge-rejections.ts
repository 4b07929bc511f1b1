import type {Operation} from '../../operations/table.ts';
import type {Answer} from '../lookup.ts';
import type {Books} from './books.ts';
import type {KeptAnswer} from './entry.ts';
import {answerOf, entryOf, type LedgerStatements} from './ledger-rows.ts';
import type {LedgerWriter} from './ledger-writer.ts';

/** See {@link Ledger.judgeRejections}. */
export function judgeRejections(
  sql: LedgerStatements,
  writer: LedgerWriter,
  books: Books,
  streak: number,
  keep: (answer: KeptAnswer) => void,
): ReadonlyMap<Operation, number> {
  const failures = new Map<Operation, number>();
  writer.drain();
  const ofAccount = inStreak(sql, streak);
  for (;;) {
    writer.drain();
    const rows = sql.unjudged.all();
    if (rows.length === 0) return failures;
    for (const entry of rows.map(entryOf)) {
      if (-(entry.nth ?? 0) < books.answeredUpTo && !ofAccount.has(entry.id)) {
        entry.nth = ++books.bought;
        keep(answerOf(entry));
      } else {
        entry.nth = null;
        entry.outcome = {status: 'failed', error: (entry.outcome as Answer & {readonly error: string}).error};
        failures.set(entry.operation, (failures.get(entry.operation) ?? 0) + 1);
      }
      writer.add(entry);
    }
  }
}

/**
 * Numbers of the rejected values' rows in series of at least `length`: in the order of sending, no call between two of
 * them was answered. Calls that left together count as one moment.
 */
function inStreak(sql: LedgerStatements, length: number): ReadonlySet<number> {
  const answered = sql.answeredLeases.all().map(({lease}) => Number(lease));
  const found = new Set<number>();
  let series: number[] = [];
  let from = 0;
  let at = 0;
  for (const {id, lease} of sql.rejectedCalls.all()) {
    while (at < answered.length && (answered[at] as number) < from) at += 1;
    if (at < answered.length && (answered[at] as number) <= Number(lease)) series = [];
    series.push(Number(id));
    if (series.length >= length) for (const one of series) found.add(one);
    from = Number(lease);
  }
  return found;
}
