import {setImmediate as nextTurn} from 'node:timers/promises';

/** A turn takes rows for at most this time. It may last twice as long, since it also plans the rows. */
const LONGEST_TURN_MS = 10;

/**
 * Divides work into turns of the event loop. Otherwise, a list whose answers are all known would block the
 * program's timers, requests and signals until its end, since it never waits for I/O.
 */
export class Turns {
  #began = performance.now();

  /** True if this turn has lasted long enough. The caller should then await {@link next}. */
  get isOver(): boolean {
    return performance.now() - this.#began >= LONGEST_TURN_MS;
  }

  /** Resolves in the next turn of the event loop. */
  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
