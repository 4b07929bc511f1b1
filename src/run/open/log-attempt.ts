import {codeOf} from '../../client/attempt.ts';
import {inCredits} from '../../job/money.ts';
import {type EventLog, logEvent} from '../../job/monitoring/log-events.ts';
import type {BookedAttempt} from '../../ledger/run/entry.ts';

/** Logs one attempt: what it brought, and what it cost. `rows`: numbers of the rows that wait for it. */
export function logAttempt(log: EventLog, booked: BookedAttempt, row: number | undefined): void {
  if (!log.isLevelEnabled('debug')) return;
  const {operation, attempt, charge, cost} = booked;
  const fields = {
    row,
    operation,
    outcome: attempt.kind,
    status: 'status' in attempt ? attempt.status : undefined,
    code: codeOf(attempt),
    booked: charge,
    credits: charge === 'free' ? 0 : inCredits(cost),
    ms: Math.round(attempt.latencyMs),
    request_id: 'pace' in attempt ? attempt.pace?.requestId : undefined,
  };
  logEvent(log, 'call', fields, 'call');
}
