import type {Job} from '../../job/job.ts';
import {millisecondsOf, ofOperation} from '../../job/values.ts';
import {
  type AnswerStore,
  defaultStoreDirectory,
  noStore,
  openStore,
  type StoreOptions,
} from '../../ledger/store/store.ts';
import type {StoreScope} from '../../ledger/store/store-file.ts';
import {keepUp} from '../../ledger/store/upkeep.ts';
import {type Operation, operations, perOperation} from '../../operations/table.ts';
import type {RunIo} from '../io.ts';

/** How old a stored answer may be and still serve this job, in milliseconds. */
function agesInUse({settings}: Job): Record<Operation, number> {
  return perOperation(name => {
    const own = millisecondsOf(operations[name].storedFor) ?? Number.POSITIVE_INFINITY;
    return ofOperation(settings.maxAge, name, own);
  });
}

/** Stored answers from before this are too old for a run that was first started then. */
export function notBefore(job: Job, startedAt: number): Record<Operation, number> {
  const ages = agesInUse(job);
  return perOperation(name => Math.max(0, startedAt - ages[name]));
}

/**
 * At the end of a run: what is of use to no job goes from the store. Trouble with the store was the run's to tell, and
 * what is left now goes after the next one.
 */
export async function keepUpStore(job: Job, io: Pick<RunIo, 'env' | 'now' | 'warn'>): Promise<void> {
  const {cache, maxStoreSize} = job.settings;
  if (cache === false) return;
  try {
    const directory = typeof cache === 'string' ? cache : defaultStoreDirectory(io.env);
    const removed = await keepUp(directory, {ages: agesInUse(job), maxBytes: maxStoreSize, now: io.now()});
    if (removed > 0)
      io.warn(
        `The answer store was larger than max_store_size allows: ${removed} answers went that were still good, and will be paid for again.`,
      );
  } catch {
    // As said above.
  }
}

/** `missed` is what a run tells of answers that could not be written when they came. */
export function openAnswerStore(
  {settings: {cache}}: Job,
  scope: StoreScope,
  fresh: Record<Operation, number>,
  io: Pick<RunIo, 'env' | 'now' | 'warn' | 'storePatienceMs'>,
  missed: Pick<StoreOptions, 'answersSince' | 'missedSince'> = {},
): AnswerStore {
  if (cache === false) return noStore;
  const locate = () => (typeof cache === 'string' ? cache : defaultStoreDirectory(io.env));
  return openStore(locate, {
    scope,
    notBefore: fresh,
    now: io.now,
    onTrouble: io.warn,
    patienceMs: io.storePatienceMs,
    ...missed,
  });
}
