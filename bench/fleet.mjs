// `node bench/fleet.mjs`: calls a second by 1, 2, 4, 8 and 16 workers against a server that takes 20 ms, with the CPU
// of each process and Redis' own count of commands, per call. Each fleet is followed by one process without a fleet
// that has as many calls in flight: "of one" is the fleet's figure divided by that process's.
// WORKERS=1,2,4,8,16 CONCURRENCY=16 ROWS=6000 LATENCY=20.
// WORKER_CPU=0.3 gives each worker that part of a core (cgroup v1, as root), so that workers' CPU is the limit on a
// machine that also runs all the rest. PROFILE=DIR keeps V8's profiles of the runs.
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
  number('ROWS', 6_000),
  number('CONCURRENCY', 16),
  number('LATENCY', 20),
];
const fleets = (process.env.WORKERS ?? '1,2,4,8,16').split(',').map(Number);
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
  XDG_CACHE_HOME: directory,
};
const fleet = {...env, BULK_ENRICH_REDIS_URL: `redis://127.0.0.1:${port}`};

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

const profile = process.env.PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.PROFILE] : [];

/** Starts the run; returns what lasts of it, per call: processes start slowly and end unevenly. */
async function measureRun(runEnv, workers, flags) {
  const args = ['run', input, '-o', join(directory, 'out.csv'), '--ip', 'ip', '--rate', 'unlimited'];
  const run = spawn(
    process.execPath,
    [...profile, bin, ...args, '--no-store', '--force', '--quiet', ...flags],
    {
      env: runEnv,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
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
          run: cpuOf(run.pid),
          redis: cpuOf(redisServer.pid),
          commands: await commands(),
        };
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  const from = await reach(0.3);
  const to = await reach(0.9);
  const [code] = await over;
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  asked += rows;
  return name => (to[name] - from[name]) / (to.calls - from.calls);
}

async function measure(count) {
  const workers = Array.from({length: count}, () =>
    spawn(process.execPath, [bin, 'worker', '--concurrency', String(concurrency)], {
      env: fleet,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  await Promise.all(workers.map(worker => once(worker.stderr, 'data')));
  const unlimit = workers.map(({pid}) => limitCpu(pid));
  const each = await measureRun(fleet, workers, []);
  const {p50} = JSON.parse(readFileSync(join(directory, 'out.summary.json'), 'utf8')).calls.latency_ms;
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(workers.map(worker => once(worker, 'exit')));
  for (const undo of unlimit) undo();
  const one = await measureRun(env, [], ['--concurrency', String(count * concurrency)]);
  const micros = (of, name) => Math.round(of(name) * 1e6);
  return {
    workers: count,
    'calls/s': Math.round(1_000 / each('at')),
    'of one': Number((one('at') / each('at')).toFixed(2)),
    'run µs/call': micros(each, 'run'),
    'of one ': Number((each('run') / one('run')).toFixed(2)),
    'worker µs/call': micros(each, 'worker'),
    'redis µs/call': micros(each, 'redis'),
    'redis commands/call': Number(each('commands').toFixed(2)),
    'p50 ms': p50,
  };
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
