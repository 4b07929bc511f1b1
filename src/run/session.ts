import {InputError} from '../input/errors.ts';
import {openSource, type Source} from '../input/source.ts';
import {StateError, UsageError} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {AnswerStore} from '../ledger/store.ts';
import {Answers} from '../lookup/answers.ts';
import type {Executor} from '../lookup/executor.ts';
import {LocalExecutor} from '../lookup/local-executor.ts';
import {steadyClock} from '../lookup/steady-clock.ts';
import {type Layout, lanesOf, layOut, notBefore, openAnswerStore, outputExists, shapeOf} from './assemble.ts';
import {type Connection, connectTo} from './connect.ts';
import {InOrder} from './in-order.ts';
import {costOf} from './mapping.ts';
import {RowWriter} from './row-writer.ts';
import type {RunIo} from './run.ts';
import {
  type Checkpoint,
  closeState,
  identifyRun,
  openLedger,
  type RunIdentity,
  type RunState,
  restartsWhenStale,
} from './state.ts';
import {type Stopper, stopOf} from './stop.ts';
import {Timeline} from './timeline.ts';

/** A run's stages, opened and joined; closing them is the caller's. */
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
  readonly answers: Answers;
  readonly window: InOrder;
  readonly writer: RowWriter;
  readonly stopper: Stopper;
  readonly timeline: Timeline;
  readonly startedAt: number;
}

/** What gathers behind one slow value, before reading stops. */
const WINDOW_BYTES = 64 * 1_048_576;

/**
 * Opens everything that a run needs, in the order in which it can fail: nothing is sent before all of it stands.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export async function openSession(job: Job, io: RunIo, state: RunState, stopper: Stopper): Promise<Session> {
  if (outputExists(job) && !job.settings.force) {
    throw new UsageError(
      'output_exists',
      `${job.paths.output} exists. Replace it with --force (what was answered before is not paid for again), or name another output with -o.`,
    );
  }
  const connection = await connectTo(job.endpoint, {
    timeoutMs: job.settings.timeout,
    maxConnections: job.settings.concurrency,
  });
  let ledger: Ledger | undefined;
  try {
    ledger = openLedger(state, job, io.now, io.warn);
    const read = await openInput(job, io, ledger, connection.scope);
    return await join(job, io, state, stopper, connection, ledger, read);
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

/** Opens the input where the last session got to; state that does not fit is an error, or is started over. */
async function openInput(job: Job, io: RunIo, ledger: Ledger, scope: string): Promise<OpenedInput> {
  const checkpoint = job.settings.restart ? undefined : ledger.getMeta<Checkpoint>('checkpoint');
  let source: Source;
  try {
    source = await openSource(sourceSettings(job, io, checkpoint));
  } catch (error) {
    if (!isStale(error, job)) throw error;
    return restart(job, io, ledger, scope, error);
  }
  try {
    const layout = layOut(job, source);
    const identity = identifyRun(ledger, job, shapeOf(job, layout, scope), io.now());
    const restarted = checkpoint !== undefined && ledger.getMeta('checkpoint') === undefined;
    if (!restarted) return {source, layout, identity, checkpoint};
    await source.close();
    return await restart(job, io, ledger, scope, undefined);
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Whether this error says that the input is another than the checkpoint's, and the job starts over then. */
export function isStale(error: unknown, job: Job): boolean {
  return error instanceof InputError && error.code === 'input_changed' && restartsWhenStale(job);
}

async function restart(
  job: Job,
  io: RunIo,
  ledger: Ledger,
  scope: string,
  cause: unknown,
): Promise<OpenedInput> {
  io.warn('The unfinished run does not fit this one; it starts over, keeping every answer already paid for.');
  ledger.restart();
  if (job.inputs.includes('-'))
    throw new StateError(
      'stale_stdin',
      'stdin can not be read a second time. The state is reset: pipe the same bytes again.',
      {cause},
    );
  return openInput(job, io, ledger, scope);
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

async function join(
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
  const writer = await RowWriter.open(job, state, layout, checkpoint, io.stdout);
  const store = openAnswerStore(job, connection.scope, fresh, io);
  const executor = createExecutor(job, io, connection, ledger, layout, stopper, (ask, settled) =>
    answers.settled(ask, settled),
  );
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
    answers,
    window: new InOrder(WINDOW_BYTES),
    writer,
    stopper,
    timeline: new Timeline(checkpoint?.timeline, io.now(), {
      tally: ledger.tally,
      rows: rowsOf(writer),
      inFlight: 0,
    }),
    startedAt: io.now(),
  };
}

function rowsOf({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

/** How it stands now goes into the timeline. */
export function sampleTimeline(session: Session, isLast = false): void {
  const {timeline, executor, ledger, writer, io} = session;
  const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlight: executor.pace().inFlight};
  timeline.sample(io.now(), reading, isLast);
}

function createExecutor(
  job: Job,
  io: RunIo,
  {client}: Connection,
  ledger: Ledger,
  {mapping}: Layout,
  stopper: Stopper,
  settled: Answers['settled'],
): Executor {
  const {settings} = job;
  const operations = [...new Set(mapping.targets.map(target => target.operation))];
  return new LocalExecutor({
    client,
    ledger,
    lanes: lanesOf(job, operations),
    policy: settings,
    maxOutageMs: settings.maxOutage,
    onBudget: settings.onBudget,
    events: {settled, stopped: reason => stopper.stop(stopOf(reason))},
    now: steadyClock(io.now()),
    random: io.random,
  });
}

/** Closes all stages; the state goes when the run is finished. */
export async function closeSession(session: Session, finished: boolean): Promise<void> {
  await session.source.close();
  session.store.close();
  await session.writer.close();
  await session.connection.close();
  closeState(session.state, finished);
}
