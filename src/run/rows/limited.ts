import type {InputRecord} from '../../input/row.ts';
import type {Source} from '../../input/source.ts';

/** Yields the source's batches up to the record with the number `limit`. Reads no batch after that. */
export async function* limited(
  source: Source,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly InputRecord[]> {
  for await (const records of source.batches()) {
    const isLast = (records.at(-1)?.record ?? 0) >= limit;
    yield isLast ? records.filter(({record}) => record <= limit) : records;
    if (isLast) return;
  }
}
