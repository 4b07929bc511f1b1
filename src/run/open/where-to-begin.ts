import {type ExitCode, exitCodes, StateError, UsageError} from '../../errors.ts';
import {isReadOnce, type Pipes} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import {many} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {forgetPublishing, isUnpublished, type PublishRecord} from '../destination/publish.ts';
import {tellBills} from '../end/bills.ts';
import {checkReportPaths, deliver} from '../end/deliver-reports.ts';
import {rememberRun} from '../end/history.ts';
import {failureSentence} from '../exit.ts';
import {type Beginning, endRun} from '../identity.ts';
import {during, pipesOf, type RunIo} from '../io.ts';
import type {RunOutcome} from '../run-outcome.ts';
import {finishedBefore, isMadeOf} from '../state/done-before.ts';
import {
  closeState,
  forgetLedger,
  hasOtherRun,
  openLedger,
  type RunState,
  withLedger,
} from '../state/run-state.ts';
import type {Stopper} from '../stop.ts';

/**
 * Finds how a run begins. If nothing is left to do but the publishing, does that, and returns the run's outcome.
 *
 * @throws {UsageError} if the run would replace an output, or a report has no directory.
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
      return end(job, io, state, doneBefore(job, summary, isCutOff), isCutOff);
    }
    throw new UsageError(
      'output_exists',
      `${job.output.name} exists. Replace it with --force (known answers are not paid for again), or choose another output with -o.`,
    );
  }
  // The last run is complete and published. Its ledger is removed: left in place, it would count as
  // an earlier attempt.
  if (record !== undefined) {
    const {summary} = completedNow(job, record);
    if (summary !== undefined) rememberRun(job, summary, io);
    await tellLeftOver(io, state);
    forgetLedger(state.directory);
  }
  if (isUnpublished(state.directory)) {
    // The interrupted publishing was not completed. Its run can't be resumed either, since its rejects may
    // already be in place. So it is given up, and this run starts over.
    if (record === undefined) await giveUpRun(state);
    forgetPublishing(state.directory, job.output.name);
  }
  return job.restarts === 'now' ? 'over' : 'resume';
}

/** Does the steps after the publishing, which the last run may not have reached. `keeps`: true keeps the state. */
async function end(
  job: Job,
  io: RunIo,
  state: RunState,
  outcome: RunOutcome,
  keeps = false,
): Promise<RunOutcome> {
  const isTold = outcome.summary === undefined || rememberRun(job, outcome.summary, io);
  if (isTold) await tellLeftOver(io, state);
  closeState(state, keeps || !isTold ? 'nothing' : 'all', io.warn);
  if (outcome.summary !== undefined) await deliver(job, outcome.summary, io);
  return outcome;
}

async function giveUpRun(state: RunState): Promise<void> {
  try {
    await withLedger(state, endRun);
  } catch {
    // A ledger that can't be read is reported when the run opens it.
  }
}

/** Adds bills that the history may lack, such as a killed session's bill. */
async function tellLeftOver(io: RunIo, state: RunState): Promise<void> {
  try {
    const untold = (await withLedger(state, ({bills}) => bills.untold)) ?? [];
    if (untold.length > 0) tellBills(untold, io);
  } catch {
    // The bills in an unreadable ledger are not added.
  }
}

/**
 * Completes a publishing that a crash interrupted. If that is impossible, returns undefined for a job that may
 * start over, and throws for others.
 */
async function completed(job: Job, state: RunState): Promise<PublishRecord | undefined> {
  try {
    return await state.destination.complete(state);
  } catch (error) {
    if (!(error instanceof StateError) || job.restarts === 'never') throw error;
    return undefined;
  }
}

/** True if the record is of another result, such as last night's. That result must not pass for this job's. */
async function isOther(job: Job, record: PublishRecord, pipes: Pipes): Promise<boolean> {
  // An input that can be read only once counts as another: to compare it would use it up.
  if (job.inputs.some(isReadOnce)) return true;
  try {
    return !(await isMadeOf(record, job, pipes));
  } catch {
    // An input can't be read. The run reports that when it reads the input itself.
    return true;
  }
}

function completedNow({output}: Job, {rowsWritten, exitCode, summary}: PublishRecord): RunOutcome {
  const message = `The last run wrote its ${many(rowsWritten, 'row')}, but was interrupted at its end. It is complete now: ${output.name}`;
  return {
    exitCode: exitCode as ExitCode,
    summary: summary === null ? undefined : (JSON.parse(summary) as Summary),
    stop: undefined,
    safeRows: rowsWritten,
    message,
    found: 'unpublished',
  };
}

/** Outcome of a complete job. `isCutOff`: a later run was interrupted; the message tells how to resume it. */
function doneBefore({output}: Job, summary: Summary, isCutOff: boolean): RunOutcome {
  const rows = summary.rows.written;
  const lacksAnswers = summary.exit_code === exitCodes.incomplete && summary.reason !== 'rows_rejected';
  const again = isCutOff
    ? 'A later run of it was interrupted. To resume that one: --force. To begin anew: --force --restart.'
    : `To ${lacksAnswers ? 'retry the values without an answer' : 'run it again'}: --force.`;
  const message = `${output.name} is complete (${many(rows, 'row')}): nothing was sent or spent.${failureSentence(summary)} ${again}`;
  return {
    exitCode: summary.exit_code as ExitCode,
    summary,
    stop: undefined,
    safeRows: rows,
    message,
    found: 'complete',
  };
}

/** Warns why the run starts over. If its input can't be read again (stdin, a pipe), gives the run up and throws. */
export function startOver(job: Job, io: RunIo, state: RunState, why: string, cause: unknown): void {
  if (!job.inputs.some(isReadOnce)) {
    io.warn(`${why}, so the run starts over. Answers already paid for are kept.`);
    return;
  }
  const ledger = openLedger(state, job, {}, io.warn);
  endRun(ledger);
  // Leaves the bill open: the next run adds it to the history.
  ledger.abandon();
  throw new StateError(
    'stale_stdin',
    `${why}, so this run has to start over, and stdin or a pipe can't be read a second time. Run the same command with the same input again: it begins a new run. Answers already paid for are kept.`,
    {cause},
  );
}
