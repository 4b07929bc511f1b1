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
import {type Operation, operations, perOperation} from '../../operations/table.ts';
import type {RunIo} from '../io.ts';

/** Stored answers from before this are too old for a run that was first started then. */
export function notBefore({settings}: Job, startedAt: number): Record<Operation, number> {
  return perOperation(name => {
    const {storedFor} = operations[name];
    const own = millisecondsOf(storedFor) ?? Number.POSITIVE_INFINITY;
    return Math.max(0, startedAt - ofOperation(settings.maxAge, name, own));
  });
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
