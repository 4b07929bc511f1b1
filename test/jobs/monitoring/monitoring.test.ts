import {spawnSync} from 'node:child_process';
import {copyFileSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {pino} from 'pino';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {createClient} from '../../../src/client/client.ts';
import {exitCodes} from '../../../src/errors.ts';
import {serveMetrics} from '../../../src/fleet/worker/metrics.ts';
import {FleetWorker} from '../../../src/fleet/worker/worker.ts';
import {newDirectory} from '../../support/new-directory.ts';
import {lacks} from '../../support/real-parts.ts';
import {startRedis} from '../../support/redis.ts';
import {ips, openStage, type Stage} from '../../support/stage.ts';

const within = newDirectory();
const pathOf = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const read = (name: string) => readFileSync(pathOf(name), 'utf8');

type Alert = Readonly<{alert: string; expr: string; annotations: {readonly runbook: string}}>;
const alerts: readonly Alert[] = parse(read('jobs/monitoring/alerts.yaml')).groups.flatMap(
  ({rules}: {rules: Alert[]}) => rules,
);
type Panel = Readonly<{id: number; title: string; gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>}>;
const panels: readonly (Panel & {readonly targets?: readonly Alert[]})[] = JSON.parse(
  read('jobs/monitoring/dashboard.json'),
).panels;
const shown: readonly string[] = panels.flatMap(({targets = []}) => targets.map(({expr}) => expr));
const queries = [...alerts.map(({expr}) => expr), ...shown];

/** Runs promtool in a folder that holds these files. */
function promtool(files: Readonly<Record<string, string>>, ...args: string[]) {
  for (const [name, text] of Object.entries(files)) writeFileSync(within(name), text);
  copyFileSync(pathOf('jobs/monitoring/alerts.yaml'), within('alerts.yaml'));
  const {status, stdout, stderr} = spawnSync('promtool', args, {cwd: within(), encoding: 'utf8'});
  return {status, said: stdout + stderr};
}

/**
 * A test of promtool's, from a situation of alerts.txt: its interval and name, a line for each series, and lines
 * `at TIME ALERTS by LABELS: FIRING`. FIRING has the labels of each group of alerts that fire (`-`: none has a label).
 */
function unitTest(situation: string) {
  const [title = '', ...lines] = situation.split('\n');
  const [interval, name] = title.split(/: (.*)/);
  return {name, interval, input_series: lines.flatMap(seriesIn), promql_expr_test: lines.flatMap(firingIn)};
}

function seriesIn(line: string) {
  const [, series = '', values] = /^ {2}(\S+\}) (.*)$/.exec(line) ?? [];
  return values === undefined ? [] : [{series: series.replace(/^(?!up)/, 'bulk_enrich_'), values}];
}

function firingIn(line: string) {
  const [, eval_time, alerts, by = '', firing = ''] =
    /^ {2}at (\w+) (\S+?)(?: by (\S+))?:(.*)$/.exec(line) ?? [];
  if (eval_time === undefined) return [];
  const labels = by.split(',');
  const labelled = (value: string, at: number) =>
    `${labels[at]}="${labels[at] === 'alertname' ? 'BulkEnrich' : ''}${value}"`;
  const exp_samples = [...firing.matchAll(/\S+/g)].map(([group]) => ({
    value: 1,
    labels: `{${group === '-' ? '' : group.split(',').map(labelled)}}`,
  }));
  const expr = `count by (${by}) (ALERTS{alertname=~"BulkEnrich(${alerts})",alertstate="firing"})`;
  return [{expr, eval_time, exp_samples}];
}

describe.skipIf(lacks('promtool'))('promtool', () => {
  test('finds nothing wrong with the alerts, nor with the queries of the dashboard', () => {
    // Grafana fills its variables in before Prometheus reads a query.
    const rules = shown.map((expr, index) => ({
      record: `shown:${index}`,
      expr: expr.replaceAll('$job_name', '.*').replaceAll('$__rate_interval', '5m'),
    }));
    const asRules = JSON.stringify({groups: [{name: 'dashboard', rules}]});
    const {status, said} = promtool({'shown.yaml': asRules}, 'check', 'rules', 'alerts.yaml', 'shown.yaml');
    expect([status, said]).toEqual([0, expect.stringContaining(`${rules.length} rules found`)]);
  });

  test('fires each alert when it should, and none in a good night', () => {
    const text = read('test/jobs/monitoring/alerts.txt');
    const tests = text.trim().split('\n\n').map(unitTest);
    const file = JSON.stringify({rule_files: ['alerts.yaml'], evaluation_interval: '1h', tests});
    const {status, said} = promtool({'tests.yaml': file}, 'test', 'rules', 'tests.yaml');
    expect([status, said]).toEqual([0, expect.stringContaining('SUCCESS')]);
    for (const {alert} of alerts) expect(text, alert).toContain(alert.replace('BulkEnrich', ''));
  });
});

/** Texts that a run writes at its end, and that a worker serves meanwhile. */
async function scrapes(stage: Stage, redisUrl: string): Promise<string[]> {
  const {api, env} = stage;
  const secret = env.BULK_ENRICH_API_KEY ?? '';
  const worker = await FleetWorker.start({
    redisUrl,
    endpoint: api.url,
    secret,
    concurrency: 4,
    lostAfterMs: 30_000,
    clientFor: timeoutMs => createClient({baseUrl: api.url, apiKey: secret, timeoutMs}),
    log: pino({level: 'silent'}),
    onFatal: () => {},
  });
  const server = await serveMetrics({host: '127.0.0.1', port: 0}, worker);
  try {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const pages: Promise<string>[] = [];
    api.setScript(({call}) => {
      if (call !== 30) return undefined;
      pages.push(fetch(`http://127.0.0.1:${port}/metrics`).then(page => page.text()));
      return undefined;
    });
    const output = 'out-{date}.csv';
    const settings = {ip: 'ip', output, rate: '500/s', maxCredits: 100, metrics: stage.path('out.prom')};
    const ended = await stage.run(settings, {name: 'nightly', env: {BULK_ENRICH_REDIS_URL: redisUrl}});
    expect(ended).toMatchObject({code: 0});
    return [stage.read('out.prom'), ...(await Promise.all(pages))];
  } finally {
    server.close();
    server.closeAllConnections();
    await worker.drain();
  }
}

test.skipIf(lacks('redis'))(
  'every metric that the alerts and the dashboard name is in a real scrape, with its labels',
  async () => {
    await using redis = await startRedis();
    await using stage = await openStage();
    stage.account('main.yaml', 'endpoint: URL\nmax_credits_per_day: 1000\n');
    stage.write('list.csv', ips(60));
    const texts = await scrapes(stage, redis.url);
    expect(texts).toHaveLength(2);
    const lines = texts.join('').split('\n');
    for (const query of queries)
      for (const [, name = '', matchers = ''] of query.matchAll(/\b(bulk_enrich_\w+)(?:\{([^}]*)\})?/g)) {
        const own = lines.filter(line => line.startsWith(`${name}{`));
        expect(own, name).not.toEqual([]);
        for (const [, label = '', is, value = ''] of matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g))
          for (const one of is === '=' ? [value] : value === '$job_name' ? [] : value.split('|'))
            expect(own.join('\n'), query).toContain(`${label}="${one}"`);
      }
  },
);

test('the panels of the dashboard have titles and ids of their own, and none covers another', () => {
  expect(new Set(panels.map(({id}) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({title, gridPos: {x, y, w, h}}) => {
    expect(title).not.toBe('');
    expect(x + w).toBeLessThanOrEqual(24);
    return Array.from({length: w * h}, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
});

test('the runbook has an entry for each exit code and each alert, and for no other', () => {
  const headings = [...read('docs/runbook.md').matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  const codes = Object.values(exitCodes).map(code => `Exit ${code}`);
  expect(headings).toEqual([...codes, ...alerts.map(({alert}) => alert)]);
  for (const {alert, annotations} of alerts)
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
});
