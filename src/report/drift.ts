import {unaskedCodes} from '../ledger/lookup-outcome.ts';
import {formatCount, formatPercent, pluralize} from './format.ts';
import type {Section} from './model.ts';
import {lookupTotal} from './run-record.ts';
import type {Drift, Summary} from './summary.ts';

/** Figures of a run for comparison with later runs: counts, shares and a mean, but no values from rows. */
export interface RunProfile {
  readonly finished_at: string;
  /** False if a limit left values without a call. */
  readonly isWhole: boolean;
  /** `value`: a count, a share from 0 to 1, or a mean from 0 to 100. `of`: how many values, answers or rows it is of. */
  readonly figures: Readonly<Record<string, {readonly value: number; readonly of: number}>>;
}

/** Maximum number of earlier runs to compare with. Few, so that their median soon follows a lasting change. */
const COMPARED = 10;
/** A figure within this many standard deviations of the median is not reported: it may differ by chance. */
const DEVIATIONS = 3;
/** Rows and credits vary more than shares: their relative threshold is this many times higher. */
const COUNT_FACTOR = 5;
/** A run caught up if the last whole run was longer ago than the usual time between two, times this factor. */
const CAUGHT_UP = 1.5;

export function makeRunProfile(summary: Summary): RunProfile {
  const {rows, risk, new_fields: fields = {}, new_answers = {}, credits, finished_at, reason} = summary;
  const figures: Record<string, {value: number; of: number}> = {
    rows: {value: rows.written, of: 1},
    credits: {value: credits.spent + credits.maybe_spent, of: 1},
  };
  const addShare = (name: string, part: number, of: number) => {
    if (of > 0) figures[name] = {value: part / of, of};
  };
  if (typeof risk?.mean === 'number') figures['risk.mean'] = {value: risk.mean, of: rows.written};
  const failed = lookupTotal(summary, 'failed', 'unknown');
  const cells = lookupTotal(summary, 'values') - lookupTotal(summary, 'empty');
  addShare('failed', failed, failed + lookupTotal(summary, 'answered'));
  addShare('invalid', lookupTotal(summary, 'invalid'), cells);
  // The share of distinct values that the answer store knew.
  addShare('hit_rate', lookupTotal(summary, 'from_store'), lookupTotal(summary, 'distinct'));
  if (risk) addShare('risk.high', risk.high, risk.scored);
  for (const [operation, ofFields] of Object.entries(fields)) {
    const answers = new_answers[operation] ?? 0;
    for (const [field, {present, true: yes}] of Object.entries(ofFields)) {
      addShare(`${operation}.${field} present`, present * answers, answers);
      if (yes !== undefined) addShare(`${operation}.${field}`, yes * present * answers, present * answers);
    }
  }
  return {finished_at, isWhole: unaskedCodes.every(code => code !== reason), figures};
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
  /** True if a figure of this name may rise or fall so: credits count only if they rise, known values only if they fall. */
  const isOfInterest = (name: string, rises: boolean) => {
    if (name === 'rows') return usualWork || !rises;
    if (name === 'credits') return usualWork && rises;
    return name !== 'hit_rate' || (usualWork && !rises);
  };
  return Object.entries(now.figures).flatMap(([what, {value, of}]) => {
    const known = before.flatMap(({figures}) => figures[what]?.value ?? []);
    const usual = median(known);
    const isJump = known.length > 0 && isOfInterest(what, value > usual);
    return isJump && hasJumped(what, {value, usual, of}, threshold)
      ? [{what, now: value, usual, runs: known.length}]
      : [];
  });
}

function hasCaughtUp(now: RunProfile, before: readonly RunProfile[]): boolean {
  const ends = [...before, now].map(({finished_at: end}) => Date.parse(end));
  const waits = ends.slice(1).map((end, nth) => end - (ends[nth] ?? end));
  const last = waits.pop() ?? 0;
  return waits.length > 0 && last > CAUGHT_UP * median(waits);
}

/** True if a figure moved by more than `threshold`, and by more than chance explains. */
function hasJumped(
  name: string,
  {value, usual, of}: {readonly value: number; readonly usual: number; readonly of: number},
  threshold: number,
): boolean {
  if (name === 'rows' || name === 'credits') {
    const chance = Math.sqrt(Math.max(value, usual, 1));
    const moved = Math.abs(value - usual);
    return moved > COUNT_FACTOR * threshold * usual && moved > DEVIATIONS * chance;
  }
  const scale = name === 'risk.mean' ? 100 : 1;
  const moved = Math.abs(value - usual) / scale;
  const middle = (value + usual) / 2 / scale;
  const chance = Math.sqrt((middle * (1 - middle)) / Math.max(1, of));
  return moved > threshold && moved > DEVIATIONS * chance;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Figures that differ from the job's last runs; undefined if none does. */
export function driftSection({drift}: Summary): Section | undefined {
  if (drift.length === 0) return undefined;
  return {
    title: 'Unlike the last runs',
    note: `Compared with the median of ${pluralize(drift[0]?.runs ?? 0, 'earlier run')} of this job.`,
    blocks: [
      {
        caption: 'What jumped',
        head: ['What', 'this run', 'usually'],
        rows: drift.map(({what, now, usual}) => [
          driftName(what),
          driftValue(what, now),
          driftValue(what, usual),
        ]),
      },
    ],
  };
}

const names: Readonly<Record<string, string>> = {
  rows: 'Rows',
  credits: 'Credits',
  hit_rate: 'Share known from the store',
  'risk.mean': 'Mean risk score',
  'risk.high': 'Share of high risk',
  failed: 'Share of failed lookups',
  invalid: 'Share of invalid values',
};

function driftName(what: string): string {
  return names[what] ?? what;
}

/** Rows, credits and scores are numbers; all other figures are shares. */
function driftValue(what: string, value: number): string {
  if (what === 'rows' || what === 'credits') return formatCount(Math.round(value));
  return what === 'risk.mean' ? formatCount(Math.round(value * 10) / 10) : formatPercent(value, 1);
}

/** One changed figure as part of a sentence: `share of high risk 12% (usually 3.1%)`. */
export function driftSentence({what, now, usual}: Drift): string {
  const name = driftName(what);
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)} ${driftValue(what, now)} (usually ${driftValue(what, usual)})`;
}
