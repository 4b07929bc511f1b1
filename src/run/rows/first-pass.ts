import type {InputRecord} from '../../input/row.ts';
import type {RecordSource} from '../../input/source.ts';
import type {ListFacts} from '../../score/list-facts.ts';
import {type RunIo, runPhase} from '../io.ts';

/**
 * Reads a whole list before the first call, and counts the facts that rules read of it. `see` counts what else `plan`
 * and the question about the cost need. Reading ends once the caller does not want the counts; they are incomplete then.
 */
export async function readWholeList(
  source: RecordSource,
  {limit, facts}: {readonly limit: number | undefined; readonly facts: ListFacts | undefined},
  {phase, isWanted}: {readonly phase?: RunIo['phase']; readonly isWanted?: () => boolean},
  see?: (records: readonly InputRecord[]) => Promise<void>,
): Promise<void> {
  const {bytesTotal: all} = source;
  const shareRead = () => (all === undefined ? undefined : source.position.bytes / Math.max(1, all));
  const reached = () => ({share: shareRead(), rows: source.recordsRead});
  await runPhase(phase, 'counting', reached, async () => {
    for await (const records of limitRows(source, limit)) {
      if (isWanted?.() === false) return;
      await see?.(records);
      for (const record of records) if (record.type !== 'reject') facts?.add(record);
    }
    facts?.count(() => !source.isChanged);
  });
}

/** Yields the source's batches up to the record with the number `limit`. Reads no batch after that. */
export async function* limitRows(
  source: RecordSource,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly InputRecord[]> {
  for await (const records of source.batches()) {
    const isLast = (records.at(-1)?.record ?? 0) >= limit;
    yield isLast ? records.filter(({record}) => record <= limit) : records;
    if (isLast) return;
  }
}
