import {deliverLive} from './end/deliver-metrics.ts';
import {summarize} from './end/summarize.ts';
import type {Session} from './session.ts';

const EVERY_MS = 15_000;

/** Placeholders: while the run is under way, its metrics have no exit code and no published files. */
const UNDER_WAY = {
  end: {status: 'interrupted', reason: 'under_way', exitCode: 0},
  published: {output: null, rejects: null},
} as const;

/**
 * Updates the job's metrics while the run is under way. Returns a function that ends the updates, so that no update
 * replaces the final metrics.
 */
export function startLiveMetrics(session: Session): () => Promise<void> {
  const {job, io, clock, input, asking} = session;
  const {metrics} = job.settings;
  if (metrics === undefined) return async () => {};
  const read = () => {
    const {recordsRead: rowsRead, bytesTotal: inputSize} = input.source;
    const {inFlight, waiting, current: rate, pause} = asking.executor.pace();
    return {
      summary: summarize(session, UNDER_WAY.end, UNDER_WAY.published),
      live: {now: clock(), rowsRead, inputSize, inFlight, waiting, rate, pause: pause?.reason},
    };
  };
  let delivering: Promise<void> | undefined;
  const deliver = () => {
    delivering ??= deliverLive(metrics, job.name, read, io).finally(() => {
      delivering = undefined;
    });
  };
  deliver();
  const timer = setInterval(deliver, io.metricsEveryMs ?? EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await delivering;
  };
}
