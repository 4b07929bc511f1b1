import type {Job} from '../../job/job.ts';
import type {Bill} from '../../ledger/bills.ts';
import type {HistoryEntry} from '../../ledger/history.ts';
import type {Ledger} from '../../ledger/ledger.ts';
import type {Price} from '../../report/money.ts';
import {listOf, type RecordedSession, recordOfCutOff} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {type RunIdentity, scopeOf} from '../identity.ts';
import type {World} from '../io.ts';
import {spendingSummary} from './build-summary.ts';
import {listKey, ownEntry, remember} from './history.ts';

/** What the history is to know of a session that can't tell it itself. */
interface BillFacts extends RecordedSession {
  /** By which its list is known from one run to the next. */
  readonly list_key: string | null;
}

/** Opens the session's bill, and tells the history what sessions before it spent that were cut off. */
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
  } satisfies BillFacts);
  const {untold} = ledger.bills;
  if (untold.length > 0 && tellBills(untold, io)) ledger.bills.told(untold);
}

/** Tells the history of this session by its summary, and of earlier ones that it may lack. True once it has all of that. */
export function tellEnd(job: Job, summary: Summary, bills: readonly Bill[], io: World): boolean {
  const others = bills.filter(({id}) => id !== summary.session.id);
  return remember(io, () => [...others.map(cutOffEntry), ownEntry(job, summary)]);
}

/** Tells the history what sessions spent that could not tell it themselves. True once it has all of that. */
export function tellBills(bills: readonly Bill[], io: World): boolean {
  return remember(io, () => bills.map(cutOffEntry));
}

/** The line of a bill whose session was cut off. */
function cutOffEntry({id, at, about, by}: Bill): HistoryEntry {
  const {list_key: list, ...facts} = about as BillFacts;
  // One that was cut off during its first calls has booked none.
  const endedAt = Math.max(at, Date.parse(facts.started_at));
  const spent = Object.entries(by).filter(([, each]) => Object.values(each).some(count => count !== 0));
  const inCredits = spent.map(([name, each]) => [name, {calls: each.calls, ...spendingSummary(each)}]);
  const record = recordOfCutOff(facts, new Date(endedAt).toISOString(), Object.fromEntries(inCredits));
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
