import type {Logger} from 'pino';
import type {Batch} from '../input/row.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import type {Question} from '../lookup/answers.ts';
import type {Planned} from '../lookup/plan.ts';
import {asked, failures} from './counters.ts';
import {exceeds} from './exit.ts';
import {alreadyPublished, finish, type RunOutcome} from './finish.ts';
import type {Entry, ReadyEntry} from './in-order.ts';
import {isStale, openSession, type Session, sampleTimeline} from './session.ts';
import {type Checkpoint, closeState, openState, type RunState} from './state.ts';
import {limitStop, Stopper, stopFor} from './stop.ts';

/** Where a run meets the world; a test can put its own in place. */
export interface RunIo {
  readonly env: Env;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** One sentence for a person: something is not as it should be, and the run goes on. */
  readonly warn: (sentence: string) => void;
  /** Told once the run is under way; what it returns is called when it is over. */
  readonly watch?: (session: Session) => () => void;
}

/** Calls in flight get this long when a run stops: less than the 10 s after which containers are killed. */
const GRACE_MS = 5_000;
const CHECKPOINT_EVERY_MS = 1_000;
const SAMPLE_EVERY_MS = 250;
const ADMIT_AT_ONCE = 256;

/**
 * One run, from its inputs to its published output, or to saved state that the same command goes on from.
 *
 * @throws {BulkEnrichError} when it can't start; what ends it later is in the outcome.
 */
export async function run(job: Job, io: RunIo, stopper = new Stopper()): Promise<RunOutcome> {
  const state = openState(job);
  try {
    const published = alreadyPublished(job, state);
    if (published !== undefined) return published;
    for (;;) {
      const outcome = await runSession(job, io, state, stopper);
      if (outcome !== 'stale') return outcome;
    }
  } catch (error) {
    closeState(state, state.created);
    throw error;
  }
}

async function runSession(
  job: Job,
  io: RunIo,
  state: RunState,
  stopper: Stopper,
): Promise<RunOutcome | 'stale'> {
  const session = await openSession(job, io, state, stopper);
  const unwatch = io.watch?.(session);
  const deadline = startDeadline(session);
  const sampling = setInterval(() => sampleTimeline(session), SAMPLE_EVERY_MS);
  let failure: unknown;
  try {
    await Promise.all([read(session), write(session)]);
  } catch (error) {
    failure = error;
    stopper.stop(stopFor(error));
    session.window.abort();
  } finally {
    clearTimeout(deadline);
    clearInterval(sampling);
    sampleTimeline(session, true);
    unwatch?.();
  }
  return finish(session, isStale(failure, job));
}

/** source → plan → answers: rows enter the window in input order, and their questions go to the chain. */
async function read(session: Session): Promise<void> {
  const {source, stopper, window, executor} = session;
  const batches = source.batches();
  while (stopper.reason === undefined) {
    const next = await Promise.race([batches.next(), stopper.stopped]);
    if (next === undefined || next.done === true) break;
    await Promise.race([admitAll(session, next.value), stopper.stopped]);
  }
  if (stopper.reason === undefined) {
    window.end();
    return;
  }
  await executor.drained(GRACE_MS);
  window.abort();
}

/** In small groups, so that no more rows are in memory than wait for an answer. */
async function admitAll(session: Session, {records, position}: Batch): Promise<void> {
  for (let from = 0; from < records.length && session.stopper.reason === undefined; from += ADMIT_AT_ONCE) {
    await admit(session, {records: records.slice(from, from + ADMIT_AT_ONCE), position});
  }
}

async function admit({layout, window, answers}: Session, {records, position}: Batch): Promise<void> {
  await window.room();
  const questions: Question[] = [];
  for (const record of records) {
    const planned: readonly Planned[] = record.type === 'reject' ? [] : layout.mapping.planRow(record);
    const bytes = record.type === 'csv' ? sizeOf(record.fields) : record.raw.length;
    const entry: Entry = {record, results: [], missing: planned.length, bytes, position};
    for (const [index, plan] of planned.entries()) {
      if (plan.status === 'ask')
        questions.push({lookup: plan.lookup, answer: settled => window.complete(entry, index, settled)});
      else window.complete(entry, index, plan);
    }
    window.push(entry);
  }
  await answers.ask(questions);
}

/** A row's text, and what JavaScript keeps beside it. */
function sizeOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + field.length + 32, 64);
}

/** in order → sink → checkpoint: complete rows leave in input order; what is written is marked once it is durable. */
async function write(session: Session): Promise<void> {
  const {window, writer, io} = session;
  let saved = io.now();
  for (let ready = await window.take(); ready !== undefined; ready = await window.take()) {
    await writer.write(ready);
    checkLimits(session, ready);
    if (io.now() - saved < CHECKPOINT_EVERY_MS) continue;
    await save(session);
    saved = io.now();
  }
  await save(session);
}

/** Output first, then the mark: a checkpoint never speaks of bytes that may be lost. */
async function save({writer, ledger, job, io, checkpoint, startedAt, timeline}: Session): Promise<void> {
  const reached = await writer.flush((checkpoint?.activeMs ?? 0) + io.now() - startedAt);
  if (reached === undefined || job.paths.output === undefined) return;
  ledger.setMeta('checkpoint', {...reached, timeline: timeline.state} satisfies Checkpoint);
}

function checkLimits({job, writer, stopper}: Session, ready: readonly ReadyEntry[]): void {
  const {maxErrors, maxRejects} = job.settings;
  const {counters} = writer;
  const {written, rejected} = counters.rows;
  if (exceeds(maxErrors, failures(counters), asked(counters)))
    stopper.stop(limitStop('max-errors', failures(counters)));
  if (exceeds(maxRejects, rejected, written + rejected) && ready.length > 0)
    stopper.stop(limitStop('max-rejects', rejected));
}

function startDeadline({job, stopper}: Session): NodeJS.Timeout | undefined {
  const {maxDuration} = job.settings;
  return maxDuration === undefined
    ? undefined
    : setTimeout(() => stopper.stop(limitStop('max-duration', maxDuration)), maxDuration);
}
