import type {Job} from '../../job/job.ts';
import {millisecondsOf, ofOperation, rejectionTerm} from '../../job/values.ts';
import type {NotBefore} from '../../ledger/given-up.ts';
import type {Terms} from '../../ledger/store/freshness.ts';
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

/** How long what the store knows is good for. */
export function termsOf({settings: {maxAge, stale = 0}}: Job): Terms {
  const answers = perOperation(name => {
    const own = millisecondsOf(operations[name].storedFor) ?? Number.POSITIVE_INFINITY;
    return ofOperation(maxAge, name, own);
  });
  return {answers, rejections: rejectionTerm(maxAge), stale};
}

/** Whether a value that the service rejects is known to be one, so that no other run asks about it for a while. */
export function keepsRejections(job: Job): boolean {
  return job.settings.store !== false && termsOf(job).rejections > 0;
}

/** What came before this is too old for a run that was first started then. */
export function notBefore({answers, rejections}: Terms, startedAt: number): Record<Operation, NotBefore> {
  return perOperation(name => ({
    ok: Math.max(0, startedAt - answers[name]),
    failed: Math.max(0, startedAt - rejections),
  }));
}

/** How old may be what the store has and still serve this job, in milliseconds: rejections and stale answers too. */
function agesInUse(job: Job): Record<Operation, number> {
  const {answers, rejections, stale} = termsOf(job);
  return perOperation(name => Math.max(answers[name] + stale, rejections));
}

/**
 * At the end of a run: what is of use to no job goes from the store. Trouble with the store was the run's to tell, and
 * what is left now goes after the next one.
 */
export async function keepUpStore(job: Job, io: Pick<RunIo, 'env' | 'now' | 'warn'>): Promise<void> {
  const {store: place, maxStoreSize} = job.settings;
  if (place === false) return;
  try {
    const directory = typeof place === 'string' ? place : defaultStoreDirectory(io.env);
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
  {settings: {store: place}}: Job,
  scope: StoreScope,
  fresh: Pick<StoreOptions, 'terms' | 'since'>,
  io: Pick<RunIo, 'env' | 'now' | 'warn' | 'storePatienceMs'>,
  missed: Pick<StoreOptions, 'answersSince' | 'missedSince'> = {},
): AnswerStore {
  if (place === false) return noStore;
  const locate = () => (typeof place === 'string' ? place : defaultStoreDirectory(io.env));
  return openStore(locate, {
    scope,
    ...fresh,
    now: io.now,
    onTrouble: io.warn,
    patienceMs: io.storePatienceMs,
    ...missed,
  });
}
