import type {Session} from './session.ts';
import {describePublishedInstead, stopForDeadline} from './stop.ts';

/** Milliseconds that calls in flight get when a run ends. Container platforms kill a process after 10 s. */
export const GRACE_MS = 5_000;

/** Longest delay of a Node.js timer: about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Stops the run at the job's time limit. If the job publishes its output at that limit, ends only the calls: the
 * run then writes its rows. Returns a function that cancels the timer.
 */
export function startDeadline(session: Session): () => void {
  const {job, clock, stopper} = session;
  const {untilMs} = job;
  if (untilMs === undefined) return () => {};
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = untilMs - clock();
    if (left > 0) timer = setTimeout(look, Math.min(left, LONGEST_TIMER_MS));
    else if (job.settings.publishOn.includes('deadline')) timer = closeAt(session);
    else stopper.stop(stopForDeadline(job));
  };
  look();
  return () => clearTimeout(timer);
}

/** Sends no more calls. After {@link GRACE_MS}, gives up calls in flight as maybe charged. Returns the timer. */
function closeAt({job, io, asking: {gate, connection}}: Session): NodeJS.Timeout {
  io.warn(describePublishedInstead(stopForDeadline(job)));
  gate.close('deadline');
  return setTimeout(() => connection.client.close(), GRACE_MS);
}
