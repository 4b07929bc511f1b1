import {rmSync} from 'node:fs';
import {isDamageError, Sqlite, VersionError} from '../../disk/sqlite.ts';
import {isDiskError, OutputError, StateError, systemReason} from '../../errors.ts';
import {operationNames} from '../../operations/table.ts';
import {say, setting} from '../../sentence.ts';
import {leaseOfSendOrder, newEntry, sendOrder} from './ledger-entry.ts';
import {
  damagedLedgerError,
  findEntries,
  fromChecksummedJson,
  type LedgerStatements,
  leasedCalls,
  ledgerFormat,
  ledgerStatements,
  ROWS_AT_ONCE,
  readMeta,
  toChecksummedJson,
  writeEntries,
  writeMeta,
} from './ledger-rows.ts';
import {bookInterrupted, type RunCounts, zeroRunCounts} from './tally.ts';

/** Opens a ledger's file, or creates it. `full`: true if a transaction must survive a power cut. Throws for damage. */
export function openLedgerFile(path: string, full: boolean): Sqlite {
  const db = openFile(path, full);
  try {
    refuseDamage(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function openFile(path: string, full: boolean): Sqlite {
  const synchronous = full ? 'FULL' : 'NORMAL';
  return new Sqlite(path, {format: ledgerFormat, synchronous, exclusive: true, busyTimeoutMs: 0});
}

/**
 * Removes the names of an open ledger's files. The files then vanish when they are closed, however the
 * process ends. This is safe: SQLite has opened the write-ahead log by now, and opens no file by name again.
 * On Windows it fails.
 */
export function unlinkLedgerFiles(path: string): void {
  for (const suffix of ['', '-wal']) {
    try {
      rmSync(path + suffix, {force: true});
    } catch {
      // Windows does not remove open files. There the caller removes their directory later.
    }
  }
}

/** Runs `work`, and turns errors of SQLite and the file system into errors that tell the user what to do. */
export function orThrowLedgerError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof VersionError)
      throw new StateError(
        'state_version',
        say`The saved state can't be used (${error.message}). Finish the run with the program that began it, or start over with ${setting('restart', true)}.`,
        {cause: error},
      );
    if (isDamageError(error)) throw damagedLedgerError(error);
    throw isDiskError(error) ? ledgerUnwritableError(systemReason(error), error) : error;
  }
}

export function ledgerUnwritableError(reason: string, cause: unknown): OutputError {
  return new OutputError(
    'state_unwritable',
    `The run's state can't be written (${reason}). Fix the cause (disk space, permissions), then run the same command again.`,
    {cause},
  );
}

export type LedgerSession = ReturnType<typeof beginLedgerSession>;

/** Begins a session at an endpoint and account (`key`): books what a killed one left. Returns what the file tells. */
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
      lastLease: leaseOfSendOrder(Number(last.sent)),
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
    db.prepare('INSERT INTO scope VALUES (0, ?, ?)').run(key, toChecksummedJson(zeroRunCounts()));
    return key;
  }
  const id = Number(kept.id);
  if (owners.length > 1 || id !== 0) {
    for (const table of ['value', 'lease'])
      db.exec(`DELETE FROM ${table} WHERE scope <> ${id}; UPDATE ${table} SET scope = 0`);
    db.exec(`DELETE FROM scope WHERE id <> ${id}; UPDATE scope SET id = 0`);
    const run = readMeta<{readonly runId: string}>(db, 'run');
    if (run !== undefined) writeMeta(db, 'run', {...run, runId: id === 0 ? run.runId : `${run.runId}-${id}`});
  }
  return String(kept.key);
}

function readRunCounts(db: Sqlite): RunCounts {
  const zero = zeroRunCounts();
  const {counts} = db.query(['counts'], 'FROM scope').get() ?? {};
  const {spending, refusals, attempts, ...others} = fromChecksummedJson<RunCounts>(counts);
  return {
    ...zero,
    ...others,
    spending: {...zero.spending, ...spending},
    refusals: {...zero.refusals, ...refusals},
    attempts: {...zero.attempts, ...attempts},
  };
}

/** Books as maybe charged what a killed session had in flight: the calls of a lease that are not booked under it. */
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
    const lost = calls.flatMap((call, place) => {
      const entry = known.get(call.key) ?? newEntry(call);
      if (leaseOfSendOrder(entry.sendOrder) >= lease) return [];
      entry.sendOrder = sendOrder(lease, place);
      bookInterrupted({...call, entry}, counts);
      return [entry];
    });
    writeEntries(sql, lost);
    sql.count.run(toChecksummedJson(counts));
    sql.endLeases.run(lease + 1);
    interrupted += lost.length;
  }
  return {interrupted, counts};
}

export interface LedgerState<Run> {
  readonly run?: Run | undefined;
  readonly hasCalls: boolean;
  /** Its endpoint and account, as a key. The first programs' ledgers may have several. */
  readonly owners: readonly string[];
}

/**
 * Reads the state of a ledger that no process has open. Does not look for damage: to open it does.
 *
 * @throws an error if it can't be read.
 */
export function peekLedger<Run>(path: string): LedgerState<Run> {
  const db = openFile(path, false);
  try {
    const has = (rows: string) => db.query(['1 AS found'], `FROM ${rows} LIMIT 1`).get() !== undefined;
    return {
      run: readMeta<Run>(db, 'run'),
      hasCalls: has('value WHERE sent > 0') || has('lease'),
      owners: db
        .query(['key'], 'FROM scope')
        .all()
        .map(({key}) => String(key)),
    };
  } finally {
    db.close();
  }
}

/** SQL condition that is true for every row of `value` that this program wrote. */
const IS_SOUND = [
  `operation IN (${operationNames.map(name => `'${name}'`).join(', ')})`,
  ...['state', 'sent', 'doubts'].map(column => `typeof(${column}) = 'integer'`),
].join(' AND ');

/**
 * Throws for damage in a ledger's file. Called before anything is sent, so that no run finds damage midway. Takes 1 µs
 * per value.
 */
function refuseDamage(db: Sqlite): void {
  const found = db.query(['quick_check AS found'], 'FROM pragma_quick_check(1)').get()?.found;
  if (found !== 'ok') throw damagedLedgerError(new Error(String(found)));
  // SQLite doesn't check that texts are UTF-8. Reading a text does, so this reads all texts.
  const page = db.query(
    [
      'max(id) AS last',
      `sum(NOT (${IS_SOUND})) AS odd`,
      "group_concat(key || coalesce(error, '') || coalesce(data, ''), '') AS texts",
    ],
    `FROM (SELECT * FROM value WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE})`,
  );
  for (let id = 0; ; ) {
    const {last = null, odd} = page.get(id) ?? {};
    if (Number(odd) > 0) throw damagedLedgerError(new Error(`a value's row between ${id} and ${last}`));
    if (last === null) return;
    id = Number(last);
  }
}
