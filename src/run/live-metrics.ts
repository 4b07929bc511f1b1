import {deliverLive} from './end/deliver-metrics.ts';
import {summarize} from './end/summarize.ts';
import type {Session} from './session.ts';

const EVERY_MS = 15_000;

/** No metric says how a run ended that is under way. */
const UNDER_WAY = {
  end: {status: 'interrupted', reason: 'under_way', exitCode: 0},
  published: {output: null, rejects: null},
} as const;

/**
 * Keeps the job's metrics fresh while the run is under way. Returns its end, after which nothing comes that could replace
 * the metrics of the run's end.
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
