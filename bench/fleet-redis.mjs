// `node bench/fleet-redis.mjs`: what a fleet asks of its Redis: memory for each chunk that is out, at the peak of a
// run, and after it; bytes over the network for each call; commands of a worker that has nothing to do.
// ROWS=20000 CONCURRENCY=64 LATENCY=50 PERSIST=yes (append-only file) PORT=6398.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {Redis} from 'ioredis';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = join(here, '../dist/cli/bin.js');
const number = (name, fallback) => Number(process.env[name] ?? fallback);
const [rows, concurrency, latency] = [
  number('ROWS', 20_000),
  number('CONCURRENCY', 64),
  number('LATENCY', 50),
];
const port = number('PORT', 6_398);
const persist = process.env.PERSIST ?? 'no';
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-bench-'));
const input = join(directory, 'input.csv');
const address = i => `1.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const lines = Array.from(
  {length: rows / 2},
  (_, i) => `${i},${address(i)},somebody.number.${i}@mail.example.com`,
);
writeFileSync(input, `id,ip,email\n${lines.join('\n')}\n`);

const server = spawn(
  'redis-server',
  ['--port', String(port), '--save', '', '--appendonly', persist, '--dir', directory],
  {stdio: 'ignore'},
);
const redis = new Redis(port, '127.0.0.1', {retryStrategy: () => 50});
redis.on('error', () => {});
const api = spawn(process.execPath, [join(here, 'fleet-service.mjs')], {stdio: ['pipe', 'pipe', 'inherit']});
const [url] = await once(createInterface({input: api.stdout}), 'line');
const env = {
  ...process.env,
  BULK_ENRICH_BASE_URL: url,
  BULK_ENRICH_API_KEY: 'bench',
  BULK_ENRICH_REDIS_URL: `redis://127.0.0.1:${port}`,
  XDG_CACHE_HOME: directory,
};

async function info() {
  const text = await redis.info();
  const read = name => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)[1]);
  return {
    memory: read('used_memory'),
    peak: read('used_memory_peak'),
    commands: read('total_commands_processed'),
    in: read('total_net_input_bytes'),
    out: read('total_net_output_bytes'),
    clients: read('connected_clients'),
  };
}

const start = (...args) =>
  spawn(process.execPath, [bin, ...args], {env, stdio: ['ignore', 'ignore', 'pipe']});

async function startWorker(slots) {
  const worker = start('worker', '--concurrency', String(slots), '--lost-after', '10m');
  await once(worker.stderr, 'data');
  return worker;
}

function startRun() {
  const columns = ['--ip', 'ip', '--email', 'email'];
  const run = start(
    'run',
    input,
    '-o',
    join(directory, 'out.csv'),
    ...columns,
    '--rate',
    'unlimited',
    '--no-store',
    '--force',
  );
  run.stderr.resume();
  return run;
}

async function end(child, signal) {
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

const setLatency = ms => fetch(`${url}/_set`, {method: 'POST', body: JSON.stringify({latency: ms})});

/** Chunks that wait or are with a worker. */
async function chunksOut() {
  const [waiting, active] = await Promise.all(
    ['wait', 'active'].map(list => redis.llen(`bulk-enrich:chunks:${list}`)),
  );
  return waiting + active;
}

/** The stream of events holds the outcomes of the last chunks, whether somebody still needs them or not. */
async function eventsMemory() {
  return (await redis.memory('USAGE', 'bulk-enrich:chunks:events', 'SAMPLES', 0)) ?? 0;
}

/** From some moment on nobody answers, so that as much is out as a fleet of this size ever has. */
async function measureChunks() {
  const worker = await startWorker(2_000);
  const before = await info();
  const run = startRun();
  let chunks = 0;
  for (let same = 0; same < 4; ) {
    await sleep(1_000);
    // A run begins with a few values, and waits for what comes of them.
    if (chunks > 2) await setLatency(3_600_000);
    const now = await chunksOut();
    same = now > 2 && now === chunks ? same + 1 : 0;
    chunks = now;
  }
  const {memory} = await info();
  const events = await eventsMemory();
  await Promise.all([end(run, 'SIGKILL'), end(worker, 'SIGKILL')]);
  await redis.flushall();
  return {'chunks out': chunks, 'bytes a chunk': Math.round((memory - events - before.memory) / chunks)};
}

async function measureIdle() {
  const worker = await startWorker(concurrency);
  await sleep(2_000);
  const [before, none] = [await info(), 10];
  await sleep(none * 1_000);
  const after = await info();
  await end(worker, 'SIGTERM');
  return {
    'idle worker, commands/s': (after.commands - before.commands) / none,
    'idle worker, connections': before.clients - 1,
  };
}

async function measureRun() {
  await setLatency(latency);
  const worker = await startWorker(concurrency);
  await redis.config('RESETSTAT');
  const before = await info();
  const run = startRun();
  let most = 0;
  const watch = setInterval(async () => {
    most = Math.max(most, (await info()).memory);
  }, 100);
  await once(run, 'exit');
  clearInterval(watch);
  const after = await info();
  await end(worker, 'SIGTERM');
  const {calls} = await (await fetch(`${url}/_ledger`)).json();
  const each = name => Math.round((after[name] - before[name]) / rows);
  const megabytes = bytes => Number((bytes / 1e6).toFixed(2));
  return {
    'MB before': megabytes(before.memory),
    'MB at most': megabytes(most),
    'MB after': megabytes((await info()).memory),
    'of them events': megabytes(await eventsMemory()),
    'bytes in/call': each('in'),
    'bytes out/call': each('out'),
    'commands/call': Number(((after.commands - before.commands) / rows).toFixed(2)),
    'MB on disk': megabytes(diskUse()),
    calls,
  };
}

function diskUse() {
  return readdirSync(directory, {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile() && entry.name.includes('.aof'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

try {
  console.log(
    `${rows} distinct values, half of them IPs and half e-mail addresses; append-only file: ${persist}`,
  );
  console.table([await measureChunks()]);
  console.table([await measureIdle()]);
  console.log(`${concurrency} in flight, ${latency} ms a call`);
  console.table([await measureRun()]);
} finally {
  redis.disconnect();
  server.kill();
  api.stdin.end();
  rmSync(directory, {recursive: true, force: true});
}
