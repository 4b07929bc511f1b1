import {isUnasked} from '../ledger/lookup-outcome.ts';
import {formatCount, formatPercent, pluralize} from './format.ts';
import {type Section, tableOf, withRows} from './model.ts';
import {lookupTotal} from './run-record.ts';
import type {Drift, Summary} from './summary.ts';

/** Figures of a run for comparison with later runs: counts, shares and a mean, but no values from rows. */
export interface RunProfile {
  readonly finished_at: string;
  /** False if a limit left values without a call. */
  readonly isWhole: boolean;
  /** The list of a run with `{date}`: its day and hash. Undefined for a list of a few rows. */
  readonly list?: {readonly date: string; readonly sha256: string} | undefined;
  /** `value`: a count, a share from 0 to 1, or a mean from 0 to 100. `of`: how many values, answers or rows it is of. */
  readonly figures: Readonly<Record<string, {readonly value: number; readonly of: number}>>;
}

/** Maximum number of earlier runs to compare with. Few, so that their median soon follows a lasting change. */
const COMPARED = 10;
/** A figure within this many standard deviations of the median is not reported: it may differ by chance. */
const DEVIATIONS = 3;
/** The variance of a median, in multiples of that of a mean. */
const MEDIAN_VARIANCE = Math.PI / 2;
/** Rows and credits vary more than shares: their relative threshold is this many times higher. */
const COUNT_FACTOR = 5;
/** A run caught up if the last whole run was longer ago than the usual time between two, times this factor. */
const CAUGHT_UP = 1.5;
/** A list with fewer rows than this may repeat by chance, or have known values only. */
const FEWEST_ROWS = 20;
/** All values of a list are known: unusual if each of the last `runs` knew less than this share. */
const ALL_KNOWN = {runs: 5, share: 0.9} as const;
/** Name of the figure that is 1 for a list that is probably an earlier day's. */
const EARLIER_LIST = 'earlier_list';

export function makeRunProfile(summary: Summary): RunProfile {
  const {rows, risk, new_fields: fields = {}, new_answers = {}, credits} = summary;
  const {date, input, finished_at} = summary;
  const {sha256} = input;
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
  addShare('hit_rate', lookupTotal(summary, 'from_store'), lookupTotal(summary, 'distinct'));
  if (risk) addShare('risk.high', risk.high, risk.scored);
  for (const [operation, ofFields] of Object.entries(fields)) {
    const answers = new_answers[operation] ?? 0;
    for (const [field, {present, true: yes}] of Object.entries(ofFields)) {
      addShare(`${operation}.${field} present`, present * answers, answers);
      if (yes !== undefined) addShare(`${operation}.${field}`, yes * present * answers, present * answers);
    }
  }
  const list = date !== undefined && sha256 !== null && rows.read >= FEWEST_ROWS ? {date, sha256} : undefined;
  return {finished_at, isWhole: !wasCutShort(summary), list, figures};
}

/** True if a limit left values without a call. The run's own reason may be another, such as failed lookups. */
function wasCutShort(summary: Summary): boolean {
  const own = summary.errors.filter(({service}) => service !== true);
  const codes = own.map(({code}) => code.slice(code.indexOf('.') + 1));
  return lookupTotal(summary, 'stale') > 0 || [summary.reason, ...codes].some(isUnasked);
}

/** Says that a list is probably an earlier day's under this day's name; undefined if it is not. */
export function findEarlierList(
  {list, figures}: RunProfile,
  history: readonly RunProfile[],
): {drift: Drift; sentence: string} | undefined {
  if (list === undefined) return undefined;
  const drift = {what: EARLIER_LIST, now: 1, usual: 0, runs: history.length};
  const others = history.filter(run => run.list?.date !== list.date);
  const same = others.findLast(run => run.list?.sha256 === list.sha256)?.list;
  if (same !== undefined)
    return {drift, sentence: `The list of ${list.date} has the same bytes as the one of ${same.date}.`};
  const {runs, share} = ALL_KNOWN;
  const last = others.slice(-runs);
  const isUnusual = last.length === runs && last.every(run => (run.figures.hit_rate?.value ?? 1) < share);
  // A day that runs again knows its values.
  if (!isUnusual || others.length < history.length || figures.hit_rate?.value !== 1) return undefined;
  return {
    drift,
    sentence: `All values of this list are known, as those of an earlier list; the last ${runs} runs knew less than ${formatPercent(share, 1)}.`,
  };
}

/**
 * The figures of this run that differ from the median of the job's last whole runs, by more than `threshold` (a share)
 * and by more than chance explains. A run that caught up on a night without one had more rows and new values than
 * usual, which is no jump.
 */
export function compareRuns(now: RunProfile, history: readonly RunProfile[], threshold: number): Drift[] {
  const before = history.filter(({isWhole}) => isWhole).slice(-COMPARED);
  if (!now.isWhole) return [];
  const usualWork = !hasCaughtUp(now, before);
  /** True if a change in this direction counts: credits only if they rise, known values only if they fall. */
  const isOfInterest = (name: string, rises: boolean) => {
    if (name === 'rows') return usualWork || !rises;
    if (name === 'credits') return usualWork && rises;
    return name !== 'hit_rate' || (usualWork && !rises);
  };
  return Object.entries(now.figures).flatMap(([what, {value, of}]) => {
    const known = before.flatMap(({figures}) => figures[what] ?? []);
    const usual = median(known.map(figure => figure.value));
    const isJump = known.length > 0 && isOfInterest(what, value > usual);
    const ofUsual = (known.length * median(known.map(figure => figure.of))) / MEDIAN_VARIANCE;
    if (!isJump || !hasJumped(what, value, usual, 1 / of + 1 / ofUsual, threshold)) return [];
    return [{what, now: value, usual, runs: known.length}];
  });
}

function hasCaughtUp(now: RunProfile, before: readonly RunProfile[]): boolean {
  const ends = [...before, now].map(({finished_at: end}) => Date.parse(end));
  const waits = ends.slice(1).map((end, index) => end - (ends[index] ?? end));
  const last = waits.pop() ?? 0;
  return waits.length > 0 && last > CAUGHT_UP * median(waits);
}

/**
 * True if a figure moved by more than `threshold`, and by more than chance explains. `variance`: that of the difference
 * of two shares, in multiples of that of a single answer.
 */
function hasJumped(name: string, value: number, usual: number, variance: number, threshold: number): boolean {
  if (isCount(name)) {
    const chance = Math.sqrt(Math.max(value, usual, 1));
    const moved = Math.abs(value - usual);
    return moved > COUNT_FACTOR * threshold * usual && moved > DEVIATIONS * chance;
  }
  const scale = name === 'risk.mean' ? 100 : 1;
  const moved = Math.abs(value - usual) / scale;
  const middle = (value + usual) / 2 / scale;
  const chance = Math.sqrt(middle * (1 - middle) * variance);
  return moved > threshold && moved > DEVIATIONS * chance;
}

/** Rows and credits are counts, `risk.mean` is a score. All other figures are shares. */
function isCount(name: string): boolean {
  return name === 'rows' || name === 'credits';
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export function driftSection({drift}: Summary): Section {
  const rows = drift.map(
    ({what, now, usual}) => [driftName(what), driftValue(what, now), driftValue(what, usual)] as const,
  );
  return {
    title: 'Unlike the last runs',
    note: `Compared with the median of ${pluralize(drift[0]?.runs ?? 0, 'earlier run')} of this job.`,
    blocks: withRows([tableOf('What jumped', ['What', 'this run', 'usually'], rows)]),
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
  [EARLIER_LIST]: "An earlier day's list",
};

function driftName(what: string): string {
  return names[what] ?? what;
}

function driftValue(what: string, value: number): string {
  if (isCount(what)) return formatCount(Math.round(value));
  return what === 'risk.mean' ? formatCount(Math.round(value * 10) / 10) : formatPercent(value, 1);
}

/** One changed figure as part of a sentence: `share of high risk 12% (usually 3.1%)`. */
export function driftSentence({what, now, usual}: Drift): string {
  const name = driftName(what);
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)} ${driftValue(what, now)} (usually ${driftValue(what, usual)})`;
}
