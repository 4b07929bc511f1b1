import type {Session} from './session.ts';
import {deadlineStop, publishedInstead} from './stop.ts';

/** Calls in flight get this long when a run ends: less than the 10 s after which containers are killed. */
export const GRACE_MS = 5_000;

/** A timer can't be set for longer than this: about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends the run when its time is up, or only its asking, where what is there is to be published. Returns what takes it back. */
export function startDeadline(session: Session): () => void {
  const {job, clock, stopper} = session;
  const {untilMs} = job;
  if (untilMs === undefined) return () => {};
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = untilMs - clock();
    if (left > 0) timer = setTimeout(look, Math.min(left, LONGEST_TIMER_MS));
    else if (job.settings.publishOn.includes('deadline')) timer = closeAt(session);
    else stopper.stop(deadlineStop(job));
  };
  look();
  return () => clearTimeout(timer);
}

/** Calls that are still under way after their grace are given up, and booked as what may have been charged. */
function closeAt({job, io, executor, connection}: Session): NodeJS.Timeout {
  io.warn(publishedInstead(deadlineStop(job)));
  executor.close('deadline');
  return setTimeout(() => connection.client.close(), GRACE_MS);
}
