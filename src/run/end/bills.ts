import type {Job} from '../../job/job.ts';
import type {Bill} from '../../ledger/bills.ts';
import type {HistoryEntry} from '../../ledger/history.ts';
import type {Ledger} from '../../ledger/ledger.ts';
import type {Price} from '../../report/money.ts';
import {listOf, type RecordedSession, recordOfCutOff} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {scopeOf} from '../identity.ts';
import type {World} from '../io.ts';
import type {RunIdentity} from '../state/count.ts';
import {billSummary} from './build-summary.ts';
import {listKey, ownEntry, remember} from './history.ts';

/** Facts for a session's line in the history, saved with its bill in case the session is killed. */
interface BillFacts extends RecordedSession {
  /** Key of the session's list, the same in every run of the list; null for stdin without a job name. */
  readonly list_key: string | null;
  /** Start of the session, in milliseconds since the epoch. */
  readonly opened_at?: number;
}

/** Opens the session's bill (its spending), and adds the bills of killed sessions to the history. */
export function openBill(
  ledger: Ledger,
  job: Job,
  {runId, startedAt}: RunIdentity,
  price: Price | undefined,
  io: World,
): void {
  const account = scopeOf(job.endpoint, job.settings);
  ledger.bills.begin({
    run_id: runId,
    started_at: new Date(startedAt).toISOString(),
    job: job.name ?? null,
    list: listOf(job.inputs),
    account,
    ...(price && {price}),
    list_key: listKey(job, account) ?? null,
    opened_at: io.now(),
  } satisfies BillFacts);
  const {untold} = ledger.bills;
  if (untold.length > 0 && tellBills(untold, io)) ledger.bills.told(untold);
}

/** Adds this session's summary and the bills of killed sessions to the history. Returns false if that failed. */
export function tellEnd(job: Job, summary: Summary, bills: readonly Bill[], io: World): boolean {
  const others = bills.filter(({id}) => id !== summary.session.id);
  return remember(io, () => [...others.map(cutOffEntry), ownEntry(job, summary)]);
}

/** Adds the bills of killed sessions to the history. Returns false if that failed. */
export function tellBills(bills: readonly Bill[], io: World): boolean {
  return remember(io, () => bills.map(cutOffEntry));
}

/** The history line of a killed session. */
function cutOffEntry({id, at, about, by}: Bill): HistoryEntry {
  const {list_key: list, opened_at: openedAt = 0, ...facts} = about as BillFacts;
  // If a session was killed before it booked anything, its `at` is the time of an earlier session's booking. So
  // the latest of three times counts.
  const endedAt = Math.max(at, openedAt, Date.parse(facts.started_at));
  const spent = Object.entries(by).filter(([, each]) => Object.values(each).some(count => count !== 0));
  const byOperation = Object.fromEntries(spent.map(([name, each]) => [name, billSummary(each)]));
  const record = recordOfCutOff(facts, new Date(endedAt).toISOString(), byOperation);
  return {
    bill: id,
    runId: facts.run_id,
    endedAt,
    job: facts.job,
    list,
    isComplete: false,
    line: JSON.stringify(record),
    summary: null,
  };
}
