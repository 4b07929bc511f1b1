import {OutputError, systemReason, UsageError} from '../../errors.ts';
import {parseDuration} from '../../job/setting-types.ts';
import {csvTable} from '../../output/csv-line.ts';
import {formatAmount, formatCount, formatMoney, formatPercent, pluralize} from '../../report/format.ts';
import {
  type Grouping,
  makeRunRecord,
  type RunRecord,
  roundCredits,
  type Spend,
  sumSpending,
} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {historyDirectory, readRunSummaries} from '../../run/end/history.ts';
import {createConsole} from '../console.ts';
import {
  createTableColumns,
  fitTable,
  formatTable,
  type TableColumn,
  terminalWidth,
  textWidth,
} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';

interface ListingFlags {
  readonly since: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** `bulk-enrich runs`: prints a line for each run. `runs RUN`: prints a run's summary. */
export async function runsCommand(
  run: string | undefined,
  flags: ListingFlags & {readonly job?: string},
): Promise<number> {
  if (run !== undefined) {
    print('stdout', `${JSON.stringify(summaryOf(run), null, 2)}\n`);
    return 0;
  }
  const {since, records} = recordsSince(flags);
  const runs = records.filter(({job}) => flags.job === undefined || job === flags.job);
  if (flags.json === true) printJson({since, runs});
  else print('stdout', flags.csv === true ? runsAsCsv(runs) : renderRuns(runs, flags.since));
  return 0;
}

/** `bulk-enrich spend`: shows what calls have cost, by day, job or operation. */
export async function spendCommand(flags: ListingFlags & {readonly by: Grouping}): Promise<number> {
  const {since, records} = recordsSince(flags);
  const spend = sumSpending(
    records.filter(run => !isFree(run)),
    since,
    flags.by,
  );
  if (flags.json === true) printJson(spend);
  else print('stdout', flags.csv === true ? spendAsCsv(spend) : renderSpend(spend, flags.since));
  return 0;
}

/** The start of the period of `--since 30d`, and its runs in the order of their ends. */
function recordsSince({since, json, csv}: ListingFlags): {since: string; records: RunRecord[]} {
  if (json === true && csv === true) throw new UsageError('settings', '--json and --csv: choose one.');
  const ms = parseDuration(since.trim());
  if (ms === undefined) throw new UsageError('settings', '--since: expected a duration such as 30d or 12h.');
  const start = Math.max(0, Date.now() - ms);
  const records = keptRuns().map(makeRunRecord);
  return {
    since: new Date(start).toISOString(),
    records: records.filter(({ended_at: ended}) => Date.parse(ended) >= start),
  };
}

function keptRuns(): Summary[] {
  try {
    return readRunSummaries({env: process.env, warn: createConsole({quiet: false}).warn});
  } catch (error) {
    throw new OutputError(
      'history_unusable',
      `The history of runs, ${historyDirectory(process.env)}, can't be read (${systemReason(error)}).`,
      {cause: error},
    );
  }
}

function summaryOf(run: string): Summary {
  const summary = keptRuns().findLast(({run_id: id}) => id.startsWith(run));
  if (summary !== undefined) return summary;
  throw new UsageError(
    'unknown_run',
    `There is no run "${run}" in the history. To list runs: bulk-enrich runs.`,
  );
}

/** True for a run of the embedded service, which charges nothing. */
function isFree({account}: RunRecord): boolean {
  return account.endpoint === 'embedded';
}

function renderRuns(runs: readonly RunRecord[], since: string): string {
  if (runs.length === 0)
    return `No run has ended in the last ${since}, by the history in ${historyDirectory(process.env)}.\n`;
  const isOneYear = new Set(runs.map(({ended_at: ended}) => ended.slice(0, 4))).size === 1;
  const ended = ({ended_at: at}: RunRecord) => at.slice(isOneYear ? 5 : 0, 16).replace('T', ' ');
  const money = (run: RunRecord) =>
    run.price === undefined || isFree(run) ? '–' : formatMoney(run.credits.spent, run.price);
  const column = createTableColumns(runs);
  const columns = [
    column('run', run => run.run_id.slice(0, 8), {isText: true}),
    column('ended (UTC)', ended, {isText: true}),
    column('job or list', run => run.job ?? run.list ?? '-', {isText: true, shrinksTo: 16}),
    column('why', reasonOf, {isText: true, shrinksTo: 14}),
    column('account', run => run.account.label, {isText: true, shrinksTo: 7, leavesAs: 1}),
    column('exit', ({exit_code: code}) => (code === null ? '–' : String(code))),
    column('rows', run => formatCount(run.rows)),
    column('calls', run => formatCount(run.calls)),
    column('credits', run => (isFree(run) ? 'free' : formatCount(run.credits.spent))),
    column('money', money, {leavesAs: 4}),
    column('maybe', run => formatCount(run.credits.maybe_spent), {leavesAs: 2}),
    column('saved', run => formatCount(run.saved), {leavesAs: 0}),
    column('known', ({hit_rate: share}) => (share === null ? '–' : formatPercent(share, 1)), {leavesAs: 3}),
  ];
  /** Cells that say nothing: a column of them is left out. */
  const silent: Readonly<Record<string, string>> = {account: 'default', money: '–', maybe: '0'};
  const isTold = ({head, cells}: TableColumn) => cells.some(cell => cell !== silent[head]);
  return `${fitTable(columns.filter(isTold), terminalWidth('stdout'))}\n`;
}

function reasonOf({reason, drift, store_trouble: trouble}: RunRecord): string {
  return [
    reason.replaceAll('_', ' '),
    ...(trouble ? ['without the store'] : []),
    ...(drift.length > 0 ? [`unlike: ${drift.join(', ')}`] : []),
  ].join('; ');
}

const CSV_HEAD =
  'run_id started_at ended_at job list endpoint account status reason exit_code rows calls credits_spent credits_maybe_spent saved hit_rate store_trouble drift';

function runsAsCsv(runs: readonly RunRecord[]): string {
  const operations = [...new Set(runs.flatMap(({credits}) => Object.keys(credits.by_operation)))].sort();
  const rows = runs.map(run => {
    const {account, credits, drift} = run;
    const paid = operations.map(name => {
      const {spent = 0, maybe_spent: maybe = 0} = credits.by_operation[name] ?? {};
      return roundCredits(spent + maybe);
    });
    return [
      ...[run.run_id, run.started_at, run.ended_at, run.job, run.list, account.endpoint, account.label],
      ...[run.status, run.reason, run.exit_code, run.rows, run.calls, credits.spent, credits.maybe_spent],
      ...[run.saved, run.hit_rate, run.store_trouble, drift.join(' '), ...paid],
    ];
  });
  return csvTable([...CSV_HEAD.split(' '), ...operations.map(name => `credits_${name}`)], rows);
}

/** Lengths of bars in characters: the maximum, and the minimum that is useful. */
const BARS = {longest: 40, shortest: 8} as const;

function renderSpend({by, groups, total}: Spend, since: string): string {
  if (total.runs === 0) return `No run of a service that charges has ended in the last ${since}.\n`;
  const isPriced = Object.keys(total.money).length > 0;
  const figures = formatTable([
    [by, 'credits', ...(isPriced ? ['money'] : []), 'maybe', 'calls', 'runs'],
    ...groups.map(({name, spent, money, maybe_spent: maybe, calls, runs}) => [
      name,
      formatCount(spent),
      ...(isPriced ? [formatAmounts(money)] : []),
      ...[maybe, calls, runs].map(formatCount),
    ]),
  ]).split('\n');
  const room = terminalWidth('stdout') - textWidth(figures[0] ?? '') - 2;
  const longest = Math.max(BARS.shortest, Math.min(BARS.longest, room));
  const credits = groups.map(({spent, maybe_spent: maybe}) => spent + maybe);
  const bars = ['', ...credits.map(each => barOf(each / Math.max(...credits), longest))];
  const lines = figures.map((line, at) => `${line}  ${bars[at] ?? ''}`.trimEnd());
  return `Credits of runs (lookup, verify and doctor --call are not counted):

${lines.join('\n')}

${pluralize(total.spent, 'credit')}${isPriced ? ` (${formatAmounts(total.money)})` : ''} spent${total.maybe_spent === 0 ? '' : ` and ${formatCount(total.maybe_spent)} perhaps`} in the last ${since}, by ${pluralize(total.calls, 'call')} of ${pluralize(total.runs, 'run')}.
`;
}

/** Amounts of several currencies in one text: `12.40 EUR + 3.10 USD`. */
function formatAmounts(money: Spend['total']['money']): string {
  return Object.entries(money)
    .map(([currency, amount]) => formatAmount(amount, currency))
    .join(' + ');
}

/** A share as a bar. Any share above 0 gets at least an eighth of a character. */
function barOf(share: number, longest: number): string {
  if (!(share > 0)) return '';
  const eighths = Math.max(1, Math.round(share * longest * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8] ?? '');
}

function spendAsCsv({by, groups}: Spend): string {
  const figures = ['runs', 'calls', 'spent', 'maybe_spent'] as const;
  return csvTable(
    [by, 'runs', 'calls', 'credits_spent', 'credits_maybe_spent', 'money'],
    groups.map(group => [group.name, ...figures.map(name => group[name]), formatAmounts(group.money)]),
  );
}
