// `node bench/fleet.mjs`: calls a second by 1, 2 and 4 workers against a server that takes 50 ms, with the CPU of
// each process and Redis' own count of commands, per call. WORKERS=1,2,4 CONCURRENCY=16 ROWS=5000 LATENCY=50.
// WORKER_CPU=0.3 gives each worker that part of a core (cgroup v1, as root), so that workers' CPU is the limit on a
// machine that also runs all the rest.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {Redis} from 'ioredis';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = join(here, '../dist/cli/bin.js');
const number = (name, fallback) => Number(process.env[name] ?? fallback);
const [rows, concurrency, latency] = [
  number('ROWS', 5_000),
  number('CONCURRENCY', 16),
  number('LATENCY', 50),
];
const fleets = (process.env.WORKERS ?? '1,2,4').split(',').map(Number);
const port = number('REDIS_PORT', 6_399);
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-bench-'));
const input = join(directory, 'input.csv');
writeFileSync(
  input,
  `id,ip\n${Array.from({length: rows}, (_, i) => `${i},1.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`).join('\n')}\n`,
);

const redisServer = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', directory], {
  stdio: 'ignore',
});
const redis = new Redis(port, '127.0.0.1', {retryStrategy: () => 50});
redis.on('error', () => {});
const api = spawn(process.execPath, [join(here, 'fleet-service.mjs'), '--latency', String(latency)], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [url] = await once(createInterface({input: api.stdout}), 'line');
const env = {
  ...process.env,
  BULK_ENRICH_BASE_URL: url,
  BULK_ENRICH_API_KEY: 'a key of the bench',
  BULK_ENRICH_REDIS_URL: `redis://127.0.0.1:${port}`,
  XDG_CACHE_HOME: directory,
};

const workerCpu = number('WORKER_CPU', 0);
const PERIOD_US = 10_000;

/** Limits a process to a part of a core; returns what takes the limit away again. */
function limitCpu(pid) {
  if (workerCpu === 0) return () => {};
  const group = `/sys/fs/cgroup/cpu/bulk-enrich-bench-${pid}`;
  mkdirSync(group);
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(workerCpu * PERIOD_US));
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
  return () => rmdirSync(group);
}

/** CPU seconds of a process so far, all threads. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function commands() {
  const stats = await redis.info('stats');
  return Number(/total_commands_processed:(\d+)/.exec(stats)[1]);
}

/** Calls of the measurements before. */
let asked = 0;

async function measure(count) {
  const workers = Array.from({length: count}, () =>
    spawn(process.execPath, [bin, 'worker', '--concurrency', String(concurrency)], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  await Promise.all(workers.map(worker => once(worker.stderr, 'data')));
  const unlimit = workers.map(({pid}) => limitCpu(pid));
  const run = spawn(
    process.execPath,
    [
      bin,
      'run',
      input,
      '-o',
      join(directory, 'out.csv'),
      '--ip',
      'ip',
      '--rate',
      'unlimited',
      '--no-store',
      '--force',
      '--quiet',
    ],
    {env, stdio: ['ignore', 'inherit', 'inherit']},
  );
  const over = once(run, 'exit');
  const reach = async share => {
    for (;;) {
      const {calls} = await (await fetch(`${url}/_ledger`)).json();
      if (calls - asked >= share * rows)
        return {
          calls,
          at: performance.now(),
          worker: workers.reduce((sum, {pid}) => sum + cpuOf(pid), 0),
          coordinator: cpuOf(run.pid),
          redis: cpuOf(redisServer.pid),
          commands: await commands(),
        };
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  // Processes start slowly and end unevenly: what they do in between is what lasts.
  const from = await reach(0.3);
  const to = await reach(0.9);
  const [code] = await over;
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  asked += rows;
  const each = name => (to[name] - from[name]) / (to.calls - from.calls);
  const figures = {
    workers: count,
    'calls/s': Math.round(1_000 / each('at')),
    'worker µs/call': Math.round(each('worker') * 1e6),
    'coordinator µs/call': Math.round(each('coordinator') * 1e6),
    'redis µs/call': Math.round(each('redis') * 1e6),
    'redis commands/call': Number(each('commands').toFixed(2)),
    'p50 ms': JSON.parse(readFileSync(join(directory, 'out.summary.json'), 'utf8')).calls.latency_ms.p50,
  };
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(workers.map(worker => once(worker, 'exit')));
  for (const undo of unlimit) undo();
  return figures;
}

try {
  const results = [];
  for (const count of fleets) results.push(await measure(count));
  console.log(
    `${rows} distinct values, ${concurrency} in flight a worker, ${latency} ms a call${workerCpu === 0 ? '' : `, ${workerCpu} of a core for each worker`}`,
  );
  console.table(results);
} finally {
  redis.disconnect();
  redisServer.kill();
  api.stdin.end();
  rmSync(directory, {recursive: true, force: true});
}
