import type {Attempt} from '../client/attempt.ts';
import {saved} from './saved-value.ts';

/** Error code of a call whose session ended before the answer came. The service may have carried the call out. */
export const INTERRUPTED = 'interrupted';
export const interruptedCall = {kind: INTERRUPTED, code: INTERRUPTED} as const;

/** A value's attempts until now. They decide about its next attempt. */
export interface ValueHistory {
  /** True if the service may have carried out an attempt that brought no answer. */
  readonly mayBeCarriedOut: boolean;
  /** Number of attempts without an answer that may have been charged. `lastCode`: error code of the last. */
  readonly doubts: number;
  readonly lastCode: string;
}

export const noAttempts: ValueHistory = {mayBeCarriedOut: false, doubts: 0, lastCode: INTERRUPTED};

/** The history after an attempt that brought no answer and may have been charged. */
export function withDoubt(
  {doubts, lastCode}: ValueHistory,
  attempt: Attempt | typeof interruptedCall,
): ValueHistory {
  const code = 'code' in attempt ? attempt.code : lastCode;
  return {mayBeCarriedOut: true, doubts: doubts + 1, lastCode: code};
}

/** Removes the interrupted call, which counted as one doubt. Used once the end of that call is known. */
export function withoutInterrupted(history: ValueHistory): ValueHistory {
  const doubts = history.doubts - 1;
  return {...history, doubts, mayBeCarriedOut: doubts > 0};
}

/** Adds the attempts from before the run's restart to those since. Either is undefined if there were none. */
export function addedUp(since: ValueHistory | undefined, before: ValueHistory | undefined): ValueHistory {
  if (since === undefined || before === undefined) return since ?? before ?? noAttempts;
  return {
    mayBeCarriedOut: since.mayBeCarriedOut || before.mayBeCarriedOut,
    doubts: since.doubts + before.doubts,
    lastCode: since.doubts > 0 ? since.lastCode : before.lastCode,
  };
}

/** Counts all doubts of a history that has some as one. */
export function asOneDoubt(history: ValueHistory): ValueHistory {
  return {...history, doubts: 1};
}

/** Reads the column `history` of the ledger's tables. A number that an earlier version did not save is 0. */
export function historyIn(column: unknown): ValueHistory {
  return column === null || column === undefined
    ? noAttempts
    : {...noAttempts, ...saved<ValueHistory>(column)};
}
