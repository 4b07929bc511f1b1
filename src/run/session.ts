import {randomUUID} from 'node:crypto';
import {warnOfUnchecked} from '../client/http/certificates.ts';
import {OutputError} from '../errors.ts';
import {openSource, type Source} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import {Rejections} from '../ledger/store/rejections.ts';
import type {AnswerStore} from '../ledger/store/store.ts';
import {judgeBy} from '../ledger/store/validity.ts';
import {Answers} from '../lookup/answers.ts';
import {steadyClock} from '../lookup/pace/steady-clock.ts';
import {Timeline} from './books/timeline.ts';
import {openBill} from './end/bills.ts';
import {prepareCalls} from './end/write-calls.ts';
import {type Beginning, beginningIn, endRun, firstStart, identifyRun, scopeOf} from './identity.ts';
import {pipesOf, type RunIo} from './io.ts';
import {layOut} from './layout/layout.ts';
import {costOf} from './layout/prices.ts';
import {findAccount} from './open/account.ts';
import {openAnswerStore, termsOf} from './open/answer-store.ts';
import {giverBack, openBudgets, warnOfEarlier} from './open/budgets.ts';
import {connectTo} from './open/connection.ts';
import {DEFAULT_CONCURRENCY} from './open/lanes.ts';
import {bookGivenUp, type ExecutorFor, type OpenedExecutor, openExecutor} from './open/open-executor.ts';
import {InOrder} from './rows/in-order.ts';
import {RowWriter} from './rows/row-writer.ts';
import {type Checkpoint, openLedger, type RunState} from './state/run-state.ts';
import type {Stopper} from './stop.ts';

/** A run's stages, opened and joined; closing them is the caller's. Its clock is for every length of time. */
export interface Session extends Omit<ExecutorFor, 'counters'>, OpenedExecutor {
  readonly state: RunState;
  readonly source: Source;
  readonly checkpoint: Checkpoint | undefined;
  readonly answers: Answers;
  readonly window: InOrder;
  readonly writer: RowWriter;
  readonly timeline: Timeline;
  /** By its clock. */
  readonly startedAt: number;
}

const UNASKED =
  'The service sent an answer that no call was waiting for, such as one answer twice. Answers so far belong to their own values, unless an extra one came later than a connection rests (100 ms, or as long as three calls take). From here on no connection is used twice. Tell the operator of the service.';

/** What gathers behind one slow value, before reading stops. */
export const WINDOW_BYTES = 64 * 1_048_576;

/**
 * Opens everything that a run needs, in the order in which it can fail: nothing is sent before all of it stands.
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
  return inTurn(async opened => {
    const account = findAccount(job, io.env, io.warn);
    warnOfUnchecked(io.env, io.warn);
    const connection = opened(
      await connectTo(
        job.endpoint,
        {
          timeoutMs: job.settings.timeout,
          maxConnections: job.settings.concurrency ?? DEFAULT_CONCURRENCY,
          unasked: warningOfUnasked(io.warn),
        },
        io.transport,
      ),
      stage => stage.close(),
    );
    const ledger = opened(
      openLedger(
        state,
        job,
        {shared: openBudgets(account, io, randomUUID()), giveBack: giverBack(io)},
        io.warn,
      ),
      stage => stage.abandon(),
    );
    const beginning = beginningIn(ledger, asked, io.warn);
    const checkpoint = beginning === 'resume' ? ledger.getMeta<Checkpoint>('checkpoint') : undefined;
    const source = opened(
      io.source ??
        (await openSource({
          ...job.settings,
          paths: job.inputs,
          ...pipesOf(io, stopper),
          resume: checkpoint,
        })),
      stage => stage.close(),
    );
    const startedAt = firstStart(ledger, beginning, io.now());
    const layout = layOut(job, source, startedAt);
    for (const doubt of [...source.notes, ...layout.mapping.doubts]) io.warn(doubt);
    const clock = steadyClock(io.now());
    if (beginning !== 'resume') {
      if (beginning === 'over') endRun(ledger);
      await bookGivenUp({job, io, connection, account, ledger, layout, stopper, clock});
    }
    const identity = identifyRun(ledger, job, layout, beginning, startedAt);
    openBill(ledger, job, identity, account?.price, io);
    prepareCalls(job, ledger);
    warnOfEarlier(ledger.earlier, job, io.warn);
    const judge = judgeBy(termsOf(job), identity.startedAt);
    const writer = opened(await RowWriter.open(state, layout, checkpoint, io.stdout), stage => stage.close());
    const store = opened(
      openAnswerStore(job, scopeOf(job), judge, io, {ledger, stored: checkpoint?.stored ?? 0}),
      stage => stage.close(),
    );
    await readyStore(job, store);
    const standing = {
      job,
      io,
      state,
      stopper,
      clock,
      account,
      connection,
      ledger,
      store,
      rejections: new Rejections(store, ledger),
      source,
      layout,
      identity,
    };
    const asking = await openExecutor({...standing, counters: writer.counters});
    stopper.onStop(() => asking.executor.stop());
    const answers = new Answers({...standing, executor: asking.executor, costOf: costOf(job), judge});
    const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlightMs: 0};
    const timeline = new Timeline(checkpoint?.timeline, clock(), reading);
    const window = new InOrder(WINDOW_BYTES);
    return {...standing, ...asking, answers, checkpoint, window, writer, timeline, startedAt: clock()};
  });
}

/** For all clients of a service: a warning where it sends an answer that nobody had asked for. */
export function warningOfUnasked(warn: (sentence: string) => void): AbortController {
  const unasked = new AbortController();
  unasked.signal.onabort = () => warn(UNASKED);
  return unasked;
}

/** Opens one stage after the other; where one can't be opened, those that stand are closed, the last one first. */
async function inTurn<All>(
  open: (opened: <Stage>(stage: Stage, close: (stage: Stage) => unknown) => Stage) => Promise<All>,
): Promise<All> {
  const closings: (() => unknown)[] = [];
  try {
    return await open((stage, close) => {
      closings.unshift(() => close(stage));
      return stage;
    });
  } catch (error) {
    for (const close of closings) await close();
    throw error;
  }
}

function rowsOf({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

/** How it stands now goes into the timeline. */
export function sampleTimeline(session: Session, isLast = false): void {
  const {timeline, executor, ledger, writer, clock} = session;
  const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlightMs: executor.pace().inFlightMs};
  timeline.sample(clock(), reading, isLast);
}

/**
 * Has the store take what an earlier session could not give it any more.
 *
 * @throws {OutputError} when the store can't be used, and the job requires it.
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
    `The answer store can't be used (${store.trouble.cause}), and this job requires it (require_store). Nothing was sent. Free the cause, then run the same command again.`,
  );
}

/** Closes all stages but the ledger and the state, whatever each of them has against it. */
export async function closeStages(session: Session): Promise<void> {
  const {source, store, writer, closeExecutor, connection} = session;
  store.close();
  await Promise.allSettled([source.close(), writer.close(), closeExecutor(), connection.close()]);
}
