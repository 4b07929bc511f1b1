import type {RecordSource} from '../input/source.ts';
import {warnIfUncheckedTls} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {STORED} from '../ledger/answers/store.ts';
import {Lookups} from '../lookup/lookups.ts';
import {Timeline} from './counts/timeline.ts';
import {completeKilledRuns} from './end/history.ts';
import {type Layout, makeLayout, operationsOfTargets} from './layout/layout.ts';
import {findAccount, openAccountBudget, raiseBudgetCounts, refuseStrangeHost} from './open/account.ts';
import {keepOthersAnswers, openStoreOfRun, readyStore} from './open/answer-store.ts';
import {type LookupResources, openConnectionOfJob, planLanes} from './open/connection.ts';
import {type OpenedLookups, openLookups} from './open/open-lookups.ts';
import {countList, countTurns, openInput} from './rows/first-pass.ts';
import {BESIDE_CALLS, ReorderBuffer} from './rows/reorder-buffer.ts';
import {RowWriter} from './rows/row-writer.ts';
import {answerScope} from './scope.ts';
import {noteEnded, openLedger} from './state/run-directory.ts';
import {beginOrResumeRun, type RunIdentity} from './state/run-identity.ts';
import {describeEndOfCalls, makeDeadlineStop, type RunContext} from './stop.ts';

export interface Session extends RunContext {
  readonly identity: RunIdentity;
  /** When this session began to open, in milliseconds since the epoch. */
  readonly begunAt: number;
  /** Start of this session's work, in milliseconds since the epoch, by {@link RunContext.clock}. */
  readonly startedAt: number;
  /** The input, and the output made of it. A run that reads its input again replaces both. */
  input: {readonly source: RecordSource; readonly layout: Layout};
  readonly output: {window: ReorderBuffer; writer: RowWriter; readonly timeline: Timeline};
  /** The stages of calls, with the lookups of this reading of the input. */
  readonly asking: LookupResources & OpenedLookups & {lookups: Lookups};
}

/**
 * Opens everything that a run needs, one stage after the other. Nothing is sent before all stages are open.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export async function openSession(run: RunContext): Promise<Session> {
  const closings: (() => unknown)[] = [];
  try {
    return await openStages(run, close => closings.unshift(close));
  } catch (error) {
    for (const close of closings) await close();
    throw error;
  }
}

/** `closes`: takes a function for each open stage, which closes it if a later one can't be opened. */
async function openStages(run: RunContext, closes: (close: () => unknown) => void): Promise<Session> {
  const {job, io, state, stopper, clock} = run;
  refuseStrangeHost(job, io.env);
  const account = findAccount(answerScope(job.endpoint, job.settings), io.env, io.warn);
  warnIfUncheckedTls(io.env, io.warn);
  const connection = await openConnectionOfJob(run);
  closes(() => connection.close());
  const budget = openAccountBudget(account, io);
  const ledger = openLedger(state, job, budget, io.warn);
  closes(() => ledger.abandon());
  const source = await openInput(run);
  closes(() => source.close());
  const begunAt = io.now();
  await keepOthersAnswers(run, ledger);
  noteEnded(state, false);
  const identity = beginOrResumeRun(ledger, job, begunAt, io.warn, others => completeKilledRuns(others, io));
  for (const note of source.notes) io.warn(note);
  const input = {source, layout: makeLayout(job, source, identity.startedAt, io.counted?.facts)};
  closes(() => input.layout.facts?.close());
  const {mapping} = input.layout;
  for (const doubt of mapping.doubts) io.warn(doubt);
  const lanes = planLanes(job, operationsOfTargets(mapping.targets), account);
  const {judge, store} = openStoreOfRun(run, ledger, identity, begunAt);
  closes(() => store.close());
  await readyStore(run, store);
  raiseBudgetCounts(budget, job, store, io);
  const turns = await countList(run, input, countTurns(run, mapping, {ledger, store}));
  const writer = await RowWriter.open(state, input.layout, io);
  closes(() => writer.close());
  const resources = {connection, account, ledger, lanes, store, judge, turns};
  const reading = {window: openWindow(job, () => opened.executor.slots), writer};
  const opened = await openLookups(run, resources, identity, () => countFinishedRows(reading.writer));
  const {executor} = opened;
  stopper.onStop(() => executor.stop());
  const startedAt = clock();
  const timeline = new Timeline(startedAt, {tally: ledger.tally, rows: 0, inFlightMs: 0});
  const output = Object.assign(reading, {timeline});
  const asking = {...resources, ...opened, lookups: new Lookups(executor)};
  return {...run, identity, begunAt, startedAt, input, asking, output};
}

/** Opens the input again at its first row, with an empty output. Known values make no calls. */
export async function reopenInput(session: Session): Promise<void> {
  const {state, job, io, identity, asking, output} = session;
  await closeReading(session);
  asking.ledger.restartDistinctCounts();
  const source = await openInput(session);
  session.input = {source, layout: makeLayout(job, source, identity.startedAt)};
  await countList(session, session.input);
  asking.lookups = new Lookups(asking.executor);
  const writer = await RowWriter.open(state, session.input.layout, io);
  Object.assign(output, {writer, window: openWindow(job, () => asking.executor.slots)});
}

/** Rows of a program that keeps no answers are bought as it takes them: what it leaves is lost. */
function openWindow({settings, output, redisUrl}: Job, slots: () => number): ReorderBuffer {
  if (output.kind !== 'rows' || settings.store !== false || redisUrl !== undefined)
    return new ReorderBuffer();
  return new ReorderBuffer(() => slots() + BESIDE_CALLS);
}

export function countFinishedRows({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

export function sampleTimeline(session: Session, isLast = false): void {
  const {clock, output, asking} = session;
  const {timeline, writer} = output;
  const {ledger, executor} = asking;
  const reading = {
    tally: ledger.tally,
    rows: countFinishedRows(writer),
    inFlightMs: executor.pace().inFlightMs,
  };
  timeline.sample(clock(), reading, isLast);
}

/** Closes all stages but the ledger and the state, even if some of them fail to close. */
export async function closeStages(session: Session): Promise<void> {
  const {store, closeDispatcher, connection} = session.asking;
  store.close();
  await Promise.allSettled([closeReading(session), closeDispatcher(), connection.close()]);
}

async function closeReading({input: {source, layout}, output: {writer}}: Session): Promise<void> {
  layout.facts?.close();
  await Promise.allSettled([source.close(), writer.close()]);
}

/** Writes waiting answers to the store, and notes in the ledger which of its answers the store has. */
export async function flushAnswersToStore({asking: {ledger, store}}: Session): Promise<void> {
  await store.flush();
  const {stored} = store;
  if (stored !== undefined && stored > (ledger.getMeta<number>(STORED) ?? 0)) ledger.setMeta(STORED, stored);
}

/** Milliseconds that calls in flight get when a run ends. Container platforms kill a process after 10 s. */
export const CALL_GRACE_MS = 5_000;

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Stops the run at the job's time limit. If the job publishes its output at that limit, ends only the calls: the
 * run then writes its rows. Returns a function that cancels the timer.
 */
export function startDeadline(session: Session): () => void {
  const {job, clock, stopper} = session;
  const {untilMs} = job;
  if (untilMs === undefined) return () => {};
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = untilMs - clock();
    if (left > 0) timer = setTimeout(look, Math.min(left, LONGEST_TIMER_MS));
    else if (job.settings.publishOn.includes('deadline')) timer = closeCalls(session);
    else stopper.stop(makeDeadlineStop(job));
  };
  look();
  return () => clearTimeout(timer);
}

/** Sends no more calls. After {@link CALL_GRACE_MS}, gives up calls in flight as maybe charged. Returns the timer. */
function closeCalls({job, io, asking: {executor, connection}}: Session): NodeJS.Timeout {
  io.warn(describeEndOfCalls(makeDeadlineStop(job)));
  executor.close('deadline');
  return setTimeout(() => connection.client.close(), CALL_GRACE_MS);
}
