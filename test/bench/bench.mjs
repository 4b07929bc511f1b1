// `npm run bench`: the command beside a bare got loop and a hand-written script, in one run, against one server.
// Absolute figures drift with the machine; the ratios, taken round by round, are what to look at.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {startBenchServer} from './server.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const rows = Number(process.env.BENCH_ROWS ?? 20_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-bench-'));
const input = join(directory, 'input.csv');
const server = await startBenchServer();

writeFileSync(
  input,
  `id,name,ip,note\n${Array.from({length: rows}, (_, i) => `${i},Test Person ${i},${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255},"a, b"`).join('\n')}\n`,
);

const programs = {
  'bare got loop': [join(here, 'bare-got.mjs')],
  'hand-written script': [join(here, 'hand-written.mjs')],
  'bulk-enrich run': [
    join(here, '../../dist/cli/bin.js'),
    'run',
    input,
    '-o',
    join(directory, 'run.csv'),
    '--ip',
    'ip',
    '--rate',
    'unlimited',
    '--concurrency',
    '64',
    '--no-cache',
    '--force',
    '--quiet',
  ],
};

function measure(args) {
  const usage = join(directory, 'usage.json');
  const env = {
    ...process.env,
    BENCH_URL: server.url,
    BENCH_ROWS: String(rows),
    BENCH_INPUT: input,
    BENCH_OUTPUT: join(directory, 'hand.csv'),
    BENCH_USAGE: usage,
    BULK_ENRICH_BASE_URL: server.url,
    BULK_ENRICH_API_KEY: 'bench',
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', join(here, 'rusage.mjs'), ...args], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('exit', code =>
      code === 0
        ? resolve(JSON.parse(readFileSync(usage, 'utf8')))
        : reject(new Error(`${args[0]} ended with ${code}`)),
    );
  });
}

const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const results = Object.fromEntries(Object.keys(programs).map(name => [name, []]));
try {
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries(programs)) results[name].push(await measure(args));
  }
} finally {
  server.close();
  rmSync(directory, {recursive: true, force: true});
}

console.log(
  `${rows} rows, all values distinct, 64 in flight, ${rounds} rounds, against ${server.kind}; medians\n`,
);
for (const [name, runs] of Object.entries(results)) {
  const perSecond = median(runs.map(run => (rows / run.wallMs) * 1000));
  const cpu = median(runs.map(run => run.cpuUs / rows));
  const rss = median(runs.map(run => run.maxRssKb / 1024));
  console.log(
    `${name.padEnd(20)} ${perSecond.toFixed(0).padStart(6)} calls/s  ${cpu.toFixed(0).padStart(4)} µs CPU a call  ${rss.toFixed(0).padStart(4)} MiB peak RSS`,
  );
}
for (const other of ['bare got loop', 'hand-written script']) {
  const ratios = results['bulk-enrich run'].map((run, i) => results[other][i].wallMs / run.wallMs);
  console.log(
    `\nbulk-enrich run / ${other}: ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
  );
}

await import('./handler.mjs');
