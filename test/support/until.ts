import {setTimeout as sleep} from 'node:timers/promises';

/** Waits until something holds; the test's own time limit is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}
