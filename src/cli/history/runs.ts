import {UsageError} from '../../errors.ts';
import {csvTable} from '../../output/csv-line.ts';
import {percent} from '../../report/format.ts';
import {moneyOf} from '../../report/money.ts';
import {exact, type RunRecord} from '../../report/run-record.ts';
import {historyDirectory} from '../../run/end/history.ts';
import {count, widthOf} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {columnIn, fitted, type TableColumn} from '../terminal/table.ts';
import {keptRuns, type ListingFlags, recordsSince, sinceOf} from './since.ts';

/**
 * `bulk-enrich runs`: prints a line for each run. `runs RUN`: prints a run's summary.
 */
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
  const summary = keptRuns().findLast(({run_id: id}) => id.startsWith(run));
  if (summary === undefined)
    throw new UsageError(
      'unknown_run',
      `There is no run "${run}" in the history. To list runs: bulk-enrich runs.`,
    );
  return JSON.stringify(summary, null, 2);
}

function render(runs: readonly RunRecord[], since: string): string {
  if (runs.length === 0)
    return `No run has ended in the last ${since}, by the history in ${historyDirectory(process.env)}.\n`;
  const year = new Set(runs.map(({ended_at: ended}) => ended.slice(0, 4)));
  const column = columnIn(runs);
  const columns = [
    column('run', run => run.run_id.slice(0, 8), {isText: true}),
    column('ended (UTC)', run => run.ended_at.slice(year.size > 1 ? 0 : 5, 16).replace('T', ' '), {
      isText: true,
    }),
    column('job or list', run => run.job ?? run.list ?? '-', {isText: true, shrinksTo: 16}),
    column('why', whyOf, {isText: true, shrinksTo: 14}),
    column('account', run => run.account.label, {isText: true, shrinksTo: 7, leavesAs: 1}),
    column('exit', ({exit_code: code}) => (code === null ? '–' : String(code))),
    column('rows', run => count(run.rows)),
    column('calls', run => count(run.calls)),
    column('credits', creditsOf),
    column('money', costOf, {leavesAs: 4}),
    column('maybe', run => count(run.credits.maybe_spent), {leavesAs: 2}),
    column('saved', run => count(run.saved), {leavesAs: 0}),
    column('known', ({hit_rate: share}) => (share === null ? '–' : percent(share, 1)), {leavesAs: 3}),
  ];
  const isTold = ({head, cells}: TableColumn) =>
    !(head === 'account' && cells.every(cell => cell === 'default')) &&
    !(head === 'money' && cells.every(cell => cell === '–')) &&
    !(head === 'maybe' && cells.every(cell => cell === '0'));
  return `${fitted(columns.filter(isTold), widthOf('stdout'))}\n`;
}

/** The credits of a run; `free` with the embedded service, which charges nothing. */
function creditsOf(run: RunRecord): string {
  return isFree(run) ? 'free' : count(run.credits.spent);
}

function costOf(run: RunRecord): string {
  return run.price === undefined || isFree(run) ? '–' : moneyOf(run.credits.spent, run.price);
}

function isFree({account}: RunRecord): boolean {
  return account.endpoint === 'embedded';
}

function whyOf({reason, drift, store_trouble: trouble}: RunRecord): string {
  return [
    reason.replaceAll('_', ' '),
    ...(trouble ? ['without the store'] : []),
    ...(drift.length > 0 ? [`unlike: ${drift.join(', ')}`] : []),
  ].join('; ');
}

type CsvColumn = readonly [name: string, cellOf: (run: RunRecord) => string | number | boolean | null];

const CSV_COLUMNS: readonly CsvColumn[] = [
  ['run_id', run => run.run_id],
  ['started_at', run => run.started_at],
  ['ended_at', run => run.ended_at],
  ['job', run => run.job],
  ['list', run => run.list],
  ['endpoint', run => run.account.endpoint],
  ['account', run => run.account.label],
  ['status', run => run.status],
  ['reason', run => run.reason],
  ['exit_code', run => run.exit_code],
  ['rows', run => run.rows],
  ['calls', run => run.calls],
  ['credits_spent', run => run.credits.spent],
  ['credits_maybe_spent', run => run.credits.maybe_spent],
  ['saved', run => run.saved],
  ['hit_rate', run => run.hit_rate],
  ['store_trouble', run => run.store_trouble],
  ['drift', run => run.drift.join(' ')],
];

function asCsv(runs: readonly RunRecord[]): string {
  const operations = [...new Set(runs.flatMap(({credits}) => Object.keys(credits.by_operation)))].sort();
  const columns = [...CSV_COLUMNS, ...operations.map(creditsColumn)];
  return csvTable(
    columns.map(([name]) => name),
    runs.map(run => columns.map(([, cellOf]) => cellOf(run))),
  );
}

function creditsColumn(operation: string): CsvColumn {
  const cellOf = ({credits}: RunRecord) => {
    const {spent = 0, maybe_spent: maybe = 0} = credits.by_operation[operation] ?? {};
    return exact(spent + maybe);
  };
  return [`credits_${operation}`, cellOf];
}
