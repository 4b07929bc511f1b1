import type {Attempt} from '../../client/attempt.ts';

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
