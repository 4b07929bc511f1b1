import {randomUUID} from 'node:crypto';
import {warnOfUnchecked} from '../client/http/certificates.ts';
import {OutputError} from '../errors.ts';
import {openSource, type Source} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import type {AnswerStore} from '../ledger/answers/store.ts';
import {judgeBy} from '../ledger/answers/validity.ts';
import type {Lookups} from '../lookup/lookups.ts';
import {steadyClock} from '../lookup/pace/steady-clock.ts';
import {say, set} from '../sentence.ts';
import {Timeline} from './counts/timeline.ts';
import {completeHistory} from './end/history.ts';
import {answersKey, scopeOf} from './identity.ts';
import {pipesOf, type RunIo} from './io.ts';
import {type Layout, layOut, operationsOf} from './layout/layout.ts';
import {findAccount} from './open/account.ts';
import {openAnswerStore, termsOf} from './open/answer-store.ts';
import {giverBack, openBudgets} from './open/budgets.ts';
import {connectTo} from './open/connection.ts';
import {DEFAULT_CONCURRENCY, lanesOf} from './open/lanes.ts';
import {type Means, type OpenedLookups, openLookups} from './open/open-lookups.ts';
import {restoreCounts} from './open/restore-counts.ts';
import {readFirst} from './rows/first-pass.ts';
import {InOrder} from './rows/in-order.ts';
import {RowWriter} from './rows/row-writer.ts';
import {beginSession, type RunIdentity} from './state/count.ts';
import {openLedger, type RunState} from './state/run-state.ts';
import type {Running, Stopper} from './stop.ts';

interface Input {
  readonly source: Source;
  readonly layout: Layout;
}

interface Asking extends Means, Omit<OpenedLookups, 'lookups'> {
  lookups: Lookups;
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
  /** When this session began to open, in milliseconds since the epoch. */
  readonly begunAt: number;
  /** Start of this session's work, in milliseconds since the epoch, by {@link Running.clock}. */
  readonly startedAt: number;
  /** The input, and the output made of it. A run that reads its input again replaces both. */
  input: Input;
  readonly asking: Asking;
  output: SessionOutput;
  /** Opens the input again at its first row, with an empty output. Known values make no calls. */
  readAgain(): Promise<void>;
}

const COUNTED_NOT =
  'The list comes only once, so it was not counted who shares a mailbox: rules that read shared.… do not hold. To count it, give a file or an array.';

const UNASKED =
  'The service sent an answer without a call, for example the same answer twice. From now on no connection is used twice. Earlier answers are right, unless such an extra answer came while the next call was on its way. Tell the operator of the service.';

/**
 * Opens everything that a run needs, one stage after the other. Nothing is sent before all stages are open.
 *
 * @throws every {@link BulkEnrichError} that keeps a run from starting.
 */
export function openSession(job: Job, io: RunIo, state: RunState, stopper: Stopper): Promise<Session> {
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
    const source = await openSourceOf(job, io, stopper);
    closes(() => source.close());
    const now = io.now();
    const identity = beginSession(ledger, job, now, io.warn, others => completeHistory(others, io));
    const layout = layOut(job, source, identity.startedAt);
    const counted = io.counted?.facts;
    const input = {source, layout: counted?.isCurrent() === true ? {...layout, facts: counted} : layout};
    closes(() => input.layout.facts?.close());
    for (const doubt of [...input.source.notes, ...input.layout.mapping.doubts]) io.warn(doubt);
    await countList(state, job, io, input, stopper);
    const clock = steadyClock(now);
    const running = {job, io, stopper, clock};
    const operations = operationsOf(input.layout.mapping.targets);
    const calling = {connection, account, ledger, lanes: lanesOf(job, operations, account)};
    const judge = judgeBy(termsOf(job), now, identity.startedAt);
    const own = {ledger, stored: ledger.getMeta<number>(STORED) ?? 0};
    const store = openAnswerStore(job, answersKey(job), judge, io, own);
    closes(() => store.close());
    await readyStore(job, store);
    warnOfOtherKey(job, store, io);
    restoreCounts(budgets.shared, job, store, io);
    const writer = await RowWriter.open(state, input.layout, io);
    closes(() => writer.close());
    const means = {...calling, store, judge};
    let output: SessionOutput | undefined;
    const rows = () => (output === undefined ? 0 : rowsOf(output.writer));
    const {lookups, ...asking} = await openLookups(running, means, identity.fleetId, rows);
    stopper.onStop(() => asking.gate.stop());
    const timeline = new Timeline(clock(), {tally: ledger.tally, rows: 0, inFlightMs: 0});
    output = {window: new InOrder(), writer, timeline};
    const session: Session = {
      ...running,
      state,
      identity,
      begunAt: now,
      startedAt: clock(),
      input,
      asking: {...means, ...asking, lookups: lookups()},
      output,
      async readAgain() {
        await closeReading(session);
        ledger.readAgain();
        const again = await openSourceOf(job, io, stopper);
        const layout = layOut(job, again, identity.startedAt);
        session.input = {source: again, layout};
        await countList(state, job, io, session.input, stopper);
        session.asking.lookups = lookups();
        const rewriter = await RowWriter.open(state, layout, io);
        output = {window: new InOrder(), writer: rewriter, timeline};
        session.output = output;
      },
    };
    return session;
  });
}

/** Opens the input at its first row. */
async function openSourceOf(job: Job, io: RunIo, stopper: Stopper): Promise<Source> {
  const {settings, inputs: paths, fromFile} = job;
  return (
    io.program?.source ??
    (await openSource({...settings, paths, decides: !fromFile, ...pipesOf(io, stopper)}))
  );
}

/** Reads the whole list once before the first call, if rules read facts of it. */
async function countList(
  {directory, temporary}: RunState,
  job: Job,
  io: RunIo,
  {source, layout}: Input,
  stopper: Stopper,
): Promise<void> {
  const {facts} = layout;
  if (facts === undefined || facts.isCurrent()) return;
  if (source.isOnce) return io.warn(COUNTED_NOT);
  const list = io.program?.list ?? (await openSourceOf(job, io, stopper));
  facts.directory = temporary === undefined ? directory : undefined;
  const {limit} = job.settings;
  const caller = {...io, isWanted: () => stopper.reason === undefined};
  await readFirst(list, {limit, facts}, caller).finally(() => list.close());
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

/** Number of rows that were written or rejected so far. */
export function rowsOf({counters}: RowWriter): number {
  return counters.rows.written + counters.rows.rejected;
}

export function sampleTimeline(session: Session, isLast = false): void {
  const {clock, output, asking} = session;
  const {timeline, writer} = output;
  const {ledger, gate} = asking;
  const reading = {tally: ledger.tally, rows: rowsOf(writer), inFlightMs: gate.pace().inFlightMs};
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

/** Name under which the ledger keeps the number of its answers that the store has: see {@link keepStored}. */
const STORED = 'stored';

/** Writes waiting answers to the store, and notes in the ledger which of its answers the store has. */
export async function keepStored({asking: {ledger, store}}: Session): Promise<void> {
  await store.flush();
  const {stored} = store;
  if (stored !== undefined && stored > (ledger.getMeta<number>(STORED) ?? 0)) ledger.setMeta(STORED, stored);
}
