import {unaskedCodes} from '../ledger/lookup.ts';
import type {Drift, Summary} from './summary.ts';

/** Figures of a run for comparison with later runs: rows, credits, shares and a mean, but no values from rows. */
export interface RunProfile {
  readonly run_id: string;
  readonly finished_at: string;
  /** False if a limit left values without a call. */
  readonly isWhole: boolean;
  readonly rows: number;
  /** Credits spent, plus credits maybe spent. */
  readonly credits: number;
  /** By name: a share from 0 to 1, and `of`, the number of values, answers or rows that it is a share of. */
  readonly shares: Readonly<Record<string, {readonly share: number; readonly of: number}>>;
  /** Mean risk score, 0 to 100. */
  readonly mean?: number | undefined;
}

/** Maximum number of earlier runs to compare with. Few, so that their median soon follows a lasting change. */
const COMPARED = 10;
/** A figure within this many standard deviations of the median is not reported: it may differ by chance. */
const DEVIATIONS = 3;
/** Rows and credits vary more than shares: their relative threshold is this many times higher. */
const COUNT_FACTOR = 5;
/** A run caught up if the last whole run was longer ago than the usual time between two, times this factor. */
const CAUGHT_UP = 1.5;
/** Name of the share of distinct values that the answer store knew. */
const HIT_RATE = 'hit_rate';

export function profileOf(summary: Summary): RunProfile {
  const {rows, lookups, risk, fields, credits} = summary;
  const shares: Record<string, RunProfile['shares'][string]> = {};
  const add = (name: string, part: number, of: number) => {
    if (of > 0) shares[name] = {share: part / of, of};
  };
  const total = (of: (facts: (typeof lookups)[string]) => number) =>
    Object.values(lookups).reduce((sum, facts) => sum + of(facts), 0);
  const failed = total(facts => facts.failed + facts.unknown);
  add('failed', failed, failed + total(facts => facts.answered));
  add(
    'invalid',
    total(facts => facts.invalid),
    total(facts => facts.values - facts.empty),
  );
  add(
    HIT_RATE,
    total(facts => facts.from_store),
    total(facts => facts.distinct),
  );
  if (risk) add('risk.high', risk.high, risk.scored);
  for (const [operation, ofFields] of Object.entries(fields)) {
    const answers = lookups[operation]?.answered ?? 0;
    for (const [field, {present, true: yes}] of Object.entries(ofFields)) {
      add(`${operation}.${field} present`, present * answers, answers);
      if (yes !== undefined) add(`${operation}.${field}`, yes * present * answers, present * answers);
    }
  }
  const mean = risk?.mean ?? undefined;
  return {
    run_id: summary.run_id,
    finished_at: summary.finished_at,
    isWhole: unaskedCodes.every(code => code !== summary.reason),
    rows: rows.written,
    credits: credits.spent + credits.maybe_spent,
    shares,
    ...(mean === undefined ? {} : {mean}),
  };
}

/**
 * Returns the figures of this run that differ from the median of the job's last runs, by more than `threshold` and
 * by more than chance explains. `threshold` is a share from 0 to 1. Compares only whole runs. A run that caught up on
 * a night without one had more rows and new values than usual, which is no jump.
 */
export function compareRuns(now: RunProfile, history: readonly RunProfile[], threshold: number): Drift[] {
  const before = history.filter(({isWhole}) => isWhole).slice(-COMPARED);
  if (!now.isWhole) return [];
  const usualWork = !hasCaughtUp(now, before);
  const jumps: Drift[] = [];
  const judge = (
    what: string,
    of: (run: RunProfile) => number | undefined,
    jumped: (value: number, usual: number) => boolean,
  ) => {
    const value = of(now);
    const known = before.map(of).filter(earlier => earlier !== undefined);
    if (value === undefined || known.length === 0) return;
    const usual = median(known);
    if (jumped(value, usual)) jumps.push({what, now: value, usual, runs: known.length});
  };
  judge(
    'rows',
    run => run.rows,
    (rows, usual) => (usualWork || rows < usual) && countJumped(rows, usual, threshold),
  );
  // Credits are reported only if they rise, and the share of known answers (`HIT_RATE`) only if it falls.
  judge(
    'credits',
    run => run.credits,
    (credits, usual) => usualWork && credits > usual && countJumped(credits, usual, threshold),
  );
  judge(
    'risk.mean',
    run => run.mean,
    (mean, usual) => shareJumped(mean / 100, usual / 100, now.rows, threshold),
  );
  for (const [name, {of}] of Object.entries(now.shares)) {
    judge(
      name,
      run => run.shares[name]?.share,
      (share, usual) =>
        (name !== HIT_RATE || (usualWork && share < usual)) && shareJumped(share, usual, of, threshold),
    );
  }
  return jumps;
}

function hasCaughtUp(now: RunProfile, before: readonly RunProfile[]): boolean {
  const ends = [...before, now].map(({finished_at: end}) => Date.parse(end));
  const waits = ends.slice(1).map((end, nth) => end - (ends[nth] ?? end));
  const last = waits.pop() ?? 0;
  return waits.length > 0 && last > CAUGHT_UP * median(waits);
}

/** True if a share of `of` values moved by more than `threshold`, and by more than chance explains. */
function shareJumped(now: number, usual: number, of: number, threshold: number): boolean {
  const moved = Math.abs(now - usual);
  const middle = (now + usual) / 2;
  const chance = Math.sqrt((middle * (1 - middle)) / Math.max(1, of));
  return moved > threshold && moved > DEVIATIONS * chance;
}

function countJumped(now: number, usual: number, threshold: number): boolean {
  const chance = Math.sqrt(Math.max(now, usual, 1));
  const moved = Math.abs(now - usual);
  return moved > COUNT_FACTOR * threshold * usual && moved > DEVIATIONS * chance;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
