import {UsageError} from '../../errors.ts';
import {csvTable} from '../../output/csv-table.ts';
import {percent} from '../../report/format.ts';
import type {RunRecord} from '../../report/run-record.ts';
import {count, table} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {fromHistory, type ListingFlags, recordsSince, sinceOf} from './since.ts';

/** `bulk-enrich runs`: a line for each end of a run; `runs RUN`: the summary that is kept of it. */
export async function runsCommand(
  run: string | undefined,
  flags: ListingFlags & {readonly job?: string},
): Promise<number> {
  if (run !== undefined) {
    print('stdout', `${summaryOf(run)}\n`);
    return 0;
  }
  const since = sinceOf(flags);
  const runs = recordsSince(since).filter(({job}) => flags.job === undefined || job === flags.job);
  const listing = {since: new Date(since).toISOString(), runs};
  if (flags.json === true) printJson(listing);
  else print('stdout', flags.csv === true ? asCsv(runs) : render(runs, flags.since));
  return 0;
}

function summaryOf(run: string): string {
  const text = fromHistory(history => {
    const summary = history.summaryOf(run);
    return summary === undefined ? undefined : JSON.stringify(JSON.parse(summary), null, 2);
  }, undefined);
  if (text === undefined)
    throw new UsageError(
      'unknown_run',
      `No summary is kept of a run whose identifier begins with "${run}". bulk-enrich runs lists them; of each job the last 30 are kept.`,
    );
  return text;
}

function render(runs: readonly RunRecord[], since: string): string {
  if (runs.length === 0) return `No run has ended in the last ${since}.\n`;
  const lines = runs.map(record => [
    record.run_id.slice(0, 8),
    record.ended_at.slice(0, 16).replace('T', ' '),
    record.job ?? record.list ?? '-',
    record.account.label,
    whyOf(record),
    orUnknown(record.exit_code, count),
    orUnknown(record.rows, count),
    count(record.calls),
    count(record.credits.spent),
    count(record.credits.maybe_spent),
    orUnknown(record.saved, count),
    orUnknown(record.hit_rate, share => percent(share, 1)),
  ]);
  const head = [
    'run',
    'ended (UTC)',
    'job or list',
    'account',
    'why',
    'exit',
    'rows',
    'calls',
    'credits',
    'maybe',
    'saved',
    'known',
  ];
  return `${table([head, ...lines], 5)}\n`;
}

function orUnknown(value: number | null, shown: (value: number) => string): string {
  return value === null ? '–' : shown(value);
}

function whyOf({reason, drift, store_trouble: trouble}: RunRecord): string {
  return [
    reason,
    ...(trouble ? ['without the store'] : []),
    ...(drift.length > 0 ? [`unlike: ${drift.join(', ')}`] : []),
  ].join('; ');
}

function asCsv(runs: readonly RunRecord[]): string {
  const operations = [...new Set(runs.flatMap(({credits}) => Object.keys(credits.by_operation)))].sort();
  const head = [
    ...[
      'run_id',
      'started_at',
      'ended_at',
      'job',
      'list',
      'endpoint',
      'account',
      'status',
      'reason',
      'exit_code',
    ],
    ...[
      'rows',
      'calls',
      'credits_spent',
      'credits_maybe_spent',
      'saved',
      'hit_rate',
      'store_trouble',
      'drift',
    ],
    ...operations.map(name => `credits_${name}`),
  ];
  const rows = runs.map(({account, credits, ...record}) => [
    ...[
      record.run_id,
      record.started_at,
      record.ended_at,
      record.job,
      record.list,
      account.endpoint,
      account.label,
    ],
    ...[record.status, record.reason, record.exit_code, record.rows, record.calls, credits.spent],
    ...[credits.maybe_spent, record.saved, record.hit_rate, record.store_trouble, record.drift.join(' ')],
    ...operations.map(name => {
      const {spent = 0, maybe_spent: maybe = 0} = credits.by_operation[name] ?? {};
      return spent + maybe;
    }),
  ]);
  return csvTable(head, rows);
}
