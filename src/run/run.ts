import {setTimeout as delay} from 'node:timers/promises';
import {asked, failures} from '../books/counters.ts';
import {foreseen} from '../errors.ts';
import {isReadOnce} from '../input/bytes/raw.ts';
import type {Batch} from '../input/row.ts';
import type {Job, UnfinishedDay} from '../job/job.ts';
import {momentOf} from '../job/settings/until.ts';
import {GRACE_MS, startDeadline} from './deadline.ts';
import {finish, reportFailure} from './end/finish.ts';
import {type Begun, withHealthCheck} from './end/health-check.ts';
import {exceeds} from './exit.ts';
import {type Beginning, staleReason} from './identity.ts';
import {dateOf, type RunIo} from './io.ts';
import {logEnd, logStart, logStop, logTrouble, pauseLog} from './log.ts';
import {withoutUnusable} from './open/unusable-directories.ts';
import {beginningOf, startOver} from './open/where-to-begin.ts';
import {Admission} from './rows/admission.ts';
import {limited} from './rows/limited.ts';
import type {RunOutcome} from './run-outcome.ts';
import {closeStages, openSession, type Session, sampleTimeline} from './session.ts';
import {type Checkpoint, closeState, hasCalls, openState, type RunState} from './state/run-state.ts';
import {limitStop, Stopper, stopFor, stoppedBefore} from './stop.ts';

/** Called once a session is under way. Returns a function that is called when the session's work has ended. */
export type Watch = (session: Session) => () => void;

/** The work of an open session. The run ends when this work resolves, or when the run stops. */
export type RunWork = (session: Session) => Promise<void>;

const CHECKPOINT_EVERY_MS = 1_000;
const SAMPLE_EVERY_MS = 250;
const ADMIT_AT_ONCE = 256;
const READER_MS = 1_000;

/**
 * One run, from its inputs to its published output, or to saved state from which the same command resumes.
 *
 * @throws {BulkEnrichError} if the run can't start. If a started run stops early, the outcome has the reason.
 */
export function run(
  job: Job,
  given: RunIo,
  stopper = new Stopper(),
  watch: Watch = () => () => {},
  work: RunWork = throughFiles,
): Promise<RunOutcome> {
  const io = {...given, date: dateOf(given)};
  const {until} = job.settings;
  const untilMs = until && momentOf(until, io.now());
  return withHealthCheck(job, io.warn, async begun => {
    const watched = (some: RunWork) => (session: Session) => underWay(session, watch, some);
    for (const day of job.unfinished ?? [])
      if (job.inputs.some(isReadOnce)) io.warn(pipedDay(day));
      else if (stopper.reason === undefined)
        await finishDay(day, untilMs, io, stopper, watched(throughFiles), begun);
    return await runOnce({...job, untilMs}, io, stopper, watched(work), begun);
  });
}

/** The warning about an earlier day's run whose list came through a pipe: the pipe has today's list now. */
function pipedDay({date, directory}: UnfinishedDay): string {
  return `The run of ${date} was interrupted, and its list came through a pipe. To finish it, pipe that list into the same command with --date ${date}; to give it up, remove ${directory}.`;
}

/** Finishes an earlier day's run first. A failure here is a warning and never fails today's run. */
async function finishDay(
  {date, directory, resolve}: UnfinishedDay,
  untilMs: number | undefined,
  io: RunIo,
  stopper: Stopper,
  flow: RunWork,
  begun: Begun,
): Promise<void> {
  io.warn(`The run of ${date} was interrupted, so it is finished first.`);
  const left = (more = '') =>
    `To finish it, run the same command with --date ${date}${more}; to give it up, remove ${directory}.`;
  try {
    const {message, stop} = await runOnce({...resolve(), untilMs}, io, stopper, flow, begun);
    // If a daily or monthly budget is used up, the stop has the time at which to come back. Without this
    // time, the run's own limit is used up.
    const usedUp = stop?.reason === 'budget' && stop.comeBackMs === undefined;
    const toDo = left(usedUp ? ' and a higher --max-credits' : '');
    io.warn(`The run of ${date}: ${message}${stop === undefined ? '' : ` ${toDo}`}`);
  } catch (error) {
    io.warn(`The run of ${date}: ${stopFor(error).message} ${left()}`);
  }
}

async function runOnce(
  given: Job,
  io: RunIo,
  stopper: Stopper,
  flow: RunWork,
  begun: Begun,
): Promise<RunOutcome> {
  const job = withoutUnusable(given, io);
  let state: RunState | undefined;
  try {
    state = openState(job, io.env);
    begun();
    const beginning = await beginningOf(job, io, state, stopper);
    if (typeof beginning === 'object') return beginning;
    await io.mayBegin?.(job);
    const session = await openFresh(job, io, state, stopper, flow, beginning);
    const outcome = await finish(session);
    logEnd(io.log, outcome);
    return outcome;
  } catch (thrown) {
    const error = stoppedBefore(stopper, thrown) ?? foreseen(thrown);
    await reportFailure(job, io, state, error);
    // Keeps the state if its ledger has calls, since no other file may have a record of them.
    if (state !== undefined) closeState(state, hasCalls(state) ? 'nothing' : 'made', io.warn);
    throw error;
  }
}

/** Runs a session to its end. If the saved state does not fit the job, starts over once. */
async function openFresh(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
  flow: RunWork,
  beginning: Beginning,
): Promise<Session> {
  try {
    const session = await openSession(job, io, state, stopper.child(), beginning);
    await flow(session);
    const error = session.stopper.reason?.error;
    if (beginning === 'over' || staleReason(error, job) === undefined) return session;
    session.asking.ledger.close();
    await closeStages(session);
    throw error;
  } catch (error) {
    const why = staleReason(error, job);
    if (beginning === 'over' || why === undefined) throw error;
    startOver(job, io, state, why, error);
    return openFresh(job, io, state, stopper, flow, 'over');
  }
}

/** Runs the work together with the log, the deadline and the timeline. */
async function underWay(session: Session, watch: Watch, work: RunWork): Promise<void> {
  logStart(session);
  logStop(session);
  const unwatch = watch(session);
  const endDeadline = startDeadline(session);
  const notePause = pauseLog(session);
  const sampling = setInterval(() => {
    sampleTimeline(session);
    notePause();
  }, SAMPLE_EVERY_MS);
  // In library use the timer must not keep the calling program alive.
  if (session.job.output.kind === 'rows') sampling.unref();
  await work(session);
  endDeadline();
  clearInterval(sampling);
  notePause();
  sampleTimeline(session, true);
  unwatch();
}

/** Takes the rows through source → plan → answers → in order → sink, until the input ends or the run stops. */
async function throughFiles(session: Session): Promise<void> {
  const {stopper, output} = session;
  const {window} = output;
  // Earlier sessions' rows count too, and may exceed a limit already. Without this check, each resume would
  // process a few more rows before it stops.
  checkLimits(session);
  if (stopper.reason !== undefined) return;
  const ending = (work: Promise<void>) => work.catch(error => stopper.stop(stopFor(error)));
  const writing = ending(write(session));
  await ending(read(session));
  window.end();
  await stopper.unlessStopped(writing);
  if (stopper.reason === undefined) return;
  await callsEnd(session);
  window.abort();
  if (session.job.output.lasts) return writing;
  // A stream can't be resumed, so finished rows are still written. Waits only one second: the reader may be gone.
  await Promise.race([writing, delay(READER_MS, undefined, {ref: false})]);
}

/** Sends nothing new. Resolves once no call is in flight, or after the grace period. */
export function callsEnd({io, asking: {executor}}: Session): Promise<void> {
  executor.stop();
  return executor.drained(io.graceMs ?? GRACE_MS);
}

/** Reads the input, and submits its lookups: source → plan → answers. */
async function read(session: Session): Promise<void> {
  const {stopper, job, input, asking, output} = session;
  const {source, layout} = input;
  const admission = new Admission({layout, window: output.window, answers: asking.answers, stopper});
  const batches = limited(source, job.settings.limit);
  for (;;) {
    const next = await stopper.unlessStopped(batches.next());
    if (next === undefined || next.done === true) return;
    await stopper.unlessStopped(admitAll(admission, next.value, stopper));
  }
}

/** Admits a batch in small groups. Each group waits until the window of unfinished rows has room. */
async function admitAll(admission: Admission, {records, position}: Batch, stopper: Stopper): Promise<void> {
  for (let from = 0; from < records.length && stopper.reason === undefined; from += ADMIT_AT_ONCE)
    await admission.admit({records: records.slice(from, from + ADMIT_AT_ONCE), position});
}

/** Writes rows in input order: window → sink → checkpoint. A checkpoint covers only durable rows. */
async function write(session: Session): Promise<void> {
  const {output, clock} = session;
  const {window, writer} = output;
  let saved = clock();
  for (let ready = await window.take(); ready !== undefined; ready = await window.take()) {
    await writer.write(ready);
    logTrouble(session, ready);
    checkLimits(session);
    if (clock() - saved < CHECKPOINT_EVERY_MS) continue;
    await save(session);
    saved = clock();
  }
  // Adds the last stretch to the timeline, so that the checkpoint has it for a session that resumes.
  sampleTimeline(session, true);
  await save(session);
}

/** Flushes the output, then saves the checkpoint: a checkpoint must never cover bytes that may be lost. */
async function save({input: {checkpoint}, asking: {ledger, store}, output}: Session): Promise<void> {
  const {writer, timeline} = output;
  await store.flush();
  const reached = await writer.flush();
  if (reached === undefined) return;
  const stored = store.stored ?? checkpoint?.stored ?? 0;
  ledger.setMeta('checkpoint', {...reached, timeline: timeline.state, stored} satisfies Checkpoint);
  writer.safeRows = reached.counters.rows.written;
}

/** Stops a run with more errors or rejects than its user allows. */
export function checkLimits({job, stopper, output}: Session): void {
  const {maxErrors, maxRejects} = job.settings;
  const {counters} = output.writer;
  const {written, rejected} = counters.rows;
  // This function runs for each group of rows. So it adds up the cells only if there is a limit.
  if (maxErrors !== undefined) {
    const errors = {count: failures(counters), total: asked(counters)};
    if (exceeds(maxErrors, errors)) stopper.stop(limitStop('max-errors', errors));
  }
  const rejects = {count: rejected, total: written + rejected};
  if (exceeds(maxRejects, rejects)) stopper.stop(limitStop('max-rejects', rejects));
}
