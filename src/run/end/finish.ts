import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {hasDigest} from '../../disk/digest.ts';
import {isDiskFullError, sqliteCode} from '../../disk/sqlite.ts';
import {type ExitCode, exitCodes, OutputError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {REFUSAL_STREAK} from '../../lookup/canary.ts';
import {
  formatCount,
  pluralize,
  refusalStreaksSentence,
  staleSentence,
  storeTroubleSentence,
  wrongTypesSentence,
} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {type Said, say, setting} from '../../sentence.ts';
import {staleCodes} from '../counts/counters.ts';
import {endOfCompletedRun, failureSentence, type RunOutcome, type Stop, withUnfinishedDays} from '../exit.ts';
import type {RunIo} from '../io.ts';
import {undercountSentence} from '../open/account.ts';
import {pruneAnswerStore, storesRejections} from '../open/answer-store.ts';
import type {PublishedDigests} from '../rows/row-writer.ts';
import {closeStages, countFinishedRows, flushAnswersToStore, type Session} from '../session.ts';
import {hasEarlierRejects} from '../state/completed-run.ts';
import {closeRunDirectory, noteEnded, type RunDirectory} from '../state/run-directory.ts';
import {makeErrorStop, makeNoAnswersStop, REFUSED, rejectionsWarning, wasRefused} from '../stop.ts';
import {summarizeFailedStart, summarizeSession} from './build-summary.ts';
import {findDrift, saveRunInHistory} from './history.ts';
import {writeReports, writeSummary, writeUnstartedMetrics} from './report-files.ts';

/** Ends the session: publishes complete rows, or saves the state from which the same command resumes. */
export async function finishSession(session: Session): Promise<RunOutcome<Said>> {
  const outcome = await endSession(session);
  const {summary, stop} = outcome;
  const wrongTypes = wrongTypesSentence(summary).trimStart();
  const oddities = stop === undefined ? (summary.calls.oddities ?? []) : [];
  for (const sentence of [wrongTypes, ...oddities]) if (sentence !== '') session.io.warn(sentence);
  return outcome;
}

async function endSession(session: Session): Promise<RunOutcome<Said>> {
  const {job, stopper, asking, output} = session;
  // A program has its rows already, with the reason of each.
  const hasRows = job.output.kind === 'rows';
  const stop =
    stopper.reason ??
    (hasRows ? undefined : makeNoAnswersStop(output.writer.counters, asking.ledger.tally, job.endpoint));
  try {
    // Decides if the values or the account caused the rejections. If the run can be resumed, a later session decides.
    if (stop === undefined || !job.output.lasts) settleRejections(session);
    if (stop === undefined) return await complete(session);
  } catch (error) {
    return interrupt(session, stop ?? makeErrorStop(error));
  }
  return interrupt(session, stop);
}

function settleRejections({asking: {ledger, store}, io}: Session): void {
  for (const [operation, count] of ledger.settleRejections(REFUSAL_STREAK, answer => store.put(answer))) {
    if (ledger.tally.refusals[operation].longestStreak === 0) io.warn(rejectionsWarning(operation, count));
  }
}

async function complete(session: Session): Promise<RunOutcome<Said>> {
  const {job, state, stopper, io, asking, output} = session;
  const {ledger, store, connection} = asking;
  // All calls have ended. What the process may have open is needed for the files.
  await connection.close();
  // Gives the store the last answers before the ledger is removed.
  await stopper.unlessStopped(store.flush(true));
  const published = output.writer.digests;
  ledger.end();
  const {exitCode, summary} = judge(session, published);
  const obsolete = published.rejects === null && hasEarlierRejects(job);
  try {
    state.destination.publish(state, {isNew: state.isNew === true, obsolete, summary});
    ledger.close();
  } catch (error) {
    // If the output is in place already, the same command replaces it.
    const {file} = state.destination;
    if (file !== undefined && published.output !== null && (await hasDigest(file, published.output)))
      state.replaced = summary;
    throw error;
  }
  await closeStages(session);
  // If the history lacks the run, the state stays: from it, the next session adds the run to the history.
  const isInHistory = saveRunInHistory(summary, io);
  // After a kill before this point, the next session finds the output complete, and does these steps again.
  writeReports(job, summary, io);
  closeRunDirectory(state, isInHistory && !keepsCounts(state, summary) ? 'all' : 'nothing', io.warn);
  await pruneAnswerStore(job, io);
  return {exitCode, summary, stop: undefined, message: completedMessage(session, summary)};
}

/** Keeps the state of a run without an answer: until the night is over, the same command continues its counts. */
function keepsCounts(state: RunDirectory, {exit_code: code}: Summary): boolean {
  if (code !== exitCodes.temporary && code !== exitCodes.credits) return false;
  try {
    noteEnded(state, true);
    return true;
  } catch {
    // Such as on a full disk: then each start counts anew.
    return false;
  }
}

/** Judges a run that wrote all rows: did it exceed a threshold (`fail_if`), or differ from earlier runs (drift)? */
function judge(session: Session, published: PublishedDigests): Pick<RunOutcome, 'exitCode' | 'summary'> {
  const {job, io, asking, output} = session;
  const done = endOfCompletedRun(output.writer.counters, asking.ledger.tally, storesRejections(job));
  const draft = summarizeSession(session, done, published);
  for (const warning of draft.risk?.warnings ?? []) io.warn(warning);
  const drift = findDrift(job, draft, io);
  const failedIf = metFailConditions(session, {...draft, drift});
  const {drift: setting} = job.settings;
  const drifted = drift.length > 0 && setting !== 'off' && setting.fails;
  const limit = failedIf.length > 0 ? 'fail_if' : drifted ? 'drift' : undefined;
  const {exitCode, reason} = limit === undefined ? done : {exitCode: exitCodes.limit, reason: limit};
  const judged = {...draft, exit_code: exitCode, reason, failed_if: failedIf, drift};
  const summary = withUnfinishedDays(judged, job);
  return {exitCode: summary.exit_code as ExitCode, summary};
}

function metFailConditions({io, input: {layout}}: Session, summary: Summary): string[] {
  return layout.failConditions.flatMap(({text, exceeded}) => {
    const decision = exceeded(summary);
    if (decision === undefined)
      io.warn(
        say`${setting('failIf')} "${text}" could not be decided: the condition reads a number that the summary lacks, or divides by zero.`,
      );
    return decision === true ? [text] : [];
  });
}

function completedMessage({job, output}: Session, summary: Summary): Said {
  const {written, rejected} = summary.rows;
  const place = job.paths.rejects === undefined ? '' : ` (${job.paths.rejects})`;
  const left = rejected === 0 ? '' : `, ${formatCount(rejected)} could not be read${place}`;
  return say`${pluralize(written, 'row')} written${job.output.lasts ? ` to ${job.output.name}` : ''}${left}.${failureSentence(summary)}${staleSentence(summary, staleCodes(output.writer.counters))}${refusalStreaksSentence(summary)}${storeTroubleSentence(summary)}${undercountSentence(summary)}`;
}

/** Ends a run that stopped. Its saved state is safe already. The summary is written if that is still possible. */
async function interrupt(session: Session, first: Stop<Said>): Promise<RunOutcome<Said>> {
  const {job, state, io, asking} = session;
  const {ledger} = asking;
  await flushAnswersToStore(session).catch(() => {});
  const stop = endLedger(session, first);
  const space = spaceSentence(session, stop);
  const lostAnswers = !ledger.isReadable;
  const summary = summarizeSession(session, stop);
  recordStoppedRun(job, io, state, summary);
  closeLedger(session);
  writeReports(job, summary, io);
  await closeStages(session);
  closeRunDirectory(state, 'nothing', io.warn);
  const message = say`${stop.message}${space}${undercountSentence(summary)}`;
  return {exitCode: stop.exitCode, summary, stop, message, lostAnswers};
}

/** Ends the ledger. If that fails, this is the stop to report, unless `stop` is an output, state or internal error. */
function endLedger({asking: {ledger}}: Session, stop: Stop<Said>): Stop<Said> {
  try {
    if (stop.forgetsFailures === true) ledger.forgetFailures();
    const isRefused = stop.reason === 'credentials';
    if (isRefused !== wasRefused(ledger)) ledger.setMeta(REFUSED, isRefused);
    ledger.end();
    return stop;
  } catch (error) {
    ledger.abandon();
    const broken: readonly number[] = [exitCodes.output, exitCodes.internal, exitCodes.state];
    return broken.includes(stop.exitCode) ? stop : makeErrorStop(error);
  }
}

function closeLedger({asking: {ledger}}: Session): void {
  try {
    ledger.close();
  } catch {
    ledger.abandon();
  }
}

function recordStoppedRun(job: Job, io: RunIo, state: RunDirectory | undefined, summary: Summary): void {
  const {output, rejects} = state?.replaced ?? summary;
  writeSummary(job, io, {...summary, output, rejects});
  saveRunInHistory(summary, io);
}

/**
 * Delivers the summary of a run that could not start; after a mistake of the user, only metrics. Nothing if the user
 * interrupted it, or if another run has the output's lock and so reports its own end.
 */
export async function reportFailedStart(
  job: Job,
  io: RunIo,
  state: RunDirectory | undefined,
  error: unknown,
): Promise<void> {
  const stop = makeErrorStop(error);
  if (stop.exitCode === exitCodes.locked || stop.exitCode === exitCodes.interrupted) return;
  // A missing input is a typo of the user. But that of a job file is in the summary.
  const isTypo = stop.reason === 'input_missing' && !job.fromFile;
  if (stop.exitCode === exitCodes.usage || isTypo)
    return writeUnstartedMetrics(job.settings.metrics, job.name ?? null, stop.exitCode, io);
  const summary = await summarizeFailedStart(job, io.now(), state, stop);
  recordStoppedRun(job, io, state, summary);
  writeReports(job, summary, io);
}

/** Codes of errors of the ledger and of the unpublished files. Others name their file's place themselves. */
const CODES_OF_OWN_FILES: readonly string[] = ['output_unwritable', 'state_unwritable'];

/** The run's own directory whose disk is full, by an error; undefined if it is of something else. */
function fullDirectory(error: unknown, state: RunDirectory): string | undefined {
  if (!(error instanceof OutputError) || !isDiskFullError(error)) return undefined;
  if (!CODES_OF_OWN_FILES.includes(error.code)) return undefined;
  if (sqliteCode(error.cause) !== undefined) return state.directory;
  // Without a file, the full device may be that of the stream.
  return state.destination.file === undefined ? undefined : state.partials;
}

const MIB = 2 ** 20;
/** Maximum size of the ledger's log. */
const LOG_BYTES = 33 * MIB;

/**
 * The space that the rest of a run needs on the full disk that stopped it, by the share of rows that are written; only its
 * directory, if the share is not known or the state is temporary. Empty for other stops.
 */
function spaceSentence({state, input, output}: Session, {error}: Stop<unknown>): string {
  const full = fullDirectory(error, state);
  if (full === undefined) return '';
  const {bytesTotal, position, recordsRead} = input.source;
  const share = (countFinishedRows(output.writer) / recordsRead) * (position.bytes / (bytesTotal ?? 0));
  if (state.temporary !== undefined || !(share > 0 && share <= 1)) return fullSentence(full);
  const isOnDisk = (directory: string) => statSync(directory).dev === statSync(full).dev;
  const directories = [...new Set([state.directory, state.partials])].filter(isOnDisk);
  const paths = directories.flatMap(directory => readdirSync(directory).map(name => join(directory, name)));
  const used = paths.reduce((sum, path) => sum + (statSync(path, {throwIfNoEntry: false})?.size ?? 0), 0);
  const log = directories.includes(state.directory) ? LOG_BYTES : 0;
  const needed = Math.max(1, Math.ceil((used / share - used + log) / MIB));
  return ` The rest of the run needs up to about ${formatCount(needed)} MiB more in ${full}.`;
}

function fullSentence(directory: string): string {
  return ` The disk with ${directory} is full.`;
}

/** The error of a run that could not begin. If the disk of its own files is full, the message names their directory. */
export function explainFullDisk(error: unknown, state: RunDirectory | undefined): unknown {
  const full = state && fullDirectory(error, state);
  if (full === undefined) return error;
  const {said, cause} = error as OutputError;
  return new OutputError('state_unwritable', say`${said}${fullSentence(full)}`, {cause});
}
