import {BulkEnrichError, exitCodes, UsageError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {mostSends} from '../../lookup/retry-policy.ts';
import {formatCount, formatMoment, formatPercent, pluralize} from '../../report/format.ts';
import {sharedRows} from '../../report/sections/risk-section.ts';
import {type Counted, exceedsLimit} from '../../run/exit.ts';
import {makePlan, type PlanReport} from '../../run/plan.ts';
import {makeLimitStop} from '../../run/stop.ts';
import {
  type JobAtConsole,
  type JobFlags,
  makeJobFromFlags,
  readUncheckedSettings,
} from '../job-from-flags.ts';
import {commandToRun} from '../terminal/command-line.ts';
import {breakLines, formatTable, terminalWidth} from '../terminal/lines.ts';
import {formatForecast, sumPlanned} from '../terminal/opening.ts';
import {formatTroubles} from '../terminal/outcome.ts';
import {print, printJson} from '../terminal/printable.ts';
import {showPhases} from '../terminal/progress.ts';

/** `bulk-enrich plan`: shows what `run` would do with the same arguments. */
export async function planCommand(
  inputs: readonly string[],
  {json, ...flags}: JobFlags & {readonly json?: boolean},
): Promise<number> {
  const {job, console} = plannedJob(inputs, flags);
  const {env, stdin} = process;
  const io = {env, stdin, now: Date.now, warn: console.warn, phase: showPhases(console)};
  const report = await makePlan(job, io);
  if (json === true) printJson(report);
  else print('stdout', render(report, job, commandToRun({command: 'plan', inputs, flags})));
  refuseRejects({count: report.rejected, total: report.rows + report.rejected}, job);
  return exitCodes.ok;
}

/** @throws {BulkEnrichError} if more rows are unreadable than --max-rejects allows: a run would stop then. */
function refuseRejects(counted: Counted, {settings}: Job): void {
  if (!exceedsLimit(settings.maxRejects, counted)) return;
  const {reason, exitCode, message} = makeLimitStop('max_rejects', counted);
  throw new BulkEnrichError(reason, exitCode, `A run would stop: ${message}`);
}

/** Makes the job. If neither settings nor environment name a service, plans with the embedded one. */
function plannedJob(inputs: readonly string[], flags: JobFlags): JobAtConsole {
  try {
    return makeJobFromFlags(inputs, flags, {makesCalls: false});
  } catch (error) {
    const isUnnamed = error instanceof UsageError && error.code === 'no_endpoint';
    if (!isUnnamed || readUncheckedSettings(flags).said['endpoint'] === 'live') throw error;
    const planned = makeJobFromFlags(inputs, {...flags, endpoint: 'embedded'}, {makesCalls: false});
    planned.console.say('No service is configured: this is what a run with the embedded service would do.');
    return planned;
  }
}

/** A line with the list's cost in its last run, so that the user notices an unusual cost before paying it. */
function lastCost({last}: PlanReport, {kind}: Job['endpoint']): string[] {
  if (last === null) return [];
  const cost = kind === 'embedded' ? pluralize(last.calls, 'call') : pluralize(last.credits, 'credit');
  const known = last.hit_rate === null ? '' : `, ${formatPercent(last.hit_rate, 1)} of the values known`;
  return [`Last time (${formatMoment(last.ended_at)}): ${cost} for ${pluralize(last.rows, 'row')}${known}.`];
}

const TROUBLE = {most: 8, allIn: 'plan --json'};
const REPAIRED = {...TROUBLE, heading: '\nRepaired before the lookup:'};
const WRONG = {...TROUBLE, heading: '\nProblems, most frequent first:'};

const FIGURES = ['values', 'empty', 'invalid', 'distinct', 'known', 'calls'] as const;
const CONDITIONS = ['conditional', 'filtered'] as const;

function render(report: PlanReport, job: Job, next: string | undefined): string {
  const {endpoint, settings} = job;
  const width = terminalWidth('stdout');
  const named =
    (mark: string) =>
    ({operation, column, how}: PlanReport['columns'][number]) => [
      `  ${operation}${operation === 'country' ? '' : mark}`,
      `"${column}"`,
      how,
    ];
  const lookups = Object.entries(report.lookups);
  const selective = lookups.some(([, {filtered, conditional}]) => filtered + conditional > 0);
  const figures = selective ? [...FIGURES, ...CONDITIONS] : FIGURES;
  return [
    `Columns (${report.format}):`,
    formatTable([...report.columns.map(named('')), ...report.left_out.map(named('?'))], 3),
    `\n${pluralize(report.rows, 'row')}${report.rejected === 0 ? '' : `, ${formatCount(report.rejected)} that can't be read`}\n`,
    formatTable([
      ['', ...figures],
      ...lookups.map(([name, found]) => [`  ${name}`, ...figures.map(figure => formatCount(found[figure]))]),
    ]),
    ...sharedRows(report.shared).map(
      ([fact, rows, largest]) =>
        `\n${rows} rows share their ${fact} with others. The most shared: ${largest}.`,
    ),
    ...formatTroubles({...REPAIRED, settings}, report.repairs, width),
    ...formatTroubles({...WRONG, settings}, report.errors, width),
    '',
    ...lastCost(report, endpoint),
    breakLines(`${costOf(report, job)} Nothing was sent.`, width),
    ...(next === undefined ? [] : [`To run it: ${next}`]),
    '',
  ].join('\n');
}

/** The cost of a run, the case in which it costs the most, and a warning if a limit is less than that. */
function costOf(report: PlanReport, {endpoint, settings}: Job): string {
  if (sumPlanned(report, 'calls') === 0) return 'A run makes no calls, and costs nothing.';
  const {at_least: least, all_sent_once: once, at_most: worst} = report.credits;
  const {maxCredits = Number.POSITIVE_INFINITY} = settings;
  const {account_left: left = Number.POSITIVE_INFINITY} = report;
  const worstCase =
    worst === once
      ? ''
      : ` At worst, every call has to be sent ${mostSends(settings)} times, and the calls in flight at each kill again.`;
  const limited =
    left < maxCredits
      ? `The account has ${pluralize(left, 'credit')} left, which`
      : `The limit, --max-credits ${maxCredits},`;
  const most = Math.min(left, maxCredits);
  const limit =
    most >= worst ? '' : ` ${limited} ${most < least ? 'stops' : 'may stop'} the run before its end.`;
  return `A run makes ${formatForecast(report, endpoint.kind)}.${worstCase}${limit}`;
}
