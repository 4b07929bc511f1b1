import {renderLive} from '../report/render/metrics.ts';
import {deliverLive} from './end/deliver-metrics.ts';
import {summarize} from './end/summarize.ts';
import type {Session} from './session.ts';

const EVERY_MS = 15_000;

/** A placeholder: the metrics of a run under way have no exit code. */
const UNDER_WAY = {status: 'interrupted', reason: 'under_way', exitCode: 0} as const;

/**
 * Updates the job's metrics while the run is under way. Returns a function that ends the updates, so that no update
 * replaces the final metrics.
 */
export function startLiveMetrics(session: Session): () => Promise<void> {
  const {job, io, clock, input, asking} = session;
  const {metrics} = job.settings;
  if (metrics === undefined) return async () => {};
  const render = (before: string) => {
    const {recordsRead: rowsRead, bytesTotal: inputSize} = input.source;
    const {inFlight, waiting, current: rate, pause} = asking.executor.pace();
    const summary = summarize(session, UNDER_WAY);
    const live = {now: clock(), rowsRead, inputSize, inFlight, waiting, rate, pause: pause?.reason};
    return renderLive(summary, live, before);
  };
  let delivering: Promise<void> | undefined;
  const deliver = () => {
    delivering ??= deliverLive(metrics, job.name, render, io).finally(() => {
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
