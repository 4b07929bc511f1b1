import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import {savedCounters} from '../../books/counters.ts';
import type {Job} from '../../job/job.ts';
import {operationsOf} from '../../layout/layout.ts';
import {nothingEarlier} from '../../ledger/given-up.ts';
import {emptyTally, spentSince} from '../../ledger/tally.ts';
import type {Summary} from '../../report/summary.ts';
import type {End} from '../exit.ts';
import type {RunIdentity} from '../identity.ts';
import type {RunIo} from '../io.ts';
import type {Session} from '../session.ts';
import {type Checkpoint, ledgerPath, type RunState, withLedger} from '../state/run-state.ts';
import type {Stop} from '../stop.ts';
import {type Books, buildSummary, type Published} from './build-summary.ts';

/** The summary of a session, with the digests of its published files if there are any. */
export function summarize(
  session: Session,
  end: End,
  published: Published = {output: null, rejects: null},
): Summary {
  const {job, io, identity, input, asking, output} = session;
  const {source, checkpoint, layout} = input;
  const {account, ledger, executor, connection, store} = asking;
  const {tally, givenUp, bills} = ledger;
  return buildSummary({
    job,
    end,
    // A clock that was set back must not make this session end before it began.
    finishedAt: Math.max(io.now(), Math.round(session.clock())),
    books: {
      runId: identity.runId,
      startedAt: identity.startedAt,
      resumed: {times: identity.sessions - 1, from_row: checkpoint ? checkpoint.record + 1 : null},
      input: source.position,
      counters: output.writer.counters,
      tally,
      earlier: givenUp.earlier,
      bill: bills.open,
      timeline: output.timeline.state,
    },
    session: {
      published,
      baseUrl: connection.client.baseUrl,
      format: layout.format,
      blankLines: source.blankLines,
      paddedRows: source.paddedRows,
      pace: executor.pace(),
      store: store.trouble,
      budgets: ledger.budget.uses,
      price: account?.price,
      operations: operationsOf(layout.mapping.targets),
      rules: layout.rules,
    },
  });
}

/** The summary of a run that could not start: its earlier sessions' books, and why this one did nothing. */
export async function summarizeFailure(
  job: Job,
  io: RunIo,
  state: RunState | undefined,
  end: Stop,
): Promise<Summary> {
  return buildSummary({
    job,
    end,
    finishedAt: io.now(),
    books: await booksSoFar(job, io, state),
    session: undefined,
  });
}

/** SHA-256 of empty data. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The run's books as the last session left them; empty books if there was no session. */
async function booksSoFar({paths}: Job, {now}: RunIo, state: RunState | undefined): Promise<Books> {
  const {identity, checkpoint, ...spent} = await ledgerSoFar(paths.state, state);
  return {
    ...spent,
    // This session spent nothing, so its bill is empty. The next session that opens adds earlier bills
    // to the history.
    bill: {id: randomUUID(), by: spentSince(emptyTally(), undefined)},
    runId: identity?.runId ?? randomUUID(),
    startedAt: identity?.startedAt ?? now(),
    resumed: {times: identity?.sessions ?? 0, from_row: null},
    input: {bytes: checkpoint?.bytes ?? 0, sha256: checkpoint?.sha256 ?? EMPTY_SHA256},
    counters: savedCounters(checkpoint?.counters),
    timeline: checkpoint?.timeline ?? {everyMs: 0, points: []},
  };
}

/** Reads the run's books from its ledger. If the state could not be opened, earlier spending counts as unknown. */
async function ledgerSoFar(directory: string | undefined, state: RunState | undefined) {
  const nothing = {tally: emptyTally(), identity: undefined, checkpoint: undefined};
  try {
    const found =
      state &&
      (await withLedger(state, ledger => ({
        tally: ledger.tally,
        earlier: ledger.givenUp.earlier,
        identity: ledger.getMeta<RunIdentity>('run'),
        checkpoint: ledger.getMeta<Checkpoint>('checkpoint'),
      })));
    const isUnread = state === undefined && directory !== undefined && existsSync(ledgerPath(directory));
    return found ?? {...nothing, earlier: nothingEarlier(isUnread)};
  } catch {
    return {...nothing, earlier: nothingEarlier(true)};
  }
}
