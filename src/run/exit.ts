import {type ExitCode, exitCodes} from '../errors.ts';
import {type Counters, failures} from './books/counters.ts';

/** The exit code of a run that wrote all its rows, and why. */
export function completedExit(counters: Counters): {readonly exitCode: ExitCode; readonly reason: string} {
  const lost = failures(counters);
  const cutShort = Object.values(counters.skipped).some(({budget = 0}) => budget > 0);
  if (lost > 0) return {exitCode: exitCodes.incomplete, reason: 'lookups_failed'};
  if (cutShort) return {exitCode: exitCodes.incomplete, reason: 'budget'};
  if (counters.rows.rejected > 0) return {exitCode: exitCodes.incomplete, reason: 'rows_rejected'};
  return {exitCode: exitCodes.ok, reason: 'done'};
}

/** Whether `count` of `total` is more than a limit such as `100` or `1%`. A share says nothing of the first few. */
export function exceeds(
  limit: {count: number} | {share: number} | undefined,
  count: number,
  total: number,
): boolean {
  if (limit === undefined) return false;
  if ('count' in limit) return count > limit.count;
  return total >= FEW && count > limit.share * total;
}

const FEW = 100;
