import {type ErrorCode, type ExitCode, exitCodes, isSuccess} from '../errors.ts';
import type {Job} from '../job/job.ts';
import {unaskedCodes} from '../ledger/lookup-outcome.ts';
import type {RefusalStreak, Tally} from '../ledger/run/tally.ts';
import {REFUSAL_STREAK} from '../lookup/canary.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import {operationNames} from '../operations/table.ts';
import {UNFINISHED_DAYS} from '../report/run-record.ts';
import type {Summary} from '../report/summary.ts';
import {type Said, say, setting} from '../sentence.ts';
import {type Counters, hasAnswers, sumFailedCells, sumUnaskedCells} from './counts/counters.ts';

export interface Counted {
  readonly count: number;
  readonly total: number;
}

export interface End {
  readonly status: Summary['status'];
  readonly reason: Summary['reason'];
  readonly exitCode: ExitCode;
  /** Milliseconds since the epoch at which a new try makes sense. */
  readonly comeBackMs?: number | undefined;
}

export interface Stop<Message = string> extends End {
  readonly status: 'interrupted' | 'failed';
  /** A short, stable name: `signal`, `deadline`, `outage`, `credentials`, … */
  readonly reason: ErrorCode;
  readonly message: Message;
  /** True if failures are not the values' fault: the next session looks these values up again. */
  readonly forgetsFailures?: true;
  /** The counts that exceeded a limit, so that a higher limit can be suggested. */
  readonly counted?: Counted | undefined;
  readonly error?: unknown;
}

export interface RunOutcome<Message = string> {
  readonly exitCode: ExitCode;
  readonly summary: Summary;
  /** Set if the run ended before its input did. */
  readonly stop: Stop<Message> | undefined;
  /** Set if an earlier run had written all rows, and this run sent nothing. */
  readonly found?: 'complete';
  readonly message: Message;
  /** True if answers that were paid for could not be written, so that the next run may pay for them again. */
  readonly lostAnswers?: boolean;
}

export function endOfCompletedRun(counters: Counters, tally: Tally, storesRejections: boolean): End {
  const gap = gapIn(counters, tally, storesRejections);
  if (gap === undefined) return {status: 'completed', exitCode: exitCodes.ok, reason: 'done'};
  const refusals = operationNames.map(name => tally.refusals[name].refused);
  if (refusals.some(each => isKeyForbidden(each)))
    return {status: 'partial', exitCode: exitCodes.credentials, reason: 'credentials'};
  const hasSpoken = hasAnswers(counters) || refusals.some(({count, moment}) => count > 0 && !moment);
  const exitCode = (hasSpoken ? undefined : withoutAnswers[gap]) ?? exitCodes.incomplete;
  return {status: 'partial', exitCode, reason: gap};
}

/** The exit code of an output in which no row has an answer: that of a run which stops for the same reason. */
const withoutAnswers: Readonly<Record<string, ExitCode>> = {
  budget: exitCodes.credits,
  deadline: exitCodes.temporary,
  outage: exitCodes.temporary,
  lookups_failed: exitCodes.temporary,
};

/** The summary of a run that wrote all rows, with the earlier days that are unfinished now: with them, 0 becomes 3. */
export function withUnfinishedDays(summary: Summary, {unfinished, settings}: Job): Summary {
  if (unfinished === undefined) return summary;
  const told = {...summary, unfinished_days: unfinished.map(({date}) => date)};
  if (summary.reason !== 'done' && summary.reason !== UNFINISHED_DAYS) return told;
  // With --date, the user has chosen one day.
  return unfinished.length > 0 && settings.date === undefined
    ? {...told, exit_code: exitCodes.incomplete, reason: UNFINISHED_DAYS}
    : {...told, exit_code: exitCodes.ok, reason: 'done'};
}

/** True if the last values, at least `least`, were refused with 403 without an answer between: the key is to blame. */
export function isKeyForbidden(
  {count, credentials, code}: RefusalStreak,
  least: number = REFUSAL_STREAK,
): boolean {
  return credentials && code !== INVALID_TOKEN_CODE && count >= least;
}

/**
 * The reason why the output is incomplete; undefined if it is complete. A rejection that the store keeps counts as
 * an answer, since later runs don't look its value up. A streak of refusals (many rejected values in a row) makes
 * the output incomplete, even if every row has an earlier answer.
 */
function gapIn(counters: Counters, tally: Tally, storesRejections: boolean): string | undefined {
  const rejected = operationNames.reduce((sum, name) => sum + counters.rejected[name], 0);
  const lost = sumFailedCells(counters) - (storesRejections ? rejected : 0);
  const cutShort = unaskedCodes.find(code => sumUnaskedCells(counters, code) > 0);
  if (lost > 0) return 'lookups_failed';
  if (cutShort !== undefined) return cutShort;
  if (operationNames.some(name => tally.refusals[name].longestStreak > 0)) return 'refused_in_a_row';
  return counters.rows.rejected > 0 ? 'rows_rejected' : undefined;
}

/** True if the run wrote all its rows, even if some of them lack results (`partial`), and one value was answered. */
export function isCompleteRun({status, exit_code}: Summary): boolean {
  if (status !== 'completed' && status !== 'partial') return false;
  return isSuccess(exit_code) || exit_code === exitCodes.limit;
}

/** Sentences that say why a run that wrote its output is no success; empty without a reason. */
export function failureSentence(summary: Summary): Said {
  const {failed_if: exceeded, reason} = summary;
  const drifted = reason === 'drift' ? " It differs from the job's last runs by more than drift allows." : '';
  const days =
    reason === UNFINISHED_DAYS ? ` Unfinished earlier days: ${summary.unfinished_days?.join(', ')}.` : '';
  const limits = exceeded.map(text => say` A limit is exceeded (${setting('failIf')}): ${text}.`);
  return [unansweredSentence(summary), ...limits, drifted, days].reduce(
    (all, one) => say`${all}${one}`,
    say``,
  );
}

/** A sentence for an output in which no row has an answer, or of a key that is refused; empty for others. */
function unansweredSentence(summary: Summary): Said {
  if (summary.reason === 'credentials')
    return ' The service refuses the key (403): check it, and what it may do.';
  if (summary.status !== 'partial' || isCompleteRun(summary)) return '';
  const none = ` No row has an answer (${summary.reason}).`;
  if (summary.output.bytes === null) return none;
  return say`${none} For 20 hours from its start, the same command continues with what is left of ${setting('maxCredits')} and ${setting('resends')}. To begin anew, add ${setting('restart', true)} once.`;
}

/** True if `count` exceeds a limit: a number, or a share of `total` (if that is at least {@link FEW}). */
export function exceedsLimit(
  limit: {count: number} | {share: number} | undefined,
  {count, total}: Counted,
): boolean {
  if (limit === undefined) return false;
  if ('count' in limit) return count > limit.count;
  return total >= FEW && count > limit.share * total;
}

const FEW = 100;
