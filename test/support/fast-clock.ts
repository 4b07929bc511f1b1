import {vi} from 'vitest';

const STEP_MS = 4;

/**
 * Lets time pass `factor` times as fast for the timers, `Date` and `performance` of this process, while `work` runs.
 * Sockets and files are real, so client and server in this process meet as ever, in less of everybody's time.
 */
export async function accelerated<T>(factor: number, work: () => Promise<T>): Promise<T> {
  const every = globalThis.setInterval;
  const stop = globalThis.clearInterval;
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  let busy = false;
  const timer = every(async () => {
    if (busy) return;
    busy = true;
    await vi.advanceTimersByTimeAsync(STEP_MS * factor);
    busy = false;
  }, STEP_MS);
  try {
    return await work();
  } finally {
    stop(timer);
    vi.useRealTimers();
  }
}
