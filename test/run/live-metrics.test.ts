import {expect, test} from 'vitest';
import {Stopper} from '../../src/run/stop.ts';
import {reply} from '../support/api-server-reply.ts';
import {interrupt, ips, openStage, type Stage} from '../support/stage.ts';

/** The values of a metric in the file that the run keeps, by the labels beside the job's name. */
function metric(stage: Stage, name: string): Record<string, number> {
  const lines = stage.read('out.prom').matchAll(new RegExp(`^bulk_enrich_${name}\\{(.*)\\} (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labelOf(labels), Number(value)]));
}

const labelOf = (labels: string) => /(?<!job_name)="([^"]*)"/.exec(labels)?.[1] ?? '';

const TOLD = {name: 'nightly', metricsEveryMs: 5};
const SOON = {interval: 5, timeout: 20_000};

test('the metrics of a run tell how it stands while it calls, waits and is throttled', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(40));
  const settings = {ip: 'ip', concurrency: 4, metrics: stage.path('out.prom'), maxCredits: 100};
  let release = () => {};
  const held = new Promise<undefined>(resolve => {
    release = () => resolve(undefined);
  });
  stage.api.setScript(({call}) => {
    if (call === 21) return reply.throttle(1);
    return call > 30 ? held : undefined;
  });
  const running = stage.run(settings, TOLD);
  await expect.poll(() => metric(stage, 'run_waiting'), SOON).toMatchObject({throttled: 1});
  await expect.poll(() => metric(stage, 'run_calls_in_flight')[''], SOON).toBe(4);
  expect(metric(stage, 'run_active')).toEqual({'': 1});
  expect(metric(stage, 'run_waiting')).toEqual({throttled: 0, quota: 0, outage: 0, fleet: 0});
  expect(metric(stage, 'run_values_waiting')['']).toBeGreaterThan(0);
  expect(metric(stage, 'run_rows_read')).toEqual({'': 40});
  const [calls = 0, spent = 0] = [metric(stage, 'run_calls')['ip'], metric(stage, 'run_credits').spent];
  expect([calls >= 20, spent >= 20, spent <= calls]).toEqual([true, true, true]);
  expect(metric(stage, 'run_credit_limit')).toEqual({'': 100});
  release();
  expect((await running).code).toBe(0);
  expect(metric(stage, 'run_active')).toEqual({'': 0});
  expect(metric(stage, 'run_rows')).toEqual({ok: 40, with_errors: 0, rejected: 0});
  expect(metric(stage, 'last_run_success')).toEqual({'': 1});
});

test('the last end stays in the metrics while the next run is under way, and until it has ended', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  const settings = {ip: 'ip', metrics: stage.path('out.prom'), store: false, force: true};
  await stage.run(settings, TOLD);
  const success = metric(stage, 'last_success_timestamp_seconds');
  const stopper = new Stopper();
  const seen: unknown[] = [];
  stage.api.setScript(() => {
    seen.push([metric(stage, 'run_active'), metric(stage, 'last_success_timestamp_seconds')]);
    interrupt(stopper);
    return undefined;
  });
  await stage.run({...settings, restart: true}, {...TOLD, stopper, metricsEveryMs: 60_000});
  expect(seen[0]).toEqual([{'': 1}, success]);
  expect([metric(stage, 'run_active'), metric(stage, 'last_run_exit_code')]).toEqual([{'': 0}, {'': 130}]);
  expect(metric(stage, 'last_success_timestamp_seconds')).toEqual(success);
});
