import {randomUUID} from 'node:crypto';
import type {Job} from '../../job/job.ts';
import {nothingSpent} from '../../ledger/run/books.ts';
import {emptyTally} from '../../ledger/run/tally.ts';
import type {Summary} from '../../report/summary.ts';
import {emptyCounters} from '../counts/counters.ts';
import type {End} from '../exit.ts';
import type {RunIo} from '../io.ts';
import {operationsOf} from '../layout/layout.ts';
import type {Session} from '../session.ts';
import {runOf} from '../state/count.ts';
import {type RunState, withLedger} from '../state/run-state.ts';
import type {Stop} from '../stop.ts';
import {buildSummary, type Published, type RunBooks} from './build-summary.ts';

/** The summary of a session, with the digests of its published files if there are any. */
export function summarize(
  session: Session,
  end: End,
  published: Published = {output: null, rejects: null},
): Summary {
  const {job, io, identity, input, asking, output} = session;
  const {source, layout} = input;
  const person = layout.rules?.sameBy;
  const persons = person === undefined ? [] : [{operation: 'person', column: person, prefix: ''}];
  const {account, ledger, gate, connection, store} = asking;
  const {tally, spending} = ledger;
  return buildSummary({
    job,
    end,
    // A clock that was set back must not make this session end before it began.
    finishedAt: Math.max(io.now(), Math.round(session.clock())),
    books: {
      runId: identity.runId,
      startedAt: identity.startedAt,
      sessionStartedAt: session.begunAt,
      resumed: {times: identity.sessions - 1},
      input: source.position,
      counters: output.writer.counters,
      tally,
      spending,
      timeline: output.timeline.points,
    },
    session: {
      published,
      baseUrl: connection.client.baseUrl,
      format: layout.format,
      blankLines: source.blankLines,
      paddedRows: source.paddedRows,
      pace: gate.pace(),
      store: store.trouble,
      budgets: ledger.budget.uses,
      price: account?.price,
      operations: operationsOf(layout.mapping.targets),
      rules: layout.rules,
      leftOut: layout.mapping.leftOut,
      columns: [...layout.mapping.targets, ...persons].map(({operation, column, prefix}) => ({
        operation,
        column,
        prefix,
      })),
      shared: layout.facts?.shared ?? {},
    },
  });
}

/** The summary of a run that could not start: its earlier sessions' books, and why this one did nothing. */
export async function summarizeFailure(
  job: Job,
  io: RunIo,
  state: RunState | undefined,
  end: Stop<unknown>,
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

/** The run's books as the last session left them; empty books if there was no session, or its ledger is unreadable. */
async function booksSoFar(job: Job, {now}: RunIo, state: RunState | undefined): Promise<RunBooks> {
  const {identity, spending} = await ledgerSoFar(job, state);
  return {
    tally: emptyTally(),
    spending,
    runId: identity?.runId ?? randomUUID(),
    startedAt: identity?.startedAt ?? now(),
    sessionStartedAt: now(),
    resumed: {times: identity?.sessions ?? 0},
    input: {bytes: 0, sha256: EMPTY_SHA256},
    counters: emptyCounters(),
    timeline: [],
  };
}

async function ledgerSoFar(job: Job, state: RunState | undefined) {
  const nothing = {identity: undefined, spending: nothingSpent()};
  try {
    const read = () =>
      state &&
      withLedger(state, job, ledger => ({
        identity: runOf(ledger),
        spending: ledger.spending,
      }));
    return (await read()) ?? nothing;
  } catch {
    return nothing;
  }
}
