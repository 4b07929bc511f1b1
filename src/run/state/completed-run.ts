import {existsSync, statSync} from 'node:fs';
import {z} from 'zod';
import {digestFiles, hasDigest} from '../../disk/digest.ts';
import {readIfFile} from '../../disk/path.ts';
import {type ExitCode, exitCodes, UsageError} from '../../errors.ts';
import {isReadOnce, openStdinOrPipe} from '../../input/bytes/raw.ts';
import {isFromJobFile, type Job} from '../../job/job.ts';
import {isReplaceable} from '../../output/earlier/enriched-file.ts';
import {pluralize} from '../../report/format.ts';
import {UNFINISHED_DAYS} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {type Said, say, setting} from '../../sentence.ts';
import {isRunFile, outputExistsError} from '../destination.ts';
import {completeKilledRuns, saveRunInHistory} from '../end/history.ts';
import {checkReportPaths, writeReports, writeSummary} from '../end/report-files.ts';
import {failureSentence, isCompleteRun, type RunOutcome, withUnfinishedDays} from '../exit.ts';
import {pipeSettings, runPhase} from '../io.ts';
import {settingsDigest} from '../scope.ts';
import type {RunContext} from '../stop.ts';
import {removeTemporaryLeftovers} from './job-files.ts';
import {closeRunDirectory, forgetLedger, isEnded, peekState, withLedger} from './run-directory.ts';
import {listLedgerRuns} from './run-identity.ts';

type OpenedState = Omit<RunContext, 'clock'>;

/**
 * The outcome of a run that has nothing to look up, since its output is complete. Undefined if rows are to be looked up.
 *
 * @throws {UsageError} if the run would replace an output, or a summary has no directory.
 */
export async function finishCompletedRun(opened: OpenedState): Promise<RunOutcome<Said> | undefined> {
  const {job, io, state} = opened;
  checkReportPaths(job, io);
  const {destination, directory} = state;
  const {force, restart} = job.settings;
  removeTemporaryLeftovers(job, destination);
  if (destination.file === undefined || !existsSync(destination.file)) {
    state.isNew = !force || isFromJobFile(job, 'force');
    return undefined;
  }
  const known = earlierSummary(job);
  if (force && isFromJobFile(job, 'force')) await refuseOthersOutput(job, destination.file, known);
  const last = isWritten(known) ? withUnfinishedDays(known, job) : known;
  const isSame = last?.settings_sha256 === settingsDigest(job);
  const {run, hasCalls} = peekState(state);
  const isOwn = isWritten(last) && run !== undefined && last.run_id.startsWith(run.runId) && !isEnded(state);
  // The ledger of a session whose summary says that it ended: a kill hit its publishing, or what follows.
  const isLeft = isOwn && last.resumed.times + 1 === run.sessions;
  if (force && (restart || !isLeft)) return undefined;
  const compare = () => compareFiles(opened, last, isSame);
  const found = await runPhase(io.phase, 'comparing with what is there', () => ({}), compare);
  if (isOwn && !restart && found === 'not in place' && (isSame || force)) return undefined;
  if (last !== undefined && found === 'same') {
    if (!isCompleteRun(last)) {
      state.replaced = last;
      return undefined;
    }
    const isCutOff = hasCalls && !isLeft;
    if (last.reason !== known?.reason) writeSummary(job, io, last);
    if (force || !restart) return end(opened, doneBefore(job, last, isCutOff), isCutOff);
  }
  if (isLeft && found !== 'not in place') {
    await tellEnd(opened, last);
    if (force) {
      forgetLedger(directory);
      return undefined;
    }
  }
  throw outputExistsError(job.output.name);
}

/**
 * Refuses to replace a file that no run made, if only a job file asks for it. A list without a header gives an output
 * without one: there, the summary must have its digest.
 */
async function refuseOthersOutput(job: Job, path: string, last: Summary | undefined): Promise<void> {
  const {bytes, sha256} = last?.output ?? {bytes: null, sha256: null};
  const isOwn = !job.settings.header && bytes !== null && sha256 !== null;
  if (isOwn ? await hasDigest(path, {bytes, sha256}) : await isReplaceable(path)) return;
  throw new UsageError(
    'output_exists',
    say`${job.output.name} exists, and is not the output of a run. A job file replaces outputs of runs only (${job.placeOf(['force'])}). Replace it with the flag ${setting('force', true)}, or choose another output. Nothing was sent.`,
  );
}

/** Does the steps after the publishing, which the last session may not have reached. `keeps`: true keeps the state. */
async function end(
  opened: OpenedState,
  outcome: RunOutcome<Said>,
  keeps: boolean,
): Promise<RunOutcome<Said>> {
  const isTold = await tellEnd(opened, outcome.summary);
  closeRunDirectory(opened.state, keeps || !isTold ? 'nothing' : 'all', opened.io.warn);
  return outcome;
}

/** Delivers the end of a complete run. Returns false if the history lacks it. */
async function tellEnd({job, io, state}: OpenedState, summary: Summary): Promise<boolean> {
  const isTold = saveRunInHistory(summary, io);
  try {
    // The ledger may be that of a later run, which was killed.
    await withLedger(state, job, ledger => completeKilledRuns(listLedgerRuns(ledger, summary.run_id), io));
  } catch {
    // An unreadable ledger completes no file.
  }
  writeReports(job, summary, io);
  return isTold;
}

/**
 * Compares the files in place, the settings and the list with those of the job's last summary. For a run that stopped,
 * `same` means the output that it would have replaced.
 */
async function compareFiles(
  {job, io, state, stopper}: OpenedState,
  summary: Summary | undefined,
  isSame: boolean,
): Promise<'not in place' | 'another' | 'same'> {
  const {inputs, paths, settings} = job;
  if (summary === undefined) return 'not in place';
  const {input, output, rejects} = summary;
  const {bytes, sha256} = output;
  if (bytes === null || sha256 === null || !(await state.destination.holds({bytes, sha256})))
    return 'not in place';
  if (!isSame) return 'another';
  if (rejects !== null && !(paths.rejects !== undefined && (await hasDigest(paths.rejects, rejects))))
    return 'not in place';
  // To compare a list that can be read only once would use it up, and its values may still be to be looked up.
  if ((settings.force || !isCompleteRun(summary)) && inputs.some(isReadOnce)) return 'another';
  if (!isWritten(summary)) return 'same';
  const sources = inputs.map(path =>
    isReadOnce(path) ? openStdinOrPipe(path, pipeSettings(io, stopper)) : path,
  );
  const asFar = settings.limit === undefined ? undefined : (input.bytes ?? 0);
  try {
    return (await digestFiles(sources, asFar)).sha256 === input.sha256 ? 'same' : 'another';
  } catch (error) {
    if (inputs.some(isReadOnce)) throw error;
    // The list is gone, or can't be read. A run that is to read it says so.
    return 'another';
  }
}

function isWritten(summary: Summary | undefined): summary is Summary {
  return summary?.status === 'completed' || summary?.status === 'partial';
}

/** Outcome of a complete job. `isCutOff`: a later run was interrupted; the message tells how to resume it. */
function doneBefore({output}: Job, summary: Summary, isCutOff: boolean): RunOutcome<Said> {
  const rows = summary.rows.written;
  const lacksAnswers =
    summary.exit_code === exitCodes.incomplete &&
    !['rows_rejected', UNFINISHED_DAYS].includes(summary.reason);
  const again = isCutOff
    ? say`A later run of it was interrupted. To resume that one: ${setting('force', true)}.`
    : say`To ${lacksAnswers ? 'retry the values without an answer' : 'run it again'}: ${setting('force', true)}.`;
  const message = say`${output.name} is complete (${pluralize(rows, 'row')}): nothing was sent or spent.${failureSentence(summary)} ${again}`;
  return {exitCode: summary.exit_code as ExitCode, summary, stop: undefined, message, found: 'complete'};
}

/**
 * True if the rejects file of an earlier run exists. If the user chose its path, the file may be another one.
 * So the last summary must give the same path and size.
 */
export function hasEarlierRejects(job: Job): boolean {
  const path = job.paths.rejects;
  const found = path === undefined ? undefined : statSync(path, {throwIfNoEntry: false});
  if (path === undefined || found?.isFile() !== true || !isRunFile('rejects', path)) return false;
  const {rejects} = earlierSummary(job) ?? {};
  return job.settings.rejects === undefined || (rejects?.path === path && rejects.bytes === found.size);
}

const digest = z.object({bytes: z.number().nullable(), sha256: z.string().nullable()});

/** The fields that are read from a summary. They are checked, since another program may have changed the file. */
const readable = z.object({
  run_id: z.string(),
  settings_sha256: z.string(),
  status: z.string(),
  input: digest,
  output: digest,
  rejects: digest.extend({path: z.string().nullable()}).nullable(),
  resumed: z.object({times: z.number()}),
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
