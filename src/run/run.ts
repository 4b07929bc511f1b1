import {setTimeout as delay} from 'node:timers/promises';
import {toOutputError} from '../errors.ts';
import {InputError} from '../input/input-error.ts';
import type {InputRecord} from '../input/row.ts';
import type {Job} from '../job/job.ts';
import {resolveUntil} from '../job/settings/time-limit.ts';
import {formatCount, formatDuration} from '../report/format.ts';
import {type Said, say, setting} from '../sentence.ts';
import {hasAnswers, sumAskedCells, sumFailedCells} from './counts/counters.ts';
import {finishEarlierDays} from './earlier-days.ts';
import {summarizeSession} from './end/build-summary.ts';
import {explainFullDisk, finishSession, reportFailedStart} from './end/finish.ts';
import {pruneHistory, saveRunInHistory, unfinishedEnd} from './end/history.ts';
import {type SendStartPing, withHealthCheck} from './end/report-files.ts';
import {exceedsLimit, isKeyForbidden, type RunOutcome} from './exit.ts';
import {RowsError, type RunIo} from './io.ts';
import {createPauseLogger, logEnd, logRowFailures, logStart, logStop} from './log.ts';
import {turnOffUnusableSettings} from './open/answer-store.ts';
import {fitConcurrency} from './open/connection.ts';
import {limitRows} from './rows/first-pass.ts';
import {RowAdmission} from './rows/row-admission.ts';
import {
  CALL_GRACE_MS,
  flushAnswersToStore,
  openSession,
  reopenInput,
  type Session,
  sampleTimeline,
  startDeadline,
} from './session.ts';
import {finishCompletedRun} from './state/completed-run.ts';
import {closeRunDirectory, openRunDirectory, peekState, type RunDirectory} from './state/run-directory.ts';
import {
  createSteadyClock,
  findStopError,
  makeErrorStop,
  makeLimitStop,
  makeRefusalsStop,
  Stopper,
} from './stop.ts';

/** Called once a session is under way. Returns a function that is called when the session's work has ended. */
export type SessionStartHook = (session: Session) => () => void;

const KEEP_STORED_EVERY_MS = 1_000;
const SAMPLE_EVERY_MS = 250;
const REMEMBER_EVERY_MS = 60_000;
const ADMIT_AT_ONCE = 256;
const READER_MS = 1_000;
/** Maximum number of times that a list is read while another program writes to it. */
const MOST_READINGS = 10;
/** Milliseconds for which such a list must be still before it counts as complete: as long as its first reading took. */
const STILL_MS = {least: 2_000, most: 60_000};

/**
 * One run, from its inputs to its published output. A resume is a run like any other: it begins at the first row, with
 * an empty output. Values whose outcome is in the ledger, which the interrupted run left, make no calls; the others are
 * sent again while they have resends left.
 *
 * @throws {BulkEnrichError} if the run can't start. If a started run stops early, the outcome has the reason.
 */
export function run(
  job: Job,
  io: RunIo,
  stopper = new Stopper(),
  watch: SessionStartHook = () => () => {},
): Promise<RunOutcome<Said>> {
  const {until} = job.settings;
  const untilMs = until && resolveUntil(until, io.now());
  return withHealthCheck(job, io.warn, async begun => {
    const finish = (one: Job) => runOnce({...one, untilMs}, io, stopper, watch, begun);
    return await finish(await finishEarlierDays(job, io, stopper, finish));
  });
}

async function runOnce(
  given: Job,
  io: RunIo,
  stopper: Stopper,
  watch: SessionStartHook,
  begun: SendStartPing,
): Promise<RunOutcome<Said>> {
  const job = fitConcurrency(turnOffUnusableSettings(given, io), io.warn);
  let state: RunDirectory | undefined;
  try {
    state = openRunDirectory(job, io);
    begun();
    const context = {job, io, state, stopper: stopper.child()};
    const complete = await finishCompletedRun(context);
    if (complete !== undefined) return complete;
    await io.mayBegin?.(job);
    const session = await openSession({...context, clock: createSteadyClock(io.now())});
    await underWay(session, watch);
    const outcome = await finishSession(session);
    logEnd(io.log, outcome);
    return outcome;
  } catch (thrown) {
    const error = findStopError(stopper, thrown) ?? explainFullDisk(toOutputError(thrown), state);
    await reportFailedStart(job, io, state, error);
    // Keeps the state if its ledger has calls, since no other file may have a record of them.
    if (state !== undefined)
      closeRunDirectory(state, peekState(state).hasCalls ? 'nothing' : 'made', io.warn);
    throw error;
  }
}

/** Takes the rows through the session, together with the log, the deadline, the timeline, and the run's file in the history. */
async function underWay(session: Session, watch: SessionStartHook): Promise<void> {
  const endings: (() => void)[] = [];
  // After an error, calls may have been sent. So it ends the session as a stop does: with all that they cost in its summary.
  try {
    logStart(session);
    logStop(session);
    endings.unshift(watch(session));
    endings.unshift(startDeadline(session));
    const notePause = createPauseLogger(session);
    pruneHistory(session.io.env);
    let rememberedAt = rememberSoFar(session, session.io.warn);
    const sampling = setInterval(() => {
      sampleTimeline(session);
      notePause();
      if (session.clock() - rememberedAt >= REMEMBER_EVERY_MS)
        rememberedAt = rememberSoFar(session, () => {});
    }, SAMPLE_EVERY_MS);
    // In library use the timer must not keep the calling program alive.
    if (session.job.output.kind === 'rows') sampling.unref();
    endings.unshift(() => {
      clearInterval(sampling);
      notePause();
      sampleTimeline(session, true);
    });
    await readUntilStill(session);
  } catch (error) {
    session.stopper.stop(makeErrorStop(error));
  }
  for (const end of endings) end();
}

/** Writes the summary so far to the history, where it stays if the run is killed. Returns the time. */
function rememberSoFar(session: Session, warn: RunIo['warn']): number {
  saveRunInHistory(summarizeSession(session, unfinishedEnd), {...session.io, warn});
  return session.clock();
}

/**
 * Takes the rows through source → plan → answers → in order → sink, until the input ends or the run stops. If another
 * program wrote to the input meanwhile, reads it again: known values make no calls.
 */
async function readUntilStill(session: Session): Promise<void> {
  const {job, io, stopper, clock} = session;
  const stillMs = {...STILL_MS, ...io.stillMs};
  let mustBeStillMs = 0;
  for (let readings = 1; ; readings++) {
    const begun = clock();
    await readThrough(session);
    if (stopper.reason !== undefined) return;
    const {written, rejected} = session.output.writer.counters.rows;
    if (written === 0 && rejected > 0 && job.output.kind !== 'rows')
      return stopper.stop(makeErrorStop(noneRead(rejected)));
    const tookMs = clock() - begun;
    // Without a wait: a program that has nothing else to do would end before such a timer.
    const leftMs = mustBeStillMs - tookMs;
    if (leftMs > 0) await stopper.unlessStopped(delay(leftMs, undefined, {ref: false}));
    if (stopper.reason !== undefined || !isWrittenTo(session)) return;
    if (!job.output.lasts || readings === MOST_READINGS) return stopper.stop(makeErrorStop(notStill(job)));
    if (readings === 1) {
      mustBeStillMs = Math.min(Math.max(tookMs, stillMs.least), stillMs.most);
      io.warn(
        `Another program has written to the list while it was read, so it is read again until it is still for ${formatDuration(mustBeStillMs)}.`,
      );
    }
    await reopenInput(session);
  }
}

/** True if the input changed since it was opened, other than after the last row of a `limit`. */
function isWrittenTo({job, input: {source}}: Session): boolean {
  return source.recordsRead < (job.settings.limit ?? Number.POSITIVE_INFINITY) && source.isChanged;
}

/** A run that can read no row is no success, and replaces nothing. */
function noneRead(rejected: number): InputError {
  return new InputError(
    'input_rejected',
    say`None of the ${formatCount(rejected)} rows can be read. Check the file, ${setting('delimiter')}, ${setting('encoding')} and ${setting('skipLines')}.`,
  );
}

function notStill({inputs}: Job): InputError {
  return new InputError(
    'input_changed',
    `The list changed while it was read, again and again: ${inputs.join(', ')}. Wait until it is complete, or put it in place by renaming it. Then run the same command again: answers already paid for are kept.`,
  );
}

async function readThrough(session: Session): Promise<void> {
  const {stopper, output, asking, io, job} = session;
  const {window} = output;
  const stop = (error: unknown) => stopper.stop(makeErrorStop(error));
  const writing = write(session).catch(stop);
  let late: unknown;
  await read(session).catch(error => {
    if (error instanceof RowsError) late = error;
    else stop(error);
  });
  window.end();
  await stopper.unlessStopped(writing);
  if (late !== undefined) stop(late);
  if (stopper.reason === undefined) return;
  asking.executor.stop();
  await asking.executor.drained(io.graceMs ?? CALL_GRACE_MS);
  window.abort();
  if (job.output.kind !== 'stream') return writing;
  // The reader of a stream has its rows at once, so finished rows are still written. Waits only one second: the reader may be gone.
  await Promise.race([writing, delay(READER_MS, undefined, {ref: false})]);
}

/** Reads the input, and submits its lookups: source → plan → answers. */
async function read(session: Session): Promise<void> {
  const {stopper, job, input, asking, output} = session;
  const {source, layout} = input;
  const admission = new RowAdmission({layout, window: output.window, lookups: asking.lookups, stopper});
  const batches = limitRows(source, job.settings.limit);
  for (;;) {
    const next = await stopper.unlessStopped(batches.next());
    if (next === undefined || next.done === true) return;
    await stopper.unlessStopped(admitAll(admission, next.value, stopper));
  }
}

/** Admits a batch in small groups. Each group waits until the window of unfinished rows has room. */
async function admitAll(
  admission: RowAdmission,
  records: readonly InputRecord[],
  stopper: Stopper,
): Promise<void> {
  for (let from = 0; from < records.length && stopper.reason === undefined; )
    from += await admission.admit(records.slice(from, from + ADMIT_AT_ONCE));
}

/** Writes rows in input order: window → sink. */
async function write(session: Session): Promise<void> {
  const {output, clock, io, stopper} = session;
  const {window, writer} = output;
  let kept = clock();
  for (let ready = await window.take(); ready !== undefined; ready = await window.take()) {
    await writer.write(ready);
    logRowFailures(session, ready);
    checkLimits(session);
    // Finished rows leave the window, even if the run stops while the program uses those before.
    if (io.program !== undefined) await stopper.unlessStopped(io.program.used());
    if (clock() - kept < KEEP_STORED_EVERY_MS) continue;
    await flushAnswersToStore(session);
    kept = clock();
  }
  sampleTimeline(session, true);
  await writer.flush();
  await flushAnswersToStore(session);
}

function checkLimits({job, stopper, output, asking}: Session): void {
  const {maxErrors, maxRejects} = job.settings;
  const {counters} = output.writer;
  const {written, rejected} = counters.rows;
  // This function runs for each group of rows. So it adds up the cells only if there is a limit.
  if (maxErrors !== undefined) {
    const errors = {count: sumFailedCells(counters), total: sumAskedCells(counters)};
    if (exceedsLimit(maxErrors, errors)) {
      const {tally} = asking.ledger;
      stopper.stop(
        makeRefusalsStop(tally, job.endpoint, each =>
          isKeyForbidden(each, hasAnswers(counters) ? undefined : 1),
        ) ?? makeLimitStop('max_errors', errors),
      );
    }
  }
  const rejects = {count: rejected, total: written + rejected};
  if (exceedsLimit(maxRejects, rejects)) stopper.stop(makeLimitStop('max_rejects', rejects));
}
