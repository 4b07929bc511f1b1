import {randomUUID} from 'node:crypto';
import {type FileState, fileState, isReadOnce} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {SpendingByOperation} from '../../ledger/run/tally.ts';
import type {World} from '../io.ts';

/** A run: all sessions whose spending counts together against `max_credits`. */
export interface RunIdentity {
  readonly runId: string;
  /** Under this name a fleet keeps the calls of all runs of this ledger. */
  readonly fleetId: string;
  /** The run's first start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The inputs at the last session's start; undefined if one can be read only once. */
  readonly list: readonly FileState[] | undefined;
  /** Path of the output; undefined if there is no file. */
  readonly output: string | undefined;
  readonly sessions: number;
}

export type RunSpending = readonly [runId: string, spending: SpendingByOperation];

/** Each endpoint and account has a count of its own, and so a run of its own: named by its number in the ledger. */
function runIdAt({runId}: RunIdentity, scope: number): string {
  return scope === 0 ? runId : `${runId}-${scope}`;
}

/** The ledger's runs, at all endpoints and accounts, with their spending; without the run `own`. */
export function listLedgerRuns(ledger: Ledger, own?: string): RunSpending[] {
  const run = ledger.getMeta<RunIdentity>('run');
  if (run === undefined) return [];
  return ledger.spendingByScope
    .map(([scope, spending]) => [runIdAt(run, scope), spending] as const)
    .filter(([id]) => id !== own);
}

/** The ledger's run, at the endpoint and account of this session; undefined if none has begun. */
export function readRunIdentity(ledger: Ledger): RunIdentity | undefined {
  const run = ledger.getMeta<RunIdentity>('run');
  return run && {...run, runId: runIdAt(run, ledger.scope)};
}

/**
 * Begins a session of the run in the ledger: at the first row, as always, but what the ledger knows is free. Begins a
 * new run, which counts its credits anew, if there is none, if the user demands it (`--restart`), if a job has another
 * list than at its last session (that is another night), or if another output has the same state. `complete` gets the
 * ledger's other runs.
 */
export function beginOrResumeRun(
  ledger: Ledger,
  job: Job,
  now: number,
  warn: World['warn'],
  complete: (others: readonly RunSpending[]) => void,
): RunIdentity {
  const last = ledger.getMeta<RunIdentity>('run');
  const list = listOf(job.inputs);
  const output = job.output.lasts ? job.output.name : undefined;
  const isOtherList =
    job.fromFile && last?.list !== undefined && list !== undefined && !isSame(last.list, list);
  const other = isOtherList ? 'list' : last !== undefined && last.output !== output ? 'output' : undefined;
  const goesOn = last !== undefined && other === undefined && !job.settings.restart;
  // Before a new count begins: afterwards no file has the spending of a killed session.
  complete(listLedgerRuns(ledger, goesOn ? readRunIdentity(ledger)?.runId : undefined));
  if (other !== undefined && ledger.isResumed)
    warn(`The unfinished run had another ${other}, so this run counts its credits anew.`);
  const fleetId = last?.fleetId ?? randomUUID();
  const run = goesOn
    ? {...last, list, sessions: last.sessions + 1}
    : {runId: randomUUID(), fleetId, startedAt: now, list, output, sessions: 1};
  if (goesOn) ledger.setMeta('run', run);
  else ledger.beginCount(run);
  return {...run, runId: runIdAt(run, ledger.scope)};
}

/** State of each input as a job compares it; undefined if one can be read only once. */
function listOf(inputs: readonly string[]): FileState[] | undefined {
  if (inputs.some(isReadOnce)) return undefined;
  return inputs.flatMap(path => fileState(path) ?? []);
}

function isSame(last: readonly FileState[], now: readonly FileState[]): boolean {
  const compared = (list: readonly FileState[]) =>
    JSON.stringify(list.map(({path, size, changedAt}) => [path, size, changedAt]));
  return compared(last) === compared(now);
}
