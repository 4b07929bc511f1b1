import {OutputError} from '../errors.ts';
import {openRecordSource, type RecordSource} from '../input/source.ts';
import {warnIfUncheckedTls} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import type {AnswerStore} from '../ledger/answers/store.ts';
import type {ValueTurns} from '../lookup/call.ts';
import {autoConcurrency} from '../lookup/concurrency.ts';
import type {Lookups} from '../lookup/lookups.ts';
import {say, set} from '../sentence.ts';
import {Timeline} from './counts/timeline.ts';
import {completeKilledRuns} from './end/history.ts';
import {scopeKeyOfJob} from './identity.ts';
import {pipeSettings, type RunIo} from './io.ts';
import {type Layout, makeLayout, operationsOfTargets} from './layout/layout.ts';
import {findAccountOfJob, openAccountBudget, raiseBudgetCounts} from './open/account.ts';
import {openAnswerStore} from './open/answer-store.ts';
import {
  createStrayAnswerWarning,
  type LookupResources,
  openConnection,
  planLanes,
} from './open/connection.ts';
import {type OpenedLookups, openLookups} from './open/open-lookups.ts';
import {holdOwnAnswers, judgeOf, keepOthersAnswers, ownAnswers, STORED} from './open/own-answers.ts';
import {countTurns, type TurnCount, takesTurns} from './open/value-turns.ts';
import {readWholeList} from './rows/first-pass.ts';
import {BESIDE_CALLS, ReorderBuffer} from './rows/reorder-buffer.ts';
import {RowWriter} from './rows/row-writer.ts';
import {beginOrResumeRun} from './state/begin-or-resume.ts';
import {noteEnded, openLedger, type RunDirectory} from './state/run-directory.ts';
import type {RunIdentity} from './state/run-identity.ts';
import {describeEndOfCalls, makeDeadlineStop, type RunContext, type Stopper} from './stop.ts';

/** A run's open stages. The caller closes them. */
export interface Session extends RunContext {
  readonly state: RunDirectory;
  readonly identity: RunIdentity;
  /** When this session began to open, in milliseconds since the epoch. */
  readonly begunAt: number;
  /** Start of this session's work, in milliseconds since the epoch, by {@link RunContext.clock}. */
  readonly startedAt: number;
  /** The input, and the output made of it. A run that reads its input again replaces both. */
  input: {readonly source: RecordSource; readonly layout: Layout};
  readonly asking: LookupResources &
    Omit<OpenedLookups, 'lookups'> & {lookups: Lookups; readonly newLookups: () => Lookups};
  output: {readonly window: ReorderBuffer; readonly writer: RowWriter; readonly timeline: Timeline};
}

/**
 * Opens everything that a run needs, one stage after the other. Nothing is sent before all stages are open.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export async function openSession(
  job: Job,
  io: RunIo,
  state: RunDirectory,
  stopper: Stopper,
): Promise<Session> {
  const closings: (() => unknown)[] = [];
  try {
    return await openStages(job, io, state, stopper, close => closings.unshift(close));
  } catch (error) {
    for (const close of closings) await close();
    throw error;
  }
}

/** `closes`: takes a function for each open stage, which closes it if a later one can't be opened. */
async function openStages(
  job: Job,
  io: RunIo,
  state: RunDirectory,
  stopper: Stopper,
  closes: (close: () => unknown) => void,
): Promise<Session> {
  const account = findAccountOfJob(job, io);
  warnIfUncheckedTls(io.env, io.warn);
  const options = {
    timeoutMs: job.settings.timeout,
    maxConnections: job.settings.concurrency ?? autoConcurrency.most,
    onUnasked: createStrayAnswerWarning(io.warn),
  };
  const connection = await openConnection(job.endpoint, options, io.transport);
  closes(() => connection.close());
  const budget = openAccountBudget(account, io);
  const ledger = openLedger(state, job, {account: budget}, io.warn);
  closes(() => ledger.abandon());
  const source = await openSourceOf(job, io, stopper);
  closes(() => source.close());
  const begunAt = io.now();
  await keepOthersAnswers(job, ledger, io);
  noteEnded(state, false);
  const identity = beginOrResumeRun(ledger, job, begunAt, io.warn, others => completeKilledRuns(others, io));
  for (const note of source.notes) io.warn(note);
  const input = {source, layout: makeLayout(job, source, identity.startedAt, io.counted?.facts)};
  closes(() => input.layout.facts?.close());
  for (const doubt of input.layout.mapping.doubts) io.warn(doubt);
  const running = {job, io, stopper, clock: createSteadyClock(begunAt)};
  const lanes = planLanes(job, operationsOfTargets(input.layout.mapping.targets), account);
  const judge = judgeOf(job, io, identity, begunAt);
  holdOwnAnswers(job, io, identity, ledger, judge, begunAt);
  const own = ownAnswers(ledger, takesTurns(job) ? identity.startedAt : undefined);
  const store = openAnswerStore(job, scopeKeyOfJob(job), judge, io, own);
  closes(() => store.close());
  await readyStore(job, store);
  warnOfOtherKey(job, store, io);
  raiseBudgetCounts(budget, job, store, io);
  const turns = await countList(
    state,
    job,
    io,
    input,
    stopper,
    countTurns(job, input.layout.mapping, ledger, store),
  );
  const writer = await RowWriter.open(state, input.layout, io);
  closes(() => writer.close());
  const means = {connection, account, ledger, lanes, store, judge, turns};
  let session: Session | undefined;
  const rows = () => (session === undefined ? 0 : countFinishedRows(session.output.writer));
  const {lookups: newLookups, ...opened} = await openLookups(running, means, identity.fleetId, rows);
  stopper.onStop(() => opened.executor.stop());
  const startedAt = running.clock();
  const timeline = new Timeline(startedAt, {tally: ledger.tally, rows: 0, inFlightMs: 0});
  session = {
    ...running,
    state,
    identity,
    begunAt,
    startedAt,
    input,
    asking: {...means, ...opened, newLookups, lookups: newLookups()},
    output: {window: openWindow(job, opened), writer, timeline},
  };
  return session;
}

/** Opens the input again at its first row, with an empty output. Known values make no calls. */
export async function reopenInput(session: Session): Promise<void> {
  const {state, job, io, stopper, identity, asking, output} = session;
  await closeReading(session);
  asking.ledger.readAgain();
  const source = await openSourceOf(job, io, stopper);
  const layout = makeLayout(job, source, identity.startedAt);
  session.input = {source, layout};
  await countList(state, job, io, session.input, stopper);
  asking.lookups = asking.newLookups();
  const window = openWindow(job, asking);
  session.output = {...output, window, writer: await RowWriter.open(state, layout, io)};
}

/** Rows of a program that keeps no answers are bought as it takes them: what it leaves is lost. */
function openWindow(
  {settings, output, redisUrl}: Job,
  {executor}: Pick<OpenedLookups, 'executor'>,
): ReorderBuffer {
  if (output.kind !== 'rows' || settings.store !== false || redisUrl !== undefined)
    return new ReorderBuffer();
  return new ReorderBuffer(() => executor.slots + BESIDE_CALLS);
}

/** Opens the input at its first row. */
async function openSourceOf(job: Job, io: RunIo, stopper: Stopper): Promise<RecordSource> {
  const {settings, inputs: paths, fromFile} = job;
  return (
    io.program?.source ??
    (await openRecordSource({...settings, paths, decides: !fromFile, ...pipeSettings(io, stopper)}))
  );
}

const COUNTED_NOT =
  'The list comes only once, so it was not counted who shares a mailbox: rules that read shared.… do not hold. To count it, give a file or an array.';

/**
 * Reads the whole list once before the first call, if rules read facts of it, or if only some of its values have their
 * turn (`count`). Returns these.
 */
async function countList(
  {directory, temporary}: RunDirectory,
  job: Job,
  io: RunIo,
  {source, layout: {facts}}: Session['input'],
  stopper: Stopper,
  count?: TurnCount,
): Promise<ValueTurns | undefined> {
  const uncounted = facts?.isCurrent() === false ? facts : undefined;
  if (source.isOnce && uncounted !== undefined) io.warn(COUNTED_NOT);
  if (source.isOnce || (uncounted ?? count) === undefined) return undefined;
  const list = io.program?.list ?? (await openSourceOf(job, io, stopper));
  if (uncounted !== undefined) uncounted.directory = temporary === undefined ? directory : undefined;
  const {limit} = job.settings;
  const caller = {...io, isWanted: () => stopper.reason === undefined};
  try {
    await readWholeList(list, {limit, facts: uncounted}, caller, count?.see);
    return count?.share();
  } finally {
    count?.close();
    await list.close();
  }
}

/** Number of rows that were written or rejected so far. */
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

/** A run without a label of its account uses the answers of all such runs at its endpoint. */
function warnOfOtherKey({endpoint, settings}: Job, store: AnswerStore, io: RunIo): void {
  if (endpoint.kind !== 'live' || endpoint.apiKey === '' || settings.account !== 'default') return;
  if (store.marksOther(endpoint.apiKey))
    io.warn(
      say`The API key is another than that of the last run. Answers that runs with the other key have bought may be used. If the keys are of two accounts, give each its own label (${set('account', 'NAME')}).`,
    );
}

/**
 * Writes to the store the answers that an earlier session could not write.
 *
 * @throws {OutputError} if the store can't be used, and the job requires it.
 */
async function readyStore({settings}: Job, store: AnswerStore): Promise<void> {
  if (!settings.requireStore) {
    await store.flush();
    return;
  }
  await store.ready();
  await store.flush(true);
  if (store.trouble === undefined) return;
  throw new OutputError(
    'store_unusable',
    say`The answer store can't be used (${store.trouble.cause}), and this job requires it (${set('requireStore', true)}). Nothing was sent. Fix the cause, then run the same command again.`,
  );
}

/** Closes all stages but the ledger and the state, even if some of them fail to close. */
export async function closeStages(session: Session): Promise<void> {
  const {store, closeOutlet, connection} = session.asking;
  store.close();
  await Promise.allSettled([closeReading(session), closeOutlet(), connection.close()]);
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

/**
 * Returns a clock in milliseconds since the epoch that starts at `startMs` and never jumps. If the
 * computer's clock is set during a run, the run must neither send too many calls nor stand still.
 */
function createSteadyClock(startMs: number): () => number {
  const origin = startMs - performance.now();
  return () => origin + performance.now();
}

/** Milliseconds that calls in flight get when a run ends. Container platforms kill a process after 10 s. */
export const CALL_GRACE_MS = 5_000;

/** Longest delay of a Node.js timer: about 25 days. */
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
    else if (job.settings.publishOn.includes('deadline')) timer = closeAt(session);
    else stopper.stop(makeDeadlineStop(job));
  };
  look();
  return () => clearTimeout(timer);
}

/** Sends no more calls. After {@link CALL_GRACE_MS}, gives up calls in flight as maybe charged. Returns the timer. */
function closeAt({job, io, asking: {executor, connection}}: Session): NodeJS.Timeout {
  io.warn(describeEndOfCalls(makeDeadlineStop(job)));
  executor.close('deadline');
  return setTimeout(() => connection.client.close(), CALL_GRACE_MS);
}
