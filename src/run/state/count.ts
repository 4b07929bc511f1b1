import {randomUUID} from 'node:crypto';
import {type FileState, fileState, isReadOnce} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import type {Ledger} from '../../ledger/ledger.ts';

/** A run: all sessions whose spending counts together against `max_credits`. */
export interface RunIdentity {
  readonly runId: string;
  /** Under this name a fleet keeps the calls of all runs of this ledger. */
  readonly fleetId: string;
  /** The run's first start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The inputs at the last session's start; undefined if one can be read only once. */
  readonly list: readonly FileState[] | undefined;
  readonly sessions: number;
}

/**
 * Begins a session of the run in the ledger. Begins a new run, which counts its credits anew, if there is none, if the
 * user demands it (`--restart`), or if a job has another list than at its last session: that is another night.
 */
export function beginSession(
  ledger: Ledger,
  job: Job,
  now: number,
  warn: (sentence: string) => void,
): RunIdentity {
  const last = ledger.getMeta<RunIdentity>('run');
  const list = listOf(job.inputs);
  const isOther = job.fromFile && last?.list !== undefined && list !== undefined && !isSame(last.list, list);
  if (last !== undefined && !isOther && !job.settings.restart) {
    const run = {...last, list, sessions: last.sessions + 1};
    ledger.setMeta('run', run);
    return run;
  }
  if (isOther && ledger.isResumed)
    warn('The unfinished run had another list, so this run counts its credits anew.');
  const fleetId = last?.fleetId ?? randomUUID();
  const run = {runId: randomUUID(), fleetId, startedAt: now, list, sessions: 1};
  ledger.beginCount(run);
  return run;
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
