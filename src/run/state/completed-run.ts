import {existsSync, statSync} from 'node:fs';
import {z} from 'zod';
import {digestFiles, hasDigest} from '../../disk/digest.ts';
import {readIfFile} from '../../disk/path.ts';
import {type ExitCode, exitCodes, UsageError} from '../../errors.ts';
import {isReadOnce, openOnce, type Pipes} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import {pluralize} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {type Said, say, set} from '../../sentence.ts';
import {isOwnFile} from '../destination/own-files.ts';
import {forgetPublishing} from '../destination/publish.ts';
import {checkReportPaths, deliverReports} from '../end/deliver.ts';
import {completeHistory, rememberRun} from '../end/history.ts';
import {failureSentence, isComplete} from '../exit.ts';
import {settingsDigest} from '../identity.ts';
import {pipeSettings, type RunIo, withPhase} from '../io.ts';
import type {RunOutcome} from '../run-outcome.ts';
import type {Stopper} from '../stop.ts';
import {listOtherRuns} from './begin-session.ts';
import {removeLeft} from './job-files.ts';
import {closeState, forgetLedger, hasOtherRun, type RunDirectory, withLedger} from './run-directory.ts';

/**
 * The outcome of a run that has nothing to look up: its output is complete, or had only to be put in place, which this
 * does. Undefined if rows are to be looked up.
 *
 * @throws {UsageError} if the run would replace an output, or a report has no directory.
 */
export async function completeBefore(
  job: Job,
  io: RunIo,
  state: RunDirectory,
  stopper: Stopper,
): Promise<RunOutcome<Said> | undefined> {
  checkReportPaths(job);
  const {destination, directory} = state;
  removeLeft(job, destination);
  const {force, restart} = job.settings;
  const pipes = pipeSettings(io, stopper);
  const completed = restart ? undefined : (await destination.complete(state))?.summary;
  if (completed !== undefined) {
    if (!force || (await isMadeOf(completed, job, pipes)))
      return end(job, io, state, completedNow(job, completed));
    await tellEnd(job, io, state, completed);
    forgetLedger(directory);
  } else if (destination.file !== undefined && existsSync(destination.file) && !force) {
    const compare = () => finishedBefore(job, state, pipes);
    const summary = await withPhase(io.phase, 'comparing with what is there', () => ({}), compare);
    const isDone = summary !== undefined && isComplete(summary);
    if (summary === undefined || (isDone && restart))
      throw new UsageError(
        'output_exists',
        say`${job.output.name} exists. Replace it with ${set('force', true)} (known answers are not paid for again), or choose another output with ${set('output')}.`,
      );
    const isCutOff = hasOtherRun(directory, summary.run_id);
    if (isDone) return end(job, io, state, doneBefore(job, summary, isCutOff), isCutOff);
    state.replaced = summary;
  }
  // An interrupted publishing that was not completed: this run makes its files again.
  forgetPublishing(directory, job.output.name);
  return undefined;
}

/** Does the steps after the publishing, which the last session may not have reached. `keeps`: true keeps the state. */
async function end(
  job: Job,
  io: RunIo,
  state: RunDirectory,
  outcome: RunOutcome<Said>,
  keeps = false,
): Promise<RunOutcome<Said>> {
  const isTold = await tellEnd(job, io, state, outcome.summary);
  closeState(state, keeps || !isTold ? 'nothing' : 'all', io.warn);
  return outcome;
}

/** Delivers the end of a complete run. Returns false if the history lacks it. */
async function tellEnd(job: Job, io: RunIo, state: RunDirectory, summary: Summary): Promise<boolean> {
  const isTold = rememberRun(summary, io);
  try {
    // The ledger may be that of a later run, which was killed.
    await withLedger(state, job, ledger => completeHistory(listOtherRuns(ledger, summary.run_id), io));
  } catch {
    // An unreadable ledger completes no file.
  }
  deliverReports(job, summary, io);
  return isTold;
}

/**
 * The summary of the run that made the output, or of a stopped one that would have replaced it; undefined if the job's
 * settings or files differ from that run's.
 */
async function finishedBefore(
  job: Job,
  {destination}: RunDirectory,
  pipes: Pipes,
): Promise<Summary | undefined> {
  const {paths, inputs} = job;
  const summary = earlierSummary(job);
  if (summary?.settings_sha256 !== settingsDigest(job)) return undefined;
  const {output, rejects, status} = summary;
  const {bytes, sha256} = output;
  if (bytes === null || sha256 === null || !(await destination.holds({bytes, sha256}))) return undefined;
  if (rejects !== null && !(paths.rejects !== undefined && (await hasDigest(paths.rejects, rejects))))
    return undefined;
  // To compare a list that can be read only once would use it up, and its values are still to be looked up.
  if (!isComplete(summary) && inputs.some(isReadOnce)) return undefined;
  if (status !== 'completed' && status !== 'partial') return summary;
  return (await digestInputs(summary, job, pipes)) === summary.input.sha256 ? summary : undefined;
}

/** SHA-256 of the job's inputs as they are now, as far as the run of this summary read them. */
async function digestInputs({input}: Summary, {inputs, settings}: Job, pipes: Pipes): Promise<string> {
  const sources = inputs.map(path => (isReadOnce(path) ? openOnce(path, pipes) : path));
  return (await digestFiles(sources, settings.limit === undefined ? undefined : (input.bytes ?? 0))).sha256;
}

/**
 * True if the job as it is now, with its inputs as they are now, makes this result. Another result, such as last
 * night's, must not pass for this job's.
 */
async function isMadeOf(summary: Summary, job: Job, pipes: Pipes): Promise<boolean> {
  // An input that can be read only once counts as another: to compare it would use it up.
  if (summary.settings_sha256 !== settingsDigest(job) || job.inputs.some(isReadOnce)) return false;
  // If an input can't be read, the run reports that when it reads the input itself.
  return (await digestInputs(summary, job, pipes).catch(() => undefined)) === summary.input.sha256;
}

function completedNow({output}: Job, summary: Summary): RunOutcome<Said> {
  const message = say`The last run wrote its ${pluralize(summary.rows.written, 'row')}, but could not take all steps after that. They are done now: ${output.name}.${failureSentence(summary)}`;
  return foundOutcome('unpublished', summary, message);
}

function foundOutcome(
  found: RunOutcome['found'] & string,
  summary: Summary,
  message: Said,
): RunOutcome<Said> {
  return {exitCode: summary.exit_code as ExitCode, summary, stop: undefined, message, found};
}

/** Outcome of a complete job. `isCutOff`: a later run was interrupted; the message tells how to resume it. */
function doneBefore({output}: Job, summary: Summary, isCutOff: boolean): RunOutcome<Said> {
  const rows = summary.rows.written;
  const lacksAnswers = summary.exit_code === exitCodes.incomplete && summary.reason !== 'rows_rejected';
  const again = isCutOff
    ? say`A later run of it was interrupted. To resume that one: ${set('force', true)}.`
    : say`To ${lacksAnswers ? 'retry the values without an answer' : 'run it again'}: ${set('force', true)}.`;
  const message = say`${output.name} is complete (${pluralize(rows, 'row')}): nothing was sent or spent.${failureSentence(summary)} ${again}`;
  return foundOutcome('complete', summary, message);
}

/**
 * True if the rejects file of an earlier run exists. If the user chose its path, the file may be another one.
 * So the last summary must give the same path and size.
 */
export function hasEarlierRejects(job: Job): boolean {
  const path = job.paths.rejects;
  const found = path === undefined ? undefined : statSync(path, {throwIfNoEntry: false});
  if (path === undefined || found?.isFile() !== true || !isOwnFile('rejects', path)) return false;
  const {rejects} = earlierSummary(job) ?? {};
  return job.settings.rejects === undefined || (rejects?.path === path && rejects.bytes === found.size);
}

const digest = z.object({bytes: z.number().nullable(), sha256: z.string().nullable()});

/** The fields that are read from a summary. They are checked, since another program may have changed the file. */
const readable = z.object({
  settings_sha256: z.string(),
  status: z.string(),
  input: digest,
  output: digest,
  rejects: digest.extend({path: z.string().nullable()}).nullable(),
});

function earlierSummary({paths: {summary}}: Job): Summary | undefined {
  try {
    const text = summary === undefined ? undefined : readIfFile(summary);
    const found: unknown = text === undefined ? undefined : JSON.parse(text);
    return readable.safeParse(found).success ? (found as Summary) : undefined;
  } catch {
    return undefined;
  }
}
