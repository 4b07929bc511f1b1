import {setTimeout as sleep} from 'node:timers/promises';

/** A busy machine is slow; what has not come by then never comes. */
const LONGEST_MS = 120_000;

/** Waits until something holds, and fails where it never does. */
export async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + LONGEST_MS;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`never came: ${holds}`);
    await sleep(10);
  }
}
