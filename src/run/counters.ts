import {type Operation, operationNames} from '../client/wire.ts';
import type {Result} from '../lookup/plan.ts';
import type {Target} from '../lookup/targets.ts';
import type {ReadyEntry} from './in-order.ts';
import {countAnswer, emptyTop, type Top} from './top-counts.ts';

/** What the written rows came to. Saved with each checkpoint, so it always speaks of exactly the rows up to there. */
export interface Counters {
  readonly rows: {written: number; rejected: number; ok: number; with_errors: number};
  /** Cells by what became of them; their sum is all cells looked at. */
  readonly lookups: Record<Operation, Record<Result['status'], number>>;
  readonly errors: Record<string, {count: number; rows: number[]}>;
  readonly skipped: Record<string, number>;
  /** The most common countries, networks and domains among the answers. */
  readonly top: Top;
}

/** Of each error code the first rows are named. */
const NAMED_ROWS = 10;

export function emptyCounters(): Counters {
  const zero = () => ({ok: 0, empty: 0, invalid: 0, failed: 0, unknown: 0, skipped: 0});
  return {
    rows: {written: 0, rejected: 0, ok: 0, with_errors: 0},
    lookups: Object.fromEntries(operationNames.map(name => [name, zero()])) as Counters['lookups'],
    errors: {},
    skipped: {},
    top: emptyTop(),
  };
}

export function countEntry(counters: Counters, entry: ReadyEntry, targets: readonly Target[]): void {
  const {record} = entry;
  if (record.type === 'reject') {
    counters.rows.rejected += 1;
    countError(counters, `rejected.${record.reason}`, record.record);
    return;
  }
  counters.rows.written += 1;
  let trouble = false;
  for (const [index, target] of targets.entries()) {
    const result = entry.results[index] as Result;
    counters.lookups[target.operation][result.status] += 1;
    if (result.status === 'ok') countAnswer(counters.top, target.operation, JSON.parse(result.data));
    if (result.status === 'skipped')
      counters.skipped[result.error] = (counters.skipped[result.error] ?? 0) + 1;
    if (!('error' in result) || (result.status === 'skipped' && result.error !== 'budget')) continue;
    countError(counters, `${target.operation}.${result.error}`, record.record);
    trouble ||= result.status !== 'invalid';
  }
  if (trouble) counters.rows.with_errors += 1;
  else counters.rows.ok += 1;
}

function countError(counters: Counters, code: string, row: number): void {
  let entry = counters.errors[code];
  if (entry === undefined) {
    entry = {count: 0, rows: []};
    counters.errors[code] = entry;
  }
  entry.count += 1;
  if (entry.rows.length < NAMED_ROWS) entry.rows.push(row);
}

/** Cells whose lookup did not succeed, of all operations together. */
export function failures(counters: Counters): number {
  return operationNames.reduce(
    (sum, name) => sum + counters.lookups[name].failed + counters.lookups[name].unknown,
    0,
  );
}

/** Cells that asked for a lookup, of all operations together. */
export function asked(counters: Counters): number {
  return operationNames.reduce((sum, name) => sum + counters.lookups[name].ok, failures(counters));
}
