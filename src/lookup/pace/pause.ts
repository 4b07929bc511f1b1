import type {Attempt} from '../../client/attempt.ts';
import type {Operation} from '../../operations/table.ts';
import type {Streak} from './canary.ts';

/** What an outage does to values that wait. */
export interface OutageState {
  /** The key of the value that is in flight to find out whether it is over. */
  readonly probe: string | undefined;
  /** True while not even a value that a request waits for may find that out. */
  readonly isDown: boolean;
  /** True once it has lasted for longer than is waited for, or no value that is left may be sent again. */
  readonly isOverdue: boolean;
}

/** Why the run has to stop asking. */
export type StopReason =
  | {readonly kind: 'fatal'; readonly attempt: Extract<Attempt, {kind: 'fatal'}>}
  | {readonly kind: 'refused'; readonly operation: Operation; readonly streak: Streak}
  | {
      readonly kind: 'outage';
      readonly cause: string;
      readonly sinceMs: number;
      /** When it makes sense to try again, in milliseconds since the epoch. */
      readonly comeBackMs: number;
      /** The service asks for so long a wait, or was away for too long, or no value may be sent again to find out. */
      readonly why: 'asked' | 'too long' | 'no resends';
    };

const pauseReasons = ['throttled', 'quota', 'outage', 'fleet'] as const;

type PauseReason = (typeof pauseReasons)[number];

/** An entry for each reason of a pause. */
export function perPause<T>(make: (reason: PauseReason) => T): Record<PauseReason, T> {
  return Object.fromEntries(pauseReasons.map(reason => [reason, make(reason)])) as Record<PauseReason, T>;
}

/** Why nothing is sent at the moment. */
export interface Pause {
  readonly reason: PauseReason;
  readonly detail: string;
  /** When it ends, or is tried again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** How often and how long everything stood still. */
export class PauseLog {
  #count = 0;
  #ms = 0;
  #since: number | undefined;

  note(paused: boolean, now: number): void {
    if (paused && this.#since === undefined) {
      this.#since = now;
      this.#count += 1;
    } else if (!paused && this.#since !== undefined) {
      this.#ms += now - this.#since;
      this.#since = undefined;
    }
  }

  total(now: number): {readonly count: number; readonly ms: number} {
    const open = this.#since === undefined ? 0 : now - this.#since;
    return {count: this.#count, ms: Math.round(this.#ms + open)};
  }
}
