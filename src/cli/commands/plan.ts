import {BulkEnrichError, exitCodes, UsageError} from '../../errors.ts';
import {makePlan, type PlanReport} from '../../estimate/estimate.ts';
import type {Job} from '../../job/job.ts';
import {durationFrom} from '../../job/values.ts';
import {percent} from '../../report/format.ts';
import {exceeds} from '../../run/exit.ts';
import {limitStop} from '../../run/stop.ts';
import {envOfCounting, type JobFlags, jobFrom, readFlag} from '../job-from-flags.ts';
import {count, duration, many, moment, table} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {phasesOn} from '../terminal/progress.ts';
import {troubleLines} from '../terminal/trouble.ts';

/** `bulk-enrich plan`: what `run` would do with the same arguments. */
export async function planCommand(
  inputs: readonly string[],
  {json, ahead, ...flags}: JobFlags & {readonly json?: boolean; readonly ahead?: string},
): Promise<number> {
  const aheadMs = ahead === undefined ? 0 : readFlag('--ahead', durationFrom('1d', '366d'), ahead);
  // Where the output would go does not matter here, so nobody has to say it.
  const {job, console} = plannedJob(inputs, flags);
  const io = {
    env: process.env,
    stdin: process.stdin,
    now: Date.now,
    warn: console.warn,
    phase: phasesOn(job, console),
  };
  const report = await makePlan(job, io, Math.floor(aheadMs / 86_400_000));
  if (json === true) printJson(report);
  else print('stdout', render(report, job));
  refuseRejects(job, report);
  return exitCodes.ok;
}

/** @throws {BulkEnrichError} with which a run over the same list would end. */
function refuseRejects({settings}: Job, {rows, rejected}: PlanReport): void {
  const counted = {count: rejected, total: rows + rejected};
  if (!exceeds(settings.maxRejects, counted)) return;
  const {reason, exitCode, message} = limitStop('max-rejects', counted);
  throw new BulkEnrichError(reason, exitCode, `A run would stop: ${message}`);
}

/** Nobody is asked, so that no key is needed; nor is a service, but then nothing of it is known from before. */
function plannedJob(inputs: readonly string[], flags: JobFlags): ReturnType<typeof jobFrom> {
  const env = envOfCounting(process.env);
  try {
    return jobFrom(inputs, flags, '-', env);
  } catch (error) {
    if (!(error instanceof UsageError) || error.code !== 'no_endpoint') throw error;
    const planned = jobFrom(inputs, {...flags, endpoint: 'embedded'}, '-', env);
    planned.console.say('No service is configured: this is what the embedded service would be asked.');
    return planned;
  }
}

const REPAIRED = {heading: '\nWhat a run would repair before it asks:', allIn: 'plan --json'};
/** What the same list cost the last time, to see a night that will be unlike the others before it is paid for. */
function lastLine({last}: PlanReport): string {
  if (last === null) return '';
  const known = last.hit_rate === null ? '' : `, ${percent(last.hit_rate, 1)} of the values known`;
  return `Last time (${moment(last.ended_at)}): ${many(last.credits, 'credit')} for ${many(last.rows, 'row')}${known}\n`;
}

const NOT_ASKED = {heading: '\nWhat a run would not ask about:', allIn: 'plan --json'};

function render(report: PlanReport, {endpoint, settings}: Job): string {
  const columns = report.columns.map(({operation, column, how}) => [`  ${operation}`, `"${column}"`, how]);
  const selective = Object.values(report.lookups).some(
    ({filtered, conditional}) => filtered + conditional > 0,
  );
  const lookups = Object.entries(report.lookups).map(([name, found]) => [
    `  ${name}`,
    ...[found.values, found.empty, found.invalid, found.distinct, found.known, found.calls].map(count),
    ...(selective ? [found.conditional, found.filtered].map(count) : []),
  ]);
  const left = report.left_out.map(({operation, column, how}) => [
    `  ${operation}${operation === 'country' ? '' : '?'}`,
    `"${column}"`,
    how,
  ]);
  return `Columns (${report.format}):
${table([...columns, ...left], 3)}

${many(report.rows, 'row')}${report.rejected === 0 ? '' : `, ${count(report.rejected)} that can't be read`}

${table([['', 'values', 'empty', 'invalid', 'distinct', 'known', 'calls', ...(selective ? ['conditional', 'filtered'] : [])], ...lookups])}
${[
  ...troubleLines({...REPAIRED, settings}, report.repairs),
  ...troubleLines({...NOT_ASKED, settings}, report.errors),
]
  .map(line => `${line}\n`)
  .join('')}
Credits: ${count(report.credits.at_least)} at least, ${selective ? `${count(report.credits.all_sent_once)} if every condition holds, ` : ''}${count(report.credits.at_most)} at most (if every call had to be sent again)${endpoint.kind === 'embedded' ? '; the embedded service charges none' : ''}${limitOf(report, settings)}
${lastLine(report)}Time: ${report.time_ms === null ? 'no rate limit' : `${duration(report.time_ms)} at ${count(report.rate_per_second ?? 0)}/s`}
${report.ahead === undefined ? '' : aheadLines(report.ahead)}Nothing was sent.
`;
}

/** Where the run's own limit ends what the list would cost. */
function limitOf({credits}: PlanReport, {maxCredits = Number.POSITIVE_INFINITY}: Job['settings']): string {
  if (maxCredits >= credits.at_most) return '';
  return `; a run ${maxCredits < credits.at_least ? 'stops' : 'may stop'} at --max-credits ${maxCredits}`;
}

const WIDEST_BAR = 40;

function aheadLines(ahead: NonNullable<PlanReport['ahead']>): string {
  const most = Math.max(1, ...ahead.map(({calls}) => calls));
  const days = ahead.map(({date, calls, credits}) => [
    `  ${date}`,
    count(calls),
    count(credits),
    ` ${'█'.repeat(Math.round((calls / most) * WIDEST_BAR))}`,
  ]);
  const lines = table([['', 'calls', 'credits'], ...days]);
  return `\nWhat would fall due, if this list ran every day as it is:\n${lines}\n\n`;
}
