import type {Attempt} from '../../client/attempt.ts';
import type {Operation} from '../../operations/table.ts';
import type {Streak} from './canary.ts';

export type StopReason =
  | {readonly kind: 'fatal'; readonly attempt: Extract<Attempt, {kind: 'fatal'}>}
  | {readonly kind: 'refused'; readonly operation: Operation; readonly streak: Streak}
  | {
      readonly kind: 'outage';
      readonly cause: string;
      readonly sinceMs: number;
      /** Milliseconds since the epoch at which a new try makes sense. */
      readonly comeBackMs: number;
      /**
       * `asked`: the service asks for too long a wait. `too long`: it was down for too long. `no resends`: no value
       * may be sent again to test the service.
       */
      readonly why: 'asked' | 'too long' | 'no resends';
    };

type PauseReason = 'throttled' | 'quota' | 'outage' | 'fleet';

export interface Pause {
  readonly reason: PauseReason;
  readonly detail: string;
  /** Time of the pause's end, or of a call that tests if the service is back. Milliseconds since the epoch. */
  readonly untilMs: number;
}

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
