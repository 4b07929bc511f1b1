import {randomUUID} from 'node:crypto';
import {Timeline} from '../books/timeline.ts';
import {warnOfUnchecked} from '../client/http/certificates.ts';
import {OutputError} from '../errors.ts';
import {openSource, type Source} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import {type Layout, layOut, operationsOf} from '../layout/layout.ts';
import {costOf} from '../layout/prices.ts';
import {Answers} from '../lookup/answers.ts';
import {steadyClock} from '../lookup/pace/steady-clock.ts';
import {Rejections} from '../store/rejections.ts';
import type {AnswerStore} from '../store/store.ts';
import {judgeBy} from '../store/validity.ts';
import {openBill} from './end/bills.ts';
import {
  answersKey,
  type Beginning,
  beginningIn,
  endRun,
  foundRun,
  identifyRun,
  type RunIdentity,
  scopeOf,
} from './identity.ts';
import {pipesOf, type RunIo} from './io.ts';
import {findAccount} from './open/account.ts';
import {openAnswerStore, termsOf, warnOfAge} from './open/answer-store.ts';
import {giverBack, openBudgets, warnOfEarlier} from './open/budgets.ts';
import {connectTo} from './open/connection.ts';
import {DEFAULT_CONCURRENCY, lanesOf} from './open/lanes.ts';
import {bookGivenUp, type Means, type OpenedExecutor, openExecutor} from './open/open-executor.ts';
import {InOrder} from './rows/in-order.ts';
import {RowWriter} from './rows/row-writer.ts';
import {type Checkpoint, openLedger, type RunState} from './state/run-state.ts';
import type {Running, Stopper} from './stop.ts';

interface Input {
  readonly source: Source;
  readonly layout: Layout;
  /** The last session's checkpoint, from which this one resumes. */
  readonly checkpoint: Checkpoint | undefined;
}

interface Asking extends Means, OpenedExecutor {
  readonly answers: Answers;
}

interface SessionOutput {
  readonly window: InOrder;
  readonly writer: RowWriter;
  readonly timeline: Timeline;
}

/** A run's open stages. The caller closes them. */
export interface Session extends Running {
  readonly state: RunState;
  readonly identity: RunIdentity;
  /** Start of this session, in milliseconds since the epoch, by {@link Running.clock}. */
  readonly startedAt: number;
  readonly input: Input;
  readonly asking: Asking;
  readonly output: SessionOutput;
}

const UNASKED =
  'The service sent an answer without a call, for example the same answer twice. From now on no connection is used twice. Earlier answers are right, unless such an extra answer came while the next call was on its way. Tell the operator of the service.';

/**
 * Opens everything that a run needs, one stage after the other. Nothing is sent before all stages are open.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export function openSession(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
  asked: Beginning,
): Promise<Session> {
  return closingOnError(async closes => {
    const account = findAccount(scopeOf(job.endpoint, job.settings), io.env);
    warnOfUnchecked(io.env, io.warn);
    const options = {
      timeoutMs: job.settings.timeout,
      maxConnections: job.settings.concurrency ?? DEFAULT_CONCURRENCY,
      onUnasked: warningOfUnasked(io.warn),
    };
    const connection = await connectTo(job.endpoint, options, io.transport);
    closes(() => connection.close());
    const budgets = {shared: openBudgets(account, io, randomUUID()), giveBack: giverBack(io)};
    const ledger = openLedger(state, job, budgets, io.warn);
    closes(() => ledger.abandon());
    const beginning = beginningIn(ledger, asked, io.warn);
    const checkpoint = beginning === 'resume' ? ledger.getMeta<Checkpoint>('checkpoint') : undefined;
    if (checkpoint !== undefined) ledger.forgetRowsAfter(checkpoint.record);
    const pipes = pipesOf(io, stopper);
    const source =
      io.source ?? (await openSource({...job.settings, paths: job.inputs, ...pipes, resume: checkpoint}));
    closes(() => source.close());
    const startedAt = foundRun(ledger, beginning)?.startedAt ?? io.now();
    const layout = layOut(job, source, startedAt);
    for (const doubt of [...source.notes, ...layout.mapping.doubts]) io.warn(doubt);
    const clock = steadyClock(io.now());
    const running = {job, io, stopper, clock};
    const operations = operationsOf(layout.mapping.targets);
    const calling = {connection, account, ledger, lanes: lanesOf(job, operations, account)};
    if (beginning !== 'resume') {
      if (beginning === 'over') endRun(ledger);
      await bookGivenUp(running, calling);
    }
    const identity = identifyRun(ledger, job, layout, beginning, startedAt);
    openBill(ledger, job, identity, account?.price, io);
    warnOfEarlier(ledger.givenUp.earlier, job, io.warn);
    const judge = judgeBy(termsOf(job), identity.startedAt);
    if (checkpoint !== undefined) warnOfAge(job, operations, identity.startedAt, io);
    const own = {ledger, stored: checkpoint?.stored ?? 0};
    const store = openAnswerStore(job, answersKey(job), judge, io, own);
    closes(() => store.close());
    await readyStore(job, store);
    const rejections = new Rejections(store, ledger);
    const writer = await RowWriter.open(state, layout, checkpoint, rejections, io);
    closes(() => writer.close());
    const means = {...calling, store, rejections};
    const asking = await openExecutor(running, means, identity, () => rowsOf(writer));
    stopper.onStop(() => asking.executor.stop());
    const answers = new Answers({...means, executor: asking.executor, costOf: costOf(job), judge});
    const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlightMs: 0};
    const timeline = new Timeline(checkpoint?.timeline, clock(), reading);
    return {
      ...running,
      state,
      identity,
      startedAt: clock(),
      input: {source, layout, checkpoint},
      asking: {...means, ...asking, answers},
      output: {window: new InOrder(), writer, timeline},
    };
  });
}

/** Returns a function that warns the user, the first time it is called, of answers without a call. */
export function warningOfUnasked(warn: (sentence: string) => void): () => void {
  let isTold = false;
  return () => {
    if (!isTold) warn(UNASKED);
    isTold = true;
  };
}

/**
 * Calls `open`, which registers a closing function for each stage that it opens. If `open` fails, closes
 * these stages in reverse order.
 */
async function closingOnError<All>(
  open: (closes: (close: () => unknown) => void) => Promise<All>,
): Promise<All> {
  const closings: (() => unknown)[] = [];
  try {
    return await open(close => closings.unshift(close));
  } catch (error) {
    for (const close of closings) await close();
    throw error;
  }
}

function rowsOf({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

export function sampleTimeline(session: Session, isLast = false): void {
  const {clock, output, asking} = session;
  const {timeline, writer} = output;
  const {ledger, executor} = asking;
  const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlightMs: executor.pace().inFlightMs};
  timeline.sample(clock(), reading, isLast);
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
    `The answer store can't be used (${store.trouble.cause}), and this job requires it (require_store). Nothing was sent. Fix the cause, then run the same command again.`,
  );
}

/** Closes all stages but the ledger and the state, even if some of them fail to close. */
export async function closeStages({input, asking, output}: Session): Promise<void> {
  const {store, closeExecutor, connection} = asking;
  store.close();
  const {source} = input;
  await Promise.allSettled([source.close(), output.writer.close(), closeExecutor(), connection.close()]);
}
