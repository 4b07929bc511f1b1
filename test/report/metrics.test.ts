import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {workerMetrics} from '../../src/fleet/worker/metrics.ts';
import {packageVersion} from '../../src/operations/package-files.ts';
import {renderMetrics, renderUnstartedMetrics} from '../../src/report/render/metrics.ts';
import {lacks} from '../support/real-parts.ts';
import {bareSummary, fullSummary} from './summaries.ts';

type Metric = Readonly<{name: string; labels: Readonly<Record<string, string>>; value: number}>;

/** Reads the exposition format strictly, as the collector does, which drops a file with any fault. */
function parse(text: string): Metric[] {
  expect(text.endsWith('\n')).toBe(true);
  const metrics: Metric[] = [];
  const described = new Map<string, string[]>();
  let family = '';
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind = '', name = '', words = ''] = comment;
      if (kind === 'HELP') expect(described.has(name), `${name} is described twice`).toBe(false);
      else expect(words).toBe(name === 'bulk_enrich_run_call_latency_seconds' ? 'summary' : 'gauge');
      described.set(name, [...(described.get(name) ?? []), kind]);
      family = name;
      continue;
    }
    const [, name = '', inner = '', value = ''] =
      /^([a-z_]+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)$/.exec(line) ?? [];
    expect(name, line).toBe(family);
    const labels = Object.fromEntries(
      [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
      ]),
    );
    expect(Number.isFinite(Number(value)), line).toBe(true);
    metrics.push({name, labels, value: Number(value)});
  }
  for (const kinds of described.values()) expect(kinds).toEqual(['HELP', 'TYPE']);
  const series = metrics.map(({name, labels}) => JSON.stringify([name, labels]));
  expect(new Set(series).size).toBe(series.length);
  return metrics;
}

const find = (metrics: readonly Metric[], name: string, labels: Record<string, string> = {}) =>
  metrics.find(
    metric =>
      metric.name === `bulk_enrich_${name}` &&
      Object.entries(labels).every(([key, value]) => metric.labels[key] === value),
  )?.value;

test('a run as Prometheus text: one HELP and TYPE of each metric, the job as a label', () => {
  const metrics = parse(renderMetrics(fullSummary()));
  expect(metrics.every(({labels}) => labels.job_name === 'nightly-signups')).toBe(true);
  expect(parse(renderMetrics(bareSummary())).every(({value}) => Number.isFinite(value))).toBe(true);
});

test.skipIf(lacks('promtool'))('promtool finds nothing wrong', () => {
  const own = [fullSummary(), bareSummary()].map(summary => renderMetrics(summary));
  for (const input of [...own, workerMetrics(BUSY_WORKER, FLEET)])
    expect(spawnSync('promtool', ['check', 'metrics'], {input}).output.join('')).toBe('');
});

const report = {concurrency: 4, inFlight: 1, chunks: 2, calls: {answered: 3}, clockAheadMs: 0};
const BUSY_WORKER = {report, hasRedis: true};
const FLEET = {closedMs: 1_500, waiting: 7};

test('the rules that promtool holds, without it: labels of summaries and histograms, names and units', () => {
  for (const text of [renderMetrics(fullSummary()), workerMetrics(BUSY_WORKER, FLEET)])
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(name).not.toMatch(/_(count|sum|bucket|milliseconds|minutes)$/);
      expect(text).not.toMatch(new RegExp(`^${name}\\{.*\\b(le)=`, 'm'));
    }
});

test('a run that could not begin has the version, and how it ended', () => {
  const ended = {job: 'nightly', finished_at: '2026-01-05T02:00:00.000Z', exit_code: 2};
  const metrics = parse(renderUnstartedMetrics(ended));
  expect(find(metrics, 'build_info', {version: packageVersion()})).toBe(1);
  expect(find(metrics, 'last_run_exit_code')).toBe(2);
});

const lastSuccess = (text: string) => find(parse(text), 'last_success_timestamp_seconds');

test('the time of the last success outlives failures, for each job by itself', () => {
  const good = renderMetrics(fullSummary({exit_code: 0, finished_at: '2026-01-04T02:00:00.000Z'}));
  const bad = renderMetrics(fullSummary({exit_code: 5}), good);
  const worse = renderMetrics(fullSummary({exit_code: 6}), bad);
  const at = Date.parse('2026-01-04T02:00:00.000Z') / 1_000;
  expect(lastSuccess(worse)).toBe(at);
  expect(find(parse(worse), 'last_run_success')).toBe(0);
  const other = renderMetrics(fullSummary({job: 'other', exit_code: 5}), good);
  expect(lastSuccess(other)).toBeUndefined();
  expect(lastSuccess(renderMetrics(fullSummary({exit_code: 5}), 'garbage'))).toBeUndefined();
});

test('a night with gaps has written its output, as a schedule takes it: a success that is not complete', () => {
  const of = (exit_code: number) => {
    const metrics = parse(renderMetrics(fullSummary({exit_code})));
    return [find(metrics, 'last_run_success'), find(metrics, 'last_run_complete')];
  };
  expect([of(0), of(3), of(4), of(5)].join(' ')).toBe('1,1 1,0 0,0 0,0');
  const at = Date.parse(fullSummary().finished_at) / 1_000;
  expect(lastSuccess(renderMetrics(fullSummary({exit_code: 3})))).toBe(at);
});

test('labels are escaped', () => {
  const [first] = parse(renderMetrics(fullSummary({job: 'a "b" \\ c\nd'})));
  expect(first?.labels.job_name).toBe('a "b" \\ c\nd');
});

test('docs/reports.md names every metric, and no other', () => {
  // Only an account with limits has the last one.
  const limits = '# HELP bulk_enrich_run_account_credits x';
  const run = renderMetrics(fullSummary({unfinished_days: []}));
  const texts = [run, workerMetrics(BUSY_WORKER, FLEET), limits];
  const names = texts.flatMap(text => [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name));
  const page = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/`(bulk_enrich_\w+)`/g)].map(([, name]) => name);
  expect([...new Set(documented)].sort()).toEqual([...new Set(names)].sort());
});
