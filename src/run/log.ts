import {type EventLog, logEvent} from '../job/log-events.ts';
import {totalOverOperations} from '../ledger/run/tally.ts';
import {say, setting} from '../sentence.ts';
import type {RunOutcome} from './exit.ts';
import type {ReadyRecord} from './rows/reorder-buffer.ts';
import type {Session} from './session.ts';

/** A run's log. It names rows by their numbers, and never contains a value or the API key. */

export function logStart({io, job, identity, input, asking}: Session): void {
  const {layout} = input;
  logEvent(
    io.log,
    'run_started',
    {
      run_id: identity.runId,
      inputs: job.inputs,
      output: job.output.name,
      endpoint: job.endpoint.kind,
      base_url: asking.connection.client.baseUrl,
      columns: layout.mapping.targets.map(({operation, column}) => ({operation, column})),
      is_resumed: asking.ledger.isResumed,
    },
    'run starts',
  );
}

export function logStop({io, stopper}: Session): void {
  stopper.onStop(() => {
    const stop = stopper.reason;
    logEvent(io.log, 'run_stopping', {reason: stop?.reason, exit_code: stop?.exitCode}, 'run stops');
  });
}

export function logEnd(log: EventLog, {summary, exitCode}: RunOutcome<unknown>): void {
  logEvent(
    log,
    'run_ended',
    {
      run_id: summary.run_id,
      exit_code: exitCode,
      status: summary.status,
      reason: summary.reason,
      rows: summary.rows,
      calls: summary.calls.total,
      retries: summary.calls.retries,
      credits: summary.credits.spent,
      maybe_spent: summary.credits.maybe_spent,
      ms: summary.duration_ms,
    },
    'run ended',
  );
}

/**
 * Returns a function to be called regularly. It logs when the run begins to wait (as in an outage) and resumes. It
 * warns of the first outage: a run waits for the service up to max_outage, and would seem to hang.
 */
export function createPauseLogger({io, job, clock, asking: {executor, ledger}}: Session): () => void {
  let since: number | undefined;
  let isWarned = false;
  return () => {
    const {pause} = executor.pace();
    if (pause !== undefined && since === undefined) {
      since = clock();
      logEvent(
        io.log,
        'run_waiting',
        {reason: pause.reason, detail: pause.detail, until: new Date(pause.untilMs).toISOString()},
        'run waits',
      );
      if (pause.reason !== 'outage' || isWarned) return;
      isWarned = true;
      const isNew = totalOverOperations(ledger.tally, 'calls') === 0;
      const doctor = isNew ? ' If the address may be wrong, stop it and run bulk-enrich doctor.' : '';
      const until = new Date(since + job.settings.maxOutage).toISOString();
      io.warn(
        say`${whoIsAway(pause.detail)} can't be used (${pause.detail}). The run tries again by itself, until ${until} at most (${setting('maxOutage')}).${doctor}`,
      );
    } else if (pause === undefined && since !== undefined) {
      logEvent(io.log, 'run_resumed', {ms: Math.round(clock() - since)}, 'run resumes');
      since = undefined;
    }
  };
}

/** The party that an outage of this cause is the fault of. */
function whoIsAway(cause: string): string {
  if (cause === 'emfile') return 'This process has too many open files (ulimit -Hn), so the service';
  return cause.startsWith('proxy_') ? 'The proxy (HTTPS_PROXY)' : 'The service';
}

/** Logs rows that could not be read, and lookups without an answer. */
export function logRowFailures({io, input: {layout}}: Session, entries: readonly ReadyRecord[]): void {
  if (!io.log.isLevelEnabled('debug')) return;
  for (const {record, results} of entries) {
    const row = record.record;
    if (record.type === 'reject')
      logEvent(io.log, 'row_rejected', {row, line: record.line, reason: record.reason}, 'row rejected');
    for (const [index, result] of results.entries()) {
      if (result?.status !== 'failed' && result?.status !== 'unknown') continue;
      const column = layout.mapping.targets[index]?.column;
      const fields = {row, column, status: result.status, code: result.error};
      logEvent(io.log, 'lookup_unanswered', fields, 'lookup without an answer');
    }
  }
}
