import {setImmediate as nextTurn} from 'node:timers/promises';

/**
 * Maximum milliseconds for which a turn takes rows. Other work may wait twice as long, since the rows are then
 * also planned.
 */
const LONGEST_TURN_MS = 10;

/**
 * Divides work that never waits into turns of the event loop. With promises alone, a list of known answers would block
 * the program's timers, requests and signals until the list's end.
 */
export class Turns {
  #began = performance.now();

  /** True if this turn is long enough: other work should come before more is done. */
  get isOver(): boolean {
    return performance.now() - this.#began >= LONGEST_TURN_MS;
  }

  /** Resolves in the next turn of the event loop. */
  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
