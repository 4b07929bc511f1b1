import {priceOf} from '../../columns/prices.ts';
import type {Job} from '../../job/job.ts';
import {thousandths} from '../../job/money.ts';
import type {PeriodBudget} from '../../ledger/account/period-budget.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import {many} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {spentByRun} from '../end/history.ts';
import type {World} from '../io.ts';

/** Milliseconds after a period's start within which an answer may come to a call of the period before. */
const LONGEST_CALL_MS = 3_600_000;

/**
 * Raises counts that lack credits which the history or the answer store show. Their file is lost, or older: a limit that
 * was used up would be free again.
 */
export function restoreCounts(
  budgets: readonly PeriodBudget[],
  job: Job,
  store: AnswerStore,
  io: World,
): void {
  if (budgets.length === 0) return;
  const price = priceOf(job);
  const runs = spentByRun(job, io);
  for (const budget of budgets) {
    const {begunAt, renewsAt} = budget;
    const bought = store.boughtWithin(begunAt + LONGEST_CALL_MS, renewsAt);
    // Other jobs may have had lower prices than this one: one credit is the usual.
    const paid = bought.map(([operation, count]) => count * Math.min(price(operation), thousandths(1)));
    const spent = runs.map(run => (run.at >= begunAt && run.at < renewsAt ? run.spent : 0));
    const totals = [spent, paid].map(each => each.reduce((sum, one) => sum + one, 0));
    budget.raiseTo(Math.max(...totals));
  }
}

/** A sentence on counts that lacked credits; empty if none did. */
export function lackedSentence({credits: {account}}: Summary): string {
  const {lacked = 0} = [account.per_day, account.per_month].find(each => (each?.lacked ?? 0) > 0) ?? {};
  if (lacked === 0) return '';
  return ` The account's count lacked ${many(lacked, 'credit')} that earlier runs spent, which were added: its file (daily-credits.db in the state directory) is new or older. Check that all runs use the same XDG_STATE_HOME, and compare the service's own count.`;
}
