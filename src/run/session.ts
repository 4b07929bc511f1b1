import {openSource, type Source} from '../input/source.ts';
import {BulkEnrichError} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import type {Ledger} from '../ledger/ledger.ts';
import {type AnswerStore, noStore} from '../ledger/store.ts';
import {Answers} from '../lookup/answers.ts';
import type {Executor} from '../lookup/executor.ts';
import {DEFAULT_CONCURRENCY, type Layout, layOut, notBefore, openAnswerStore, shapeOf} from './assemble.ts';
import {type Connection, connectTo} from './connect.ts';
import {openExecutor} from './executor.ts';
import {InOrder} from './in-order.ts';
import {costOf} from './mapping.ts';
import {RowWriter} from './row-writer.ts';
import type {RunIo} from './run.ts';
import {openDailyBudget} from './spending.ts';
import {
  beginRun,
  type Checkpoint,
  identifyRun,
  openLedger,
  type RunIdentity,
  type RunState,
  restartsWhenStale,
} from './state.ts';
import type {Stopper} from './stop.ts';
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
  readonly closeExecutor: () => Promise<void>;
  readonly answers: Answers;
  readonly window: InOrder;
  readonly writer: RowWriter;
  readonly stopper: Stopper;
  readonly timeline: Timeline;
  readonly startedAt: number;
}

/** What gathers behind one slow value, before reading stops. */
const WINDOW_BYTES = 64 * 1_048_576;

/** Where a run may go on from its state, or has to start over. */
export type Beginning = 'resume' | 'over';

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
    const input = await openInput(job, io, ledger, connection.scope, beginning);
    try {
      return await join(job, io, state, stopper, connection, ledger, input);
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
async function openInput(
  job: Job,
  io: RunIo,
  ledger: Ledger,
  scope: string,
  beginning: Beginning,
): Promise<OpenedInput> {
  const checkpoint = beginning === 'over' ? undefined : ledger.getMeta<Checkpoint>('checkpoint');
  const source = await openSource(sourceSettings(job, io, checkpoint));
  try {
    const before = beginning === 'over' ? undefined : ledger.getMeta<RunIdentity>('run');
    const startedAt = before?.startedAt ?? io.now();
    const layout = layOut(job, source, startedAt);
    for (const doubt of layout.mapping.doubts) io.warn(doubt);
    const shape = shapeOf(job, layout, scope);
    const identity =
      beginning === 'over' ? beginRun(ledger, shape, startedAt) : identifyRun(ledger, job, shape, startedAt);
    return {source, layout, identity, checkpoint};
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** The codes of errors that say that the saved state is another run's, or is not whole. */
const STALE = new Set(['input_changed', 'settings_changed', 'partial_short']);

/** Whether this error is about saved state that the job says to start over from. */
export function isStale(error: unknown, job: Job): boolean {
  return error instanceof BulkEnrichError && STALE.has(error.code) && restartsWhenStale(job);
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
  keepAnswers(ledger, store, checkpoint);
  const {executor, closeExecutor} = await openExecutor({
    job,
    io,
    connection,
    ledger,
    layout,
    identity,
    stopper,
    counters: writer.counters,
    answers: () => answers,
  }).catch(async error => {
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

/** Answers that a killed session had paid for and not yet put into the store. */
function keepAnswers(ledger: Ledger, store: AnswerStore, checkpoint: Checkpoint | undefined): void {
  if (store === noStore) return;
  for (const answers of ledger.answersSince(checkpoint?.storedUntil ?? 0))
    for (const answer of answers) store.put(answer, answer.data, answer.at);
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
