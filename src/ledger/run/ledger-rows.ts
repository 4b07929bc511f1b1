import {IN_LIST_SQL, type Sqlite, type SqlRow, type SqlValue, toListParameter} from '../../disk/sqlite.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import type {Answer, Outcome} from '../lookup-outcome.ts';
import {
  dispatchNumber,
  type KeyedAnswer,
  type LedgerEntry,
  leaseOfDispatchNumber,
  markInterrupted,
  newEntry,
  noAttempts,
  type Reservation,
} from './ledger-entry.ts';
import {fromChecksummedJson, ROWS_AT_ONCE, readMeta, toChecksummedJson, writeMeta} from './ledger-file.ts';
import {countInterruptedCalls, type RunCounts, zeroRunCounts} from './tally.ts';

/** State of a value that waits for its first or next call. Others: outcomes. */
const WAITING = 0;
const stateOf = {ok: 2, failed: 3, unknown: 4, once: 5, twice: 6} as const;
const IS_ANSWERED = `state IN (${stateOf.ok}, ${stateOf.unknown}) AND nth > 0`;
const IS_UNJUDGED = `state = ${stateOf.once} AND nth = 0`;

/** Maximum keys per statement: memory holds all rows that a statement finds, as one JSON text. */
const FIND_AT_ONCE = 64;

/** Columns of a value's row that change, in the order of {@link columnsOf}. */
const WRITTEN = 'state sent interrupted carried_out doubts error data bought_at nth'.split(' ');
const READ = ['id', 'key', 'operation', ...WRITTEN];

/** The calls of a lease as they are saved: each with its key, operation, cost, dispatch, and if it renews an answer. */
export function leaseText(calls: readonly Reservation[]): string {
  return toChecksummedJson(
    calls.map(({key, operation, cost, dispatch, renews}) => [key, operation, cost, dispatch, renews]),
  );
}

function leasedCalls(text: unknown): readonly Omit<Reservation, 'entry'>[] {
  const saved = fromChecksummedJson<readonly [string, Operation, number, number, boolean | null][]>(text);
  return saved.map(([key, operation, cost, dispatch, renews]) => ({
    ...{key, operation, cost, dispatch},
    renews: renews === true,
  }));
}

export function readEntry(row: SqlRow): LedgerEntry {
  return {
    operation: row.operation as Operation,
    key: String(row.key),
    history: {
      mayBeCarriedOut: Number(row.carried_out) > 0,
      doubts: Number(row.doubts),
      kills: Math.max(0, Number(row.carried_out) - 1),
      lastCode: row.error === null ? noAttempts.lastCode : String(row.error),
    },
    outcome: outcomeOf(row),
    interrupted: row.interrupted === null ? undefined : Number(row.interrupted),
    sent: Number(row.sent),
    nth: row.nth === null ? null : Number(row.nth),
    isUsed: false,
    id: Number(row.id),
  };
}

function outcomeOf(row: SqlRow): Outcome | undefined {
  const error = String(row.error);
  const boughtAt = Number(row.bought_at);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data), ...(row.bought_at !== null && {boughtAt})};
    case stateOf.failed:
      return {status: 'failed', error, ...(row.bought_at !== null && {said: 'service'})};
    case stateOf.unknown:
      if (row.data === null) return {status: 'unknown', error};
      return {status: 'unknown', error, data: String(row.data), boughtAt};
    case stateOf.once:
      return {status: 'failed', error, rejected: 'once', boughtAt};
    case stateOf.twice:
      return {status: 'failed', error, rejected: 'twice', boughtAt};
    default:
      return undefined;
  }
}

/** The columns {@link WRITTEN} of an entry. A waiting value has its last error code in `error`. */
function columnsOf({history, outcome, interrupted, sent, nth}: LedgerEntry): SqlValue[] {
  const {mayBeCarriedOut, doubts, kills, lastCode} = history;
  const attempts = [sent, interrupted ?? null, mayBeCarriedOut ? 1 + kills : 0, doubts];
  if (outcome === undefined) return [WAITING, ...attempts, lastCode, null, null, nth];
  return [
    stateOf[outcome.rejected ?? outcome.status],
    ...attempts,
    'error' in outcome ? outcome.error : null,
    'data' in outcome ? (outcome.data ?? null) : null,
    // A failure is not bought: here, its column says that the code is the service's.
    outcome.boughtAt ?? ('said' in outcome ? 0 : null),
    nth,
  ];
}

/** Number of known answers that one statement writes. This is a fifth faster than one answer per statement. */
const ANSWERS_AT_ONCE = 64;

function put(rows: string): string {
  const changes = WRITTEN.map(column => `${column} = excluded.${column}`).join(', ');
  return `INSERT INTO value (key, scope, operation, ${WRITTEN.join(', ')}) VALUES ${rows} ON CONFLICT (key, scope) DO UPDATE SET ${changes}`;
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

export function ledgerStatements(db: Sqlite) {
  // Binding parameters takes time, so columns that all answers from the store share are part of the statement.
  const knownAnswer = `(?, 0, ?, ${stateOf.ok}, 0, NULL, 0, 0, NULL, ?, ?, NULL)`;
  return {
    find: db.query(READ, `FROM value WHERE key ${IN_LIST_SQL}`),
    put: db.prepare(put(`(?, 0, ?, ${WRITTEN.map(() => '?').join(', ')})`)),
    putAnswers: db.prepare(put(Array(ANSWERS_AT_ONCE).fill(knownAnswer).join(', '))),
    lease: db.prepare('INSERT INTO lease (id, scope, calls) VALUES (?, 0, ?)'),
    endLeases: db.prepare('DELETE FROM lease WHERE id < ?'),
    count: db.prepare('UPDATE scope SET counts = ?'),
    rejectedCalls: db.query(['id', 'sent'], `FROM value WHERE ${IS_UNJUDGED} ORDER BY sent`),
    // An answer with a later attempt without an answer has the place of that attempt.
    answeredCalls: db.query(
      ['max(sent) AS sent'],
      `FROM value WHERE ${IS_ANSWERED} AND doubts = 0 AND carried_out < 2 GROUP BY sent / ${dispatchNumber(1, 0)} ORDER BY sent`,
    ),
    unjudged: db.query(READ, `FROM value WHERE ${IS_UNJUDGED} ORDER BY id LIMIT ${ROWS_AT_ONCE}`),
    answered: db.query(
      READ,
      `FROM value WHERE id > ? AND state IN (${stateOf.ok}, ${stateOf.unknown}, ${stateOf.once}, ${stateOf.twice}) AND nth > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
  };
}

/**
 * Begins a session at an endpoint and account (`key`). Returns what the file tells, and the number of calls that were in
 * flight when the last session ended.
 */
export function beginLedgerSession(db: Sqlite, key: string) {
  return db.transaction(() => {
    const owner = keepOneOwner(db, key);
    const sql = ledgerStatements(db);
    const {interrupted, counts} = recoverLeases(db, sql);
    const last =
      db.query(['max(id) AS id', 'max(nth) AS nth', 'max(sent) AS sent'], 'FROM value').get() ?? {};
    return {
      ...{owner, interrupted, counts, sql},
      lastId: Number(last.id),
      bought: Number(last.nth),
      lastLease: leaseOfDispatchNumber(Number(last.sent)),
    };
  });
}

/**
 * Returns the ledger's endpoint and account; a new ledger becomes that of `key`. The first programs kept several in one
 * ledger, each with a run of its own: keeps that of `key`, or the last one.
 */
function keepOneOwner(db: Sqlite, key: string): string {
  const owners = db.query(['id', 'key'], 'FROM scope ORDER BY id').all();
  const kept = owners.find(owner => owner.key === key) ?? owners.at(-1);
  if (kept === undefined) {
    db.prepare('INSERT INTO scope VALUES (0, ?, ?)').run(key, countsText(zeroRunCounts()));
    return key;
  }
  const id = Number(kept.id);
  if (owners.length > 1 || id !== 0) {
    for (const table of ['value', 'lease'])
      db.exec(`DELETE FROM ${table} WHERE scope <> ${id}; UPDATE ${table} SET scope = 0`);
    db.exec(`DELETE FROM scope WHERE id <> ${id}; UPDATE scope SET id = 0`);
    const run = readMeta<{readonly runId: string}>(db, 'run');
    const own = run && {...run, runId: id === 0 ? run.runId : `${run.runId}-${id}`};
    if (own !== undefined) writeMeta(db, 'run', toChecksummedJson(own));
  }
  return String(kept.key);
}

/** Counts as they are saved, which is at each turn: only operations with calls or refusals. */
export function countsText({spending, refusals, ...others}: RunCounts): string {
  const saved: Omit<RunCounts, 'spending' | 'refusals'> & {
    spending: Partial<RunCounts['spending']>;
    refusals: Partial<RunCounts['refusals']>;
  } = {spending: {}, refusals: {}, ...others};
  for (const name of operationNames) {
    const {calls, spent, maybeSpent} = spending[name];
    if (calls !== 0 || spent !== 0 || maybeSpent !== 0) saved.spending[name] = spending[name];
    if (refusals[name].refused.count + refusals[name].longestStreak > 0)
      saved.refusals[name] = refusals[name];
  }
  return toChecksummedJson(saved);
}

function readRunCounts(db: Sqlite): RunCounts {
  const zero = zeroRunCounts();
  const {counts} = db.query(['counts'], 'FROM scope').get() ?? {};
  const {spending, renewed, refusals, attempts, expired = 0} = fromChecksummedJson<RunCounts>(counts);
  return {
    spending: {...zero.spending, ...spending},
    ...{renewed, expired},
    refusals: {...zero.refusals, ...refusals},
    // The first programs saved none.
    attempts: {...zero.attempts, ...attempts},
  };
}

/**
 * Books calls as maybe charged that were in flight when a session was killed: the calls of a lease that are not booked
 * under it. Returns their number, and the run's counts.
 */
function recoverLeases(
  db: Sqlite,
  sql: LedgerStatements,
): {readonly interrupted: number; readonly counts: RunCounts} {
  const counts = readRunCounts(db);
  let interrupted = 0;
  for (const row of db.query(['id', 'calls'], 'FROM lease ORDER BY id').all()) {
    const lease = Number(row.id);
    const calls = leasedCalls(row.calls);
    const keys = calls.map(({key}) => key);
    const known = new Map(findEntries(sql, keys).map(entry => [entry.key, entry]));
    const lost = calls.flatMap((call, nth) => {
      const entry = known.get(call.key) ?? newEntry(call);
      if (leaseOfDispatchNumber(entry.sent) >= lease) return [];
      entry.sent = dispatchNumber(lease, nth);
      bookInterrupted({...call, entry}, counts);
      return [entry];
    });
    writeEntries(sql, lost);
    sql.count.run(countsText(counts));
    sql.endLeases.run(lease + 1);
    interrupted += lost.length;
  }
  return {interrupted, counts};
}

/** Books a call whose session ended before the outcome was known: it counts as maybe charged. */
export function bookInterrupted(call: Reservation, counts: RunCounts): void {
  counts.spending[call.operation].maybeSpent += call.cost;
  if (call.renews === true) counts.renewed += call.cost;
  countInterruptedCalls(counts.attempts, 1);
  markInterrupted(call);
}

/**
 * Begins a new count at this endpoint and account (`key`): nothing is spent, and a value's doubts count as one. Values of
 * another endpoint or account are forgotten.
 */
export function resetSpending(db: Sqlite, key: string): void {
  db.exec('UPDATE value SET doubts = min(doubts, 1) WHERE sent > 0');
  if (db.prepare('UPDATE scope SET key = ?1 WHERE key <> ?1').run(key) > 0) db.exec('DELETE FROM value');
  db.prepare('UPDATE scope SET counts = ?').run(countsText(zeroRunCounts()));
}

/**
 * Forgets failures, and rejections that are not known to be their values' fault; keeps at most `doubts` of each. A
 * verdict keeps its doubt: the token may be redeemed by a call of this run.
 */
export function forgetFailures(db: Sqlite, doubts: number): void {
  db.exec(
    `UPDATE value SET state = ${WAITING}, doubts = min(doubts, ${doubts}), bought_at = NULL, nth = NULL WHERE data IS NULL AND (state IN (${stateOf.failed}, ${stateOf.unknown}) OR ${IS_UNJUDGED})`,
  );
}

export function findEntries(sql: LedgerStatements, keys: readonly string[]): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (let from = 0; from < keys.length; from += FIND_AT_ONCE)
    entries.push(...sql.find.all(toListParameter(keys.slice(from, from + FIND_AT_ONCE))).map(readEntry));
  return entries;
}

/** Writes entries as they are now. */
export function writeEntries(sql: LedgerStatements, entries: Iterable<LedgerEntry>): void {
  let answers: LedgerEntry[] = [];
  let values: SqlValue[] = [];
  const write = (entry: LedgerEntry) => sql.put.run(entry.key, entry.operation, ...columnsOf(entry));
  for (const entry of entries) {
    const {outcome, sent, history, nth} = entry;
    if (outcome?.status !== 'ok' || sent > 0 || nth !== null || history !== noAttempts) {
      write(entry);
      continue;
    }
    answers.push(entry);
    values.push(entry.key, entry.operation, outcome.data, outcome.boughtAt ?? null);
    if (answers.length < ANSWERS_AT_ONCE) continue;
    sql.putAnswers.run(...values);
    answers = [];
    values = [];
  }
  answers.forEach(write);
}

/** Yields the entries with answers that the run bought after the answer with the number `nth`, in groups. */
export function* answeredAfter(sql: LedgerStatements, nth: number): Generator<LedgerEntry[]> {
  for (let last = 0; ; ) {
    const rows = sql.answered.all(last, nth);
    if (rows.length > 0) yield rows.map(readEntry);
    if (rows.length < ROWS_AT_ONCE) return;
    last = Number(rows.at(-1)?.id);
  }
}

/** The kept answer of an entry that has one. */
export function keyedAnswerOfEntry({operation, key, outcome}: LedgerEntry): KeyedAnswer {
  return {operation, key, outcome: outcome as Answer};
}
