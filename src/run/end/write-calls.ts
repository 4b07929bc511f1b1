import {createHmac, randomUUID} from 'node:crypto';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {inCredits} from '../../job/money.ts';
import type {CallRecord} from '../../ledger/call-records.ts';
import type {Ledger} from '../../ledger/ledger.ts';
import {KEY_LENGTH} from '../../ledger/lookup.ts';
import {operationNames} from '../../operations/table.ts';
import {writeWhole} from '../../output/whole-file.ts';
import type {RunIdentity} from '../identity.ts';

const KEY = 'calls_key';

/**
 * Creates the secret key that hashes this run's values. A key from the user takes precedence. The created key is
 * deleted with the run's state, so hashes of two runs never match.
 */
export function prepareCalls(job: Job, ledger: Ledger): void {
  if (job.settings.calls !== undefined && ledger.getMeta(KEY) === undefined)
    ledger.setMeta(KEY, randomUUID());
}

/**
 * Writes a line for each attempt in the ledger's books, and lines for the spending of sessions that did not record
 * their calls. So the lines add up to the summary's credits after any kill.
 *
 * @throws {OutputError}
 */
export async function writeCalls({settings: {calls}}: Job, ledger: Ledger, env: Env): Promise<void> {
  if (calls === undefined) return;
  const key = env.BULK_ENRICH_CALLS_KEY || ledger.getMeta<string>(KEY) || randomUUID();
  await writeWhole(calls, lines(ledger, key));
}

const AT_ONCE = 200;

function* lines(ledger: Ledger, key: string): Generator<string> {
  const recorded = new Map<string, number>();
  let text = '';
  let count = 0;
  for (const record of ledger.callRecords()) {
    const group = `${record.operation} ${record.charge}`;
    recorded.set(group, (recorded.get(group) ?? 0) + record.cost);
    text += line(lineOf(record, key));
    count += 1;
    if (count % AT_ONCE !== 0) continue;
    yield text;
    text = '';
  }
  yield text;
  const run = ledger.getMeta<RunIdentity>('run')?.runId ?? '';
  for (const operation of operationNames) {
    const {spent, maybeSpent} = ledger.tally.operations[operation];
    for (const [booked, amount] of [
      ['spent', spent],
      ['maybe', maybeSpent],
    ] as const) {
      const rest = amount - (recorded.get(`${operation} ${booked}`) ?? 0);
      if (rest !== 0) yield line({run, operation, outcome: 'not_recorded', booked, credits: inCredits(rest)});
    }
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function lineOf(record: CallRecord, key: string) {
  const {operation, outcome, status, code, charge, cost} = record;
  return {
    sent_at: new Date(record.sentAt).toISOString(),
    ended_at: record.endedAt === null ? null : new Date(record.endedAt).toISOString(),
    run: record.run,
    operation,
    rows: record.rows,
    value: createHmac('sha256', key).update(record.key).digest('base64url').slice(0, KEY_LENGTH),
    attempt: record.nth,
    outcome,
    status,
    code,
    request_id: record.requestId,
    booked: charge,
    credits: charge === 'free' ? 0 : inCredits(cost),
  };
}
