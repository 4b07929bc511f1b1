import type {Batch} from '../../input/row.ts';
import type {Source} from '../../input/source.ts';

/** Yields batches with only the records whose numbers are in `only`; whole batches if `only` is undefined. */
export async function* picked(
  batches: AsyncGenerator<Batch>,
  only: ReadonlySet<number> | undefined,
): AsyncGenerator<Batch> {
  for await (const {records, position} of batches)
    yield {records: only === undefined ? records : records.filter(({record}) => only.has(record)), position};
}

/** Yields the source's batches up to record number `limit`. Later batches are not read. */
export async function* limited(source: Source, limit: number | undefined): AsyncGenerator<Batch> {
  for await (const batch of source.batches()) {
    const {records, position} = batch;
    const last = records.at(-1)?.record ?? 0;
    if (limit === undefined || last < limit) {
      yield batch;
      continue;
    }
    yield {records: records.filter(({record}) => record <= limit), position};
    return;
  }
}
