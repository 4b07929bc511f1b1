import {type ExitCode, exitCodes, StateError, UsageError} from '../../errors.ts';
import {isReadOnce, type Pipes} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import {many} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {forgetPublishing, type PublishRecord} from '../destination/publish.ts';
import {tellBills} from '../end/bills.ts';
import {checkReportPaths, deliver} from '../end/deliver-reports.ts';
import {rememberRun} from '../end/history.ts';
import {type Beginning, endRun} from '../identity.ts';
import {during, pipesOf, type RunIo} from '../io.ts';
import type {RunOutcome} from '../run-outcome.ts';
import {finishedBefore, isMadeOf} from '../state/done-before.ts';
import {
  closeState,
  forgetLedger,
  fromLedger,
  hasOtherRun,
  openLedger,
  type RunState,
} from '../state/run-state.ts';
import type {Stopper} from '../stop.ts';

/**
 * Where a run begins: at its start, where its last session got to, or at its end, when all that was left to do was to
 * put its files in place.
 *
 * @throws {UsageError} when something is where the output would go, or a report has no directory to go to.
 */
export async function beginningOf(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
): Promise<RunOutcome | Beginning> {
  checkReportPaths(job);
  const record = job.restarts === 'now' ? undefined : await completed(job, state);
  if (record !== undefined && !(job.settings.force && (await isOther(job, record, pipesOf(io, stopper)))))
    return end(job, io, state, completedNow(job, record));
  const {destination} = state;
  if (destination.exists() && !job.settings.force) {
    const compare = () => finishedBefore(job, destination, pipesOf(io, stopper));
    const summary =
      job.restarts === 'now'
        ? undefined
        : await during(io.phase, 'comparing with what is there', () => ({}), compare);
    if (summary !== undefined) {
      const isCutOff = hasOtherRun(state.directory, summary.run_id);
      return end(job, io, state, doneBefore(job, state, summary, isCutOff), isCutOff);
    }
    throw new UsageError(
      'output_exists',
      `${job.output.name} exists. Replace it with --force (known answers are not paid for again), or choose another output with -o.`,
    );
  }
  // What was published is over and done with, and not an attempt that was given up.
  if (record !== undefined) {
    const {summary} = completedNow(job, record);
    if (summary !== undefined) rememberRun(job, summary, io);
    tellLeftOver(io, state);
    forgetLedger(state.directory);
  }
  forgetPublishing(state.directory, job.output.name);
  return job.restarts === 'now' ? 'over' : 'resume';
}

/** Nothing is left to do but what follows once all rows are in place, which the last run may not have come to. */
async function end(
  job: Job,
  io: RunIo,
  state: RunState,
  outcome: RunOutcome,
  keeps = false,
): Promise<RunOutcome> {
  if (outcome.summary !== undefined) rememberRun(job, outcome.summary, io);
  if (!keeps) tellLeftOver(io, state);
  closeState(state, keeps ? 'nothing' : 'all');
  if (outcome.summary !== undefined) await deliver(job, outcome.summary, io);
  return outcome;
}

/** Before a ledger goes: what its sessions spent, and the history may not have. */
function tellLeftOver(io: RunIo, state: RunState): void {
  try {
    const untold = fromLedger(state, ({bills}) => bills.untold) ?? [];
    if (untold.length > 0) tellBills(untold, io);
  } catch {
    // What can't be read can't be told.
  }
}

/** Completes what a crash in the middle of publishing left over; what can't be completed is in the way or forgotten. */
async function completed(job: Job, state: RunState): Promise<PublishRecord | undefined> {
  try {
    return await state.destination.complete(state);
  } catch (error) {
    if (!(error instanceof StateError) || job.restarts === 'never') throw error;
    return undefined;
  }
}

/** True if this job's result is not the one that was being published: last night's run must not pass for tonight's. */
async function isOther(job: Job, record: PublishRecord, pipes: Pipes): Promise<boolean> {
  // The run reads those, so nothing else may.
  if (job.inputs.some(isReadOnce)) return true;
  try {
    return !(await isMadeOf(record, job, pipes));
  } catch {
    // Reading it as the run's input will tell what is wrong with it.
    return true;
  }
}

/** How a run ends that has nothing left to do. */
function outcomeOf(exitCode: number, summary: Summary | undefined, safeRows: number, message: string) {
  return {exitCode: exitCode as ExitCode, summary, stop: undefined, safeRows, message};
}

function completedNow({output}: Job, {rowsWritten, exitCode, summary}: PublishRecord): RunOutcome {
  const message = `The last run ended while it put its ${many(rowsWritten, 'row')} in place. That is done now: ${output.name}`;
  return outcomeOf(exitCode, summary === null ? undefined : JSON.parse(summary), rowsWritten, message);
}

/** What an attempt to do it again has paid for is in its ledger alone where there is no answer store. */
function doneBefore({output}: Job, {directory}: RunState, summary: Summary, isCutOff: boolean): RunOutcome {
  const rows = summary.rows.written;
  const lacksAnswers = summary.exit_code === exitCodes.incomplete && summary.reason !== 'rows_rejected';
  const again = isCutOff
    ? `A later run of it was interrupted. To resume that one: --force. To give it up, remove ${directory}.`
    : `To ${lacksAnswers ? 'retry the values without an answer' : 'run it again'}: --force.`;
  const message = `${output.name} is complete (${many(rows, 'row')}): nothing was sent or spent. ${again}`;
  return {...outcomeOf(summary.exit_code, summary, rows, message), wasComplete: true};
}

/** Says that the saved state does not fit; stdin can't be read again, so for that the state is reset for the next run. */
export function startOver(job: Job, io: RunIo, state: RunState, cause: unknown): void {
  if (!job.inputs.some(isReadOnce)) {
    io.warn(
      'The unfinished run does not fit this one, so the run starts over. Answers already paid for are kept.',
    );
    return;
  }
  const ledger = openLedger(state, job, {}, io.warn);
  endRun(ledger);
  // What came to its books is told by the run that comes.
  ledger.abandon();
  throw new StateError(
    'stale_stdin',
    'The unfinished run does not fit this one, and stdin or a pipe can not be read a second time. The state is reset: pipe the same bytes again.',
    {cause},
  );
}
