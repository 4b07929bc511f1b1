import {OutputError} from '../errors.ts';
import {openSource, type Source} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {AnswerStore} from '../ledger/store.ts';
import {Answers} from '../lookup/answers.ts';
import type {Executor} from '../lookup/executor.ts';
import {steadyClock} from '../lookup/pace/steady-clock.ts';
import {Timeline} from './books/timeline.ts';
import {type Beginning, identifyRun, type RunIdentity, scopeOf} from './identity.ts';
import type {RunIo} from './io.ts';
import {type Layout, layOut} from './layout/layout.ts';
import {costOf} from './layout/mapping.ts';
import {notBefore, openAnswerStore} from './open/answer-store.ts';
import {openDailyBudget, warnOfEarlier} from './open/budgets.ts';
import {type Connection, connectTo} from './open/connection.ts';
import {DEFAULT_CONCURRENCY} from './open/lanes.ts';
import {openExecutor} from './open/open-executor.ts';
import {type Checkpoint, openLedger, type RunState} from './open/run-state.ts';
import {InOrder} from './rows/in-order.ts';
import {RowWriter} from './rows/row-writer.ts';
import type {Stopper} from './stop.ts';

/** A run's stages, opened; closing them is the caller's. */
export interface Session {
  readonly job: Job;
  readonly io: RunIo;
  readonly state: RunState;
  readonly connection: Connection;
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  readonly source: Source;
  readonly layout: Layout;
  readonly identity: RunIdentity;
  readonly checkpoint: Checkpoint | undefined;
  readonly executor: Executor;
  readonly closeExecutor: () => Promise<void>;
  readonly answers: Answers;
  readonly window: InOrder;
  readonly writer: RowWriter;
  readonly stopper: Stopper;
  readonly timeline: Timeline;
  /** Milliseconds since the epoch that never jump: for every length of time. */
  readonly clock: () => number;
  /** By that clock. */
  readonly startedAt: number;
}

/** What gathers behind one slow value, before reading stops. */
const WINDOW_BYTES = 64 * 1_048_576;

/**
 * Opens everything that a run needs, in the order in which it can fail: nothing is sent before all of it stands.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export async function openSession(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
  beginning: Beginning,
): Promise<Session> {
  const connection = await connectTo(job.endpoint, {
    timeoutMs: job.settings.timeout,
    maxConnections: job.settings.concurrency ?? DEFAULT_CONCURRENCY,
  });
  let ledger: Ledger | undefined;
  try {
    ledger = openLedger(state, job, {now: io.now, daily: openDailyBudget(job, io)}, io.warn);
    const input = await openInput(job, io, ledger, beginning);
    try {
      return await openStages(job, io, state, stopper, connection, ledger, input);
    } catch (error) {
      await input.source.close();
      throw error;
    }
  } catch (error) {
    ledger?.abandon();
    await connection.close();
    throw error;
  }
}

interface OpenedInput {
  readonly source: Source;
  readonly layout: Layout;
  readonly identity: RunIdentity;
  readonly checkpoint: Checkpoint | undefined;
}

/** Opens the input where the last session got to, or from its start. */
async function openInput(job: Job, io: RunIo, ledger: Ledger, beginning: Beginning): Promise<OpenedInput> {
  const checkpoint = beginning === 'over' ? undefined : ledger.getMeta<Checkpoint>('checkpoint');
  const source = await openSource(sourceSettings(job, io, checkpoint));
  try {
    const layout = layOut(job, source);
    for (const doubt of layout.mapping.doubts) io.warn(doubt);
    const identity = identifyRun(ledger, job, layout, beginning, io.now());
    warnOfEarlier(ledger.earlier, job, io.warn);
    return {source, layout, identity, checkpoint};
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** How the job's input is read. */
export function sourceSettings(
  {settings, inputs}: Job,
  {stdin}: Pick<RunIo, 'stdin'>,
  resume: Checkpoint | undefined,
) {
  return {
    paths: inputs,
    inputFormat: settings.inputFormat,
    delimiter: settings.delimiter,
    noHeader: !settings.header,
    encoding: settings.encoding,
    maxRecordBytes: settings.maxRecordSize,
    stdin,
    resume,
  };
}

async function openStages(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
  connection: Connection,
  ledger: Ledger,
  input: OpenedInput,
): Promise<Session> {
  const {layout, identity, checkpoint, source} = input;
  const fresh = notBefore(job, identity.startedAt);
  const clock = steadyClock(io.now());
  const writer = await RowWriter.open(job, state, layout, checkpoint, io.stdout);
  const store = openAnswerStore(job, scopeOf(job), fresh, io, {
    answersSince: since => ledger.answersSince(since),
    // A killed session may have paid for answers that it had not yet put into the store.
    missedSince: checkpoint?.storedUntil ?? 0,
  });
  const {executor, closeExecutor} = await readyStore(job, store)
    .then(() =>
      openExecutor({
        job,
        io,
        clock,
        connection,
        ledger,
        store,
        layout,
        identity,
        stopper,
        counters: writer.counters,
        answers: () => answers,
      }),
    )
    .catch(async error => {
      store.close();
      await writer.close();
      throw error;
    });
  const answers = new Answers({ledger, store, executor, costOf: costOf(job), notBefore: fresh});
  stopper.onStop(() => executor.stop());
  return {
    job,
    io,
    state,
    connection,
    ledger,
    store,
    source,
    layout,
    identity,
    checkpoint,
    executor,
    closeExecutor,
    answers,
    window: new InOrder(WINDOW_BYTES),
    writer,
    stopper,
    timeline: new Timeline(checkpoint?.timeline, clock(), {
      tally: ledger.tally,
      rows: rowsOf(writer),
      inFlight: 0,
    }),
    clock,
    startedAt: clock(),
  };
}

function rowsOf({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

/** How it stands now goes into the timeline. */
export function sampleTimeline(session: Session, isLast = false): void {
  const {timeline, executor, ledger, writer, clock} = session;
  const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlight: executor.pace().inFlight};
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
export async function closeStages({
  source,
  store,
  writer,
  closeExecutor,
  connection,
}: Session): Promise<void> {
  store.close();
  await Promise.allSettled([source.close(), writer.close(), closeExecutor(), connection.close()]);
}
