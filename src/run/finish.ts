import {existsSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {type ExitCode, exitCodes} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import {completedExit} from './exit.ts';
import {costOf} from './mapping.ts';
import {
  completePublishing,
  digestFile,
  type FileDigest,
  type Publication,
  publish,
  writeAtomically,
} from './publish.ts';
import {closeSession, type Session} from './session.ts';
import {closeState, partialPath, type RunState} from './state.ts';
import {type Stop, stopFor} from './stop.ts';
import {buildSummary, type Summary, summaryText} from './summary.ts';

/** How a run ended. */
export interface RunOutcome {
  readonly exitCode: ExitCode;
  /** Undefined where an earlier session had done everything but the last renames. */
  readonly summary: Summary | undefined;
  /** Why it stopped before its end. */
  readonly stop: Stop | undefined;
  /** One sentence for a person. */
  readonly message: string;
}

/** Completes what a crash in the middle of publishing left over: nothing else is to be done then. */
export function alreadyPublished(job: Job, state: RunState): RunOutcome | undefined {
  const record = completePublishing(state.directory);
  if (record === undefined) return undefined;
  closeState(state, true);
  const message = `The last run had ended while it put its ${record.rowsWritten} rows in place; that is done now: ${job.paths.output}`;
  return {exitCode: record.exitCode as ExitCode, summary: undefined, stop: undefined, message};
}

/** Ends the session: publishes what is complete, or saves what the same command goes on from. */
export async function finish(session: Session, stale: boolean): Promise<RunOutcome | 'stale'> {
  const stop = session.stopper.reason;
  if (stop === undefined) {
    try {
      return await complete(session);
    } catch (error) {
      return interrupt(session, stopFor(error));
    }
  }
  if (!stale) return interrupt(session, stop);
  session.ledger.restart();
  session.ledger.close();
  await session.source.close();
  session.store.close();
  await session.writer.close();
  await session.connection.close();
  return 'stale';
}

async function complete(session: Session): Promise<RunOutcome> {
  const {job, writer, state, ledger} = session;
  const {exitCode, reason} = completedExit(writer.counters);
  const {output, rejects} = writer.partial;
  const digest = output === undefined ? undefined : await digestFile(output);
  const summary = summarize(
    session,
    {status: exitCode === 0 ? 'completed' : 'partial', reason, exitCode},
    digest,
  );
  const text = summaryText(summary);
  ledger.close();
  if (output === undefined || job.paths.output === undefined) {
    if (job.paths.summary !== undefined) writeAtomically(job.paths.summary, text);
  } else {
    const files: Publication[] = [];
    if (rejects !== undefined && existsSync(rejects) && job.paths.rejects !== undefined)
      files.push({from: rejects, to: job.paths.rejects});
    if (job.paths.summary !== undefined) {
      const from = partialPath(state, job.paths.summary);
      writeFileSync(from, text, {mode: 0o600});
      files.push({from, to: job.paths.summary});
    }
    files.push({from: output, to: job.paths.output});
    publish(state.directory, {files, exitCode, rowsWritten: writer.counters.rows.written});
  }
  await closeSession(session, true);
  return {exitCode, summary, stop: undefined, message: completedMessage(job, summary)};
}

function completedMessage(job: Job, summary: Summary): string {
  const {written, rejected} = summary.rows;
  const left =
    rejected === 0
      ? ''
      : `, ${rejected} could not be read${job.paths.rejects === undefined ? '' : ` (${job.paths.rejects})`}`;
  return `${written} rows written${job.paths.output === undefined ? '' : ` to ${job.paths.output}`}${left}.`;
}

/** What was saved is safe; the summary says so too, if it can still be written. */
async function interrupt(session: Session, stop: Stop): Promise<RunOutcome> {
  const {job, ledger, io} = session;
  const broken =
    stop.exitCode === exitCodes.output ||
    stop.exitCode === exitCodes.internal ||
    stop.exitCode === exitCodes.state;
  try {
    ledger.close();
  } catch (error) {
    if (!broken) return interrupt(session, stopFor(error));
    ledger.abandon();
  }
  const summary = summarize(session, stop, undefined);
  if (job.paths.summary !== undefined && existsSync(dirname(job.paths.summary))) {
    try {
      writeAtomically(job.paths.summary, summaryText(summary));
    } catch (error) {
      io.warn(stopFor(error).message);
    }
  }
  await closeSession(session, false);
  return {exitCode: stop.exitCode, summary, stop, message: stop.message};
}

function summarize(
  session: Session,
  end: {status: Summary['status']; reason: string; exitCode: number; comeBackMs?: number | undefined},
  output: FileDigest | undefined,
): Summary {
  const {job, identity, source, writer, ledger, executor, checkpoint, connection} = session;
  const cost = costOf(job);
  const {written, rejected} = writer.counters.rows;
  return buildSummary({
    ...end,
    job,
    baseUrl: connection.client.baseUrl,
    runId: identity.runId,
    startedAt: identity.startedAt,
    finishedAt: session.io.now(),
    input: source.position,
    output,
    rowsRead: written + rejected,
    blankLines: source.blankLines,
    counters: writer.counters,
    tally: ledger.tally,
    pace: executor.pace(),
    timeline: session.timeline.state,
    resumed: {times: identity.sessions - 1, fromRow: checkpoint === undefined ? null : checkpoint.record + 1},
    costOf: operation =>
      cost({operation, params: operation === 'verify' ? {action_id: job.endpoint.actionId ?? ''} : {}}),
  });
}
