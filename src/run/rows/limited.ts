import type {Batch} from '../../input/row.ts';
import type {Source} from '../../input/source.ts';

/** Yields the source's batches up to the record with the number `limit`. Reads no batch after that. */
export async function* limited(source: Source, limit = Number.POSITIVE_INFINITY): AsyncGenerator<Batch> {
  for await (const {records, position} of source.batches()) {
    const isLast = (records.at(-1)?.record ?? 0) >= limit;
    yield {records: isLast ? records.filter(({record}) => record <= limit) : records, position};
    if (isLast) return;
  }
}
