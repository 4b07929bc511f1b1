import type {Operation} from '../../operations/table.ts';
import {type Answer, BAD_RESPONSE} from '../lookup-outcome.ts';
import {type KeyedAnswer, type LedgerEntry, leaseOfDispatchNumber} from './ledger-entry.ts';
import {keyedAnswerOfEntry, type LedgerStatements, readEntry} from './ledger-rows.ts';
import type {LedgerWriter} from './ledger-writer.ts';

/**
 * See {@link Ledger.settleRejections}. `number` returns the number of the next answer, `isUsed` true for a value of this
 * session: a list may have lost the others' rows since.
 */
export function settleRejections(
  sql: LedgerStatements,
  writer: LedgerWriter,
  streak: number,
  number: () => number,
  isUsed: (entry: LedgerEntry) => boolean,
  keep: (answer: KeyedAnswer) => void,
): ReadonlyMap<Operation, number> {
  const failures = new Map<Operation, number>();
  writer.drain();
  const ofValues = findValuesFault(sql, streak);
  for (;;) {
    writer.drain();
    const rows = sql.unjudged.all();
    if (rows.length === 0) return failures;
    for (const entry of rows.map(readEntry)) {
      if (ofValues.has(entry.id)) {
        entry.nth = number();
        keep(keyedAnswerOfEntry(entry));
      } else {
        entry.nth = null;
        const {error} = entry.outcome as Answer & {readonly error: string};
        entry.outcome = {status: 'failed', error, ...(error !== BAD_RESPONSE && {said: 'service'})};
        if (isUsed(entry)) failures.set(entry.operation, (failures.get(entry.operation) ?? 0) + 1);
      }
      writer.add(entry);
    }
  }
}

/**
 * Numbers of the rejected values' rows that were sent before the last answered call, and are not in a series of at least
 * `length`: in the order of sending, no call between two of a series was answered. There, calls that left together count
 * as one moment.
 */
function findValuesFault(sql: LedgerStatements, length: number): ReadonlySet<number> {
  const answered = sql.answeredCalls.all().map(({sent}) => Number(sent));
  const last = answered.at(-1) ?? 0;
  const found = new Set<number>();
  let series: number[] = [];
  let from = 0;
  let at = 0;
  const end = () => {
    if (series.length < length) for (const id of series) found.add(id);
    series = [];
  };
  for (const {id, sent: place} of sql.rejectedCalls.all()) {
    const [lease, sent] = [leaseOfDispatchNumber(Number(place)), Number(place)];
    while (at < answered.length && leaseOfDispatchNumber(answered[at] as number) < from) at += 1;
    if (at < answered.length && leaseOfDispatchNumber(answered[at] as number) <= lease) end();
    // The account may be the reason for those after the last answered call.
    if (sent > last) return found;
    series.push(Number(id));
    from = lease;
  }
  end();
  return found;
}
