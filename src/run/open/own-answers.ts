import type {Job} from '../../job/job.ts';
import {createOperationPricer} from '../../job/settings/cost.ts';
import type {RunAnswers} from '../../ledger/answers/store.ts';
import {createValidityJudge, type ValidityJudge} from '../../ledger/answers/validity.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {LedgerEntry} from '../../ledger/run/ledger-entry.ts';
import {operations} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import {say, set} from '../../sentence.ts';
import {scopeKeyOfJob} from '../identity.ts';
import type {RunIo} from '../io.ts';
import type {RunIdentity} from '../state/run-identity.ts';
import {openAnswerStore, storeTerms} from './answer-store.ts';

/** Name under which the ledger keeps the number of its answers that the store has. */
export const STORED = 'stored';

/** Milliseconds from its first start for which an unfinished run is one night: its own answers hold, whatever their age. */
const NIGHT_MS = 7 * 86_400_000;

/** Judges answers as at the run's first start, but of a run from before {@link NIGHT_MS} as of now. */
export function judgeOf(job: Job, {now}: RunIo, {startedAt}: RunIdentity, begunAt: number): ValidityJudge {
  const at = begunAt - startedAt > NIGHT_MS ? begunAt : Math.min(startedAt, begunAt);
  return createValidityJudge(storeTerms(job), at, startedAt, now);
}

/** Keeps the run's answers in use. Those of a run from before {@link NIGHT_MS} that have expired are bought again. */
export function holdOwnAnswers(
  job: Job,
  io: RunIo,
  {startedAt, bought}: RunIdentity,
  ledger: Ledger,
  judge: ValidityJudge,
  begunAt: number,
): void {
  if (begunAt - startedAt <= NIGHT_MS) {
    ledger.hold(bought ?? ledger.bought);
    return;
  }
  const isFresh = (entry: LedgerEntry) =>
    operations[entry.operation].isRedeeming ||
    entry.outcome === undefined ||
    judge(entry, entry.outcome) === 'fresh';
  const count = ledger.expire(bought ?? 0, isFresh, createOperationPricer(job));
  if (count > 0)
    io.warn(
      say`This run began at ${new Date(startedAt).toISOString()}. Since then, ${pluralize(count, 'answer')} of its own expired (${set('maxAge')}): these values are looked up again, and count again against ${set('maxCredits')}.`,
    );
}

/** `turn`: see {@link RunAnswers}. */
export function ownAnswers(ledger: Ledger, turn?: number): RunAnswers {
  return {ledger, stored: ledger.getMeta<number>(STORED) ?? 0, turn};
}

/** Writes answers of a run that is given up to the store, for the endpoint and account that bought them. */
export async function keepOthersAnswers(job: Job, ledger: Ledger, io: RunIo): Promise<void> {
  if (ledger.owner === scopeKeyOfJob(job)) return;
  const store = openAnswerStore(job, ledger.owner, () => undefined, io, ownAnswers(ledger));
  await store.flush(true);
  store.close();
}
