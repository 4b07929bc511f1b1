// `npm run bench`: the command beside a bare loop, a hand-written script and whichever peers are on the PATH, each against
// one service on loopback, in one table; then what needs no service: warm runs, plan, start, memory. Absolute figures
// drift with the machine: programs take turns, so that what to look at is one line beside another.
//
//   node bench/bench.mjs [calls] [warm] [local] [memory]      BENCH_ROWS=10000 BENCH_ROUNDS=3
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism, loadavg, tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {startService} from './service.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const rows = Number(process.env.BENCH_ROWS ?? 10_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-bench-'));
const path = name => join(directory, name);

/** What each setting asks of the programs; with `distinct` below 1 the rest of the rows repeat. */
const settings = [
  {name: 'no latency', latencyMs: 0, inFlight: 64, distinct: 1},
  {name: '20 ms', latencyMs: 20, inFlight: 64, distinct: 1},
  {name: '20 ms, 38% repeats', latencyMs: 20, inFlight: 64, distinct: 0.62},
  {name: '100 ms, 256 in flight', latencyMs: 100, inFlight: 256, distinct: 1},
  {name: '5 ms, 16 in flight', latencyMs: 5, inFlight: 16, distinct: 1},
];

const ip = i => `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

function writeInput({distinct}) {
  const values = Math.round(rows * distinct);
  const line = i => `${i},Test Person ${i},${ip(i % values)},"a, b"`;
  writeFileSync(
    path('input.csv'),
    `id,name,ip,note\n${Array.from({length: rows}, (_, i) => line(i)).join('\n')}\n`,
  );
}

const onPath = name => process.env.PATH.split(delimiter).some(folder => existsSync(join(folder, name)));
const node = (...args) => [process.execPath, ...args];
const script = name => () => node(join(here, name));
const run =
  (...more) =>
  ({inFlight}) =>
    node(
      ...[join(here, '../dist/cli/bin.js'), 'run', path('input.csv'), '-o', path('run.csv'), '--ip', 'ip'],
      ...[
        '--rate',
        'unlimited',
        '--concurrency',
        String(inFlight),
        '--no-store',
        '--force',
        '--quiet',
        ...more,
      ],
    );

const programs = {
  'node:http loop': script('bare-http.mjs'),
  'got loop': script('bare-got.mjs'),
  'hand-written script': script('hand-written.mjs'),
  'bulk-enrich': run(),
  ...(onPath('redpanda-connect') && {'redpanda-connect': connect('redpanda-connect')}),
  ...(onPath('benthos') && {benthos: connect('benthos')}),
  ...(onPath('qsv') && {'qsv fetchpost (1)': qsv}),
};

function connect(program) {
  return ({inFlight}, url) => {
    const post = {url: `${url}/intelligence/ip`, verb: 'POST', headers: {'Content-Type': 'application/json'}};
    const branch = {
      request_map: 'root = {"api_key": "bench", "ip": this.ip}',
      processors: [{http: post}],
      result_map: 'root.enrichment = this.data',
    };
    const config = {
      http: {enabled: false},
      logger: {level: 'ERROR'},
      input: {file: {paths: [path('input.csv')], scanner: {csv: {}}}},
      pipeline: {threads: inFlight, processors: [{branch}]},
      output: {file: {path: path('connect.ndjson'), codec: 'lines'}},
    };
    writeFileSync(path('connect.yaml'), JSON.stringify(config));
    rmSync(path('connect.ndjson'), {force: true});
    return [program, 'run', path('connect.yaml')];
  };
}

function qsv(_, url) {
  return [
    'qsv',
    'fetchpost',
    '--new-column',
    'answer',
    '--rate-limit',
    '0',
    '--no-store',
    `${url}/intelligence/ip`,
    'ip',
    path('input.csv'),
    '-o',
    path('qsv.csv'),
  ];
}

/** Runs a program under GNU time; resolves to its seconds, CPU seconds and MiB. */
function measure(argv, env) {
  const child = spawn('/usr/bin/time', ['-o', path('usage'), '-f', '%e %U %S %M', ...argv], {
    env: {...process.env, ...env},
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('exit', code => {
      if (code !== 0) reject(new Error(`${argv.join(' ')} ended with ${code}`));
      const [seconds, user, system, kb] = readFileSync(path('usage'), 'utf8').trim().split(/\s+/).map(Number);
      resolve({seconds, cpu: user + system, mib: kb / 1024});
    });
  });
}

async function measureAll(setting) {
  writeInput(setting);
  const service = await startService(setting.latencyMs);
  const env = {
    BENCH_URL: service.url,
    BENCH_ROWS: String(rows),
    BENCH_IN_FLIGHT: String(setting.inFlight),
    BENCH_INPUT: path('input.csv'),
    BENCH_OUTPUT: path('hand.csv'),
    BULK_ENRICH_BASE_URL: service.url,
    BULK_ENRICH_API_KEY: 'bench',
    XDG_CACHE_HOME: path('cache'),
    XDG_STATE_HOME: path('state'),
  };
  const results = Object.fromEntries(Object.keys(programs).map(name => [name, []]));
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [name, argv] of Object.entries(programs)) {
        if (name.startsWith('qsv') && setting.latencyMs > 0 && round > 0) continue;
        const usage = await measure(argv(setting, service.url), env);
        results[name].push({...usage, ...(await service.stats())});
      }
    }
  } finally {
    service.close();
  }
  return results;
}

const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function show({name, latencyMs, inFlight, distinct}, results) {
  const ideal = latencyMs === 0 ? undefined : (inFlight * 1_000) / latencyMs;
  const share = value => (ideal === undefined ? '' : (value / ideal).toFixed(2));
  console.log(
    `\n${name}: ${rows} rows, ${Math.round(rows * distinct)} values, ${inFlight} in flight${ideal === undefined ? '' : `; ideal ${ideal} calls/s`}`,
  );
  console.log(
    '| program | rows/s | of ideal | middle, of ideal | in flight at the service | first second | CPU µs/call | peak RSS MiB |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const [program, all] of Object.entries(results)) {
    if (all.length === 0) continue;
    const of = pick => median(all.map(pick));
    const cells = [
      of(({seconds}) => rows / seconds).toFixed(0),
      share(of(({seconds, calls}) => calls / seconds)),
      share(of(({perSecond}) => perSecond)),
      of(stats => stats.inFlight).toFixed(1),
      of(stats => stats.firstSecond),
      of(({cpu, calls}) => (cpu / calls) * 1e6).toFixed(0),
      of(({mib}) => mib).toFixed(0),
    ];
    console.log(`| ${program} | ${cells.join(' | ')} |`);
  }
}

const sections = {
  async calls() {
    for (const setting of settings) show(setting, await measureAll(setting));
  },
  warm: () => runScript('warm.mjs'),
  local: () => runScript('local.mjs'),
  memory: () => runScript('memory.mjs'),
};

function runScript(name) {
  console.log('');
  spawnSync(process.execPath, [join(here, name)], {stdio: 'inherit'});
}

const wanted = process.argv.slice(2);
console.log(
  `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}; medians of ${rounds} rounds`,
);
try {
  for (const [name, section] of Object.entries(sections))
    if (wanted.length === 0 || wanted.includes(name)) await section();
} finally {
  rmSync(directory, {recursive: true, force: true});
}
