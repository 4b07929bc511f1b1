// Warm nights: every answer is in the store, so that nothing is sent (nobody listens at the base URL). Rows a second of
// CPU (user and system, all threads of the process), with the default scoring rules and without, held against a plain
// copy by csv-parse and csv-stringify of the same file, and of the output, which is some times as wide. Programs take
// turns. "Rows" is without what a run of one row takes: the start and the end. One list repeats its values, in the other
// each comes once.
//
//   WARM_ROWS=300000 WARM_DISTINCT=100000 WARM_LOOKUPS=ip WARM_ROUNDS=3 node bench/warm.mjs
//   WARM_LOOKUPS=ip,phone,email node bench/warm.mjs
//   WARM_PROFILE=/tmp/profiles node bench/warm.mjs     # V8's profiles of one run with scoring and one without
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {fromSrc} from './from-src.mjs';

const {intelligenceLookup, AnswerStore, scopeKey} = await fromSrc(
  'ledger/lookup-outcome',
  'ledger/answers/store',
  'ledger/answers/store-file',
);

const rows = Number(process.env.WARM_ROWS ?? 300_000);
const distinct = Math.min(rows, Number(process.env.WARM_DISTINCT ?? 100_000));
const rounds = Number(process.env.WARM_ROUNDS ?? 3);
const lookups = (process.env.WARM_LOOKUPS ?? 'ip').split(',');
const bin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const rusage = fileURLToPath(new URL('rusage.mjs', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-warm-'));
const path = name => join(directory, name);
const baseUrl = 'http://127.0.0.1:9';

const values = {
  ip: i => `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
  phone: i => `+1202${200 + Math.floor(i / 10_000)}${String(i % 10_000).padStart(4, '0')}`,
  email: i => `person${i}@example.com`,
};

const answers = {
  ip: i => ({
    is_vpn: i % 7 === 0,
    is_datacenter_proxy: false,
    is_residential_proxy: false,
    is_bogon: false,
    is_tor_node: false,
    is_threat: i % 13 === 0,
    city: 'Exampleville',
    country: 'US',
    continent: 'NA',
    latitude: Number((((i % 18_000) + 0.37) / 100 - 90).toFixed(4)),
    longitude: Number((((i % 35_989) + 0.37) / 100 - 180).toFixed(4)),
    asn_number: 64496 + (i % 16),
    asn_organization: `Example Network ${i % 16}, Inc.`,
    isp: `Example Network ${i % 16}`,
  }),
  phone: i => ({is_valid: true, country: 'US', line_type: i % 5 === 0 ? 'VOIP' : 'MOBILE'}),
  email: i => ({
    is_valid: true,
    is_trusted: i % 9 !== 0,
    has_aliasing: false,
    trust_score: i % 100,
    normalized_email: `person${i}@example.com`,
    domain: 'example.com',
  }),
};

/** Values repeat as they do in a list: not side by side, and not in turns. */
const valueAt = (row, distinct) => (row < distinct ? row : (row * 7_919) % distinct);

function writeInput(name, count, distinct) {
  const parts = [`id,name,${lookups.join(',')},note\n`];
  for (let row = 0; row < count; row++) {
    const cells = lookups.map(lookup => values[lookup](valueAt(row, distinct)));
    parts.push(`${row},Test Person ${row},${cells.join(',')},"a, b"\n`);
  }
  writeFileSync(path(name), parts.join(''));
}

function fillStore() {
  const store = new AnswerStore(() => path('store'), {
    scope: scopeKey({endpoint: baseUrl, label: 'default'}),
    judge: () => 'fresh',
    now: Date.now,
    onTrouble: sentence => {
      throw new Error(sentence);
    },
  });
  for (const lookup of lookups)
    for (let i = 0; i < rows; i++)
      store.put({
        ...intelligenceLookup(lookup, values[lookup](i)),
        outcome: {status: 'ok', data: JSON.stringify(answers[lookup](i)), boughtAt: Date.now()},
      });
  store.close();
}

/** Runs node with these arguments; what it used, as rusage.mjs says it. */
function used(args) {
  const usage = path('usage.json');
  const own = {HOME: directory, XDG_CACHE_HOME: directory, XDG_STATE_HOME: directory, BENCH_USAGE: usage};
  const env = {...process.env, ...own, BULK_ENRICH_BASE_URL: baseUrl, BULK_ENRICH_API_KEY: 'bench'};
  const child = spawn(process.execPath, ['--import', rusage, ...args], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => {
      if (code !== 0) reject(new Error(`ended with ${code}`));
      else resolve(JSON.parse(readFileSync(usage, 'utf8')));
    });
  });
}

async function warmRun(input, score, flags = []) {
  const columns = lookups.flatMap(lookup => [`--${lookup}`, lookup]);
  const args = ['run', path(input), '-o', path('output.csv'), ...columns, '--store', path('store')];
  const usage = await used([...flags, bin, ...args, '--score', score, '--quiet', '--force']);
  const summary = JSON.parse(readFileSync(path('output.summary.json'), 'utf8'));
  if (summary.calls.total !== 0) throw new Error('the run was not warm');
  return usage;
}

const COPY = `
  import {createReadStream, createWriteStream} from 'node:fs';
  import {pipeline} from 'node:stream/promises';
  import {parse} from '${import.meta.resolve('csv-parse')}';
  import {stringify} from '${import.meta.resolve('csv-stringify')}';
  await pipeline(createReadStream(process.argv[1]), parse(), stringify(), createWriteStream(process.argv[2]));
`;
const copy = name => used(['--input-type=module', '-e', COPY, path(name), path('copy.csv')]);

const median = all => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];

/** The same rows with values that come again, and with values of which each comes once. */
const lists = {repeated: distinct, distinct: rows};
const programsOf = list => ({
  'plain copy of the input': () => copy(`${list}.csv`),
  'plain copy of the output': () => copy('output.csv'),
  'warm run, no score': () => warmRun(`${list}.csv`, 'none'),
  'warm run, default score': () => warmRun(`${list}.csv`, 'default'),
});
const starts = {copy: () => copy('one.csv'), warm: () => warmRun('one.csv', 'default')};

try {
  for (const [list, count] of Object.entries(lists)) writeInput(`${list}.csv`, rows, count);
  writeInput('one.csv', 1, 1);
  fillStore();
  if (process.env.WARM_PROFILE !== undefined)
    for (const list of Object.keys(lists))
      for (const score of ['none', 'default'])
        await warmRun(`${list}.csv`, score, [
          '--cpu-prof',
          `--cpu-prof-dir=${process.env.WARM_PROFILE}/${list}-${score}`,
        ]);
  const start = {};
  for (const [name, measure] of Object.entries(starts)) start[name] = (await measure()).cpuUs;
  if (rounds > 0) for (const list of Object.keys(lists)) await compare(list, start);
} finally {
  rmSync(directory, {recursive: true, force: true});
}

async function compare(list, start) {
  const programs = programsOf(list);
  await warmRun(`${list}.csv`, 'default');
  const width = (statSync(path('output.csv')).size / statSync(path(`${list}.csv`)).size).toFixed(1);
  console.log(
    `${rows} rows, ${lists[list]} values each of ${lookups}, all known; output ${width} times as wide`,
  );
  const all = Object.fromEntries(Object.keys(programs).map(name => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, measure] of Object.entries(programs)) all[name].push(await measure());
  const figures = Object.entries(all).map(([name, usages]) => {
    const cpu = median(usages.map(({cpuUs}) => cpuUs));
    const begun = start[name.startsWith('warm') ? 'warm' : 'copy'];
    const [least, most] = [Math.min, Math.max].map(of => of(...usages.map(({cpuUs}) => cpuUs)));
    const wall = median(usages.map(({wallMs}) => wallMs));
    const memory = Math.round(median(usages.map(({maxRssKb}) => maxRssKb)) / 1024);
    return {name, whole: rows / cpu, rowPhase: rows / (cpu - begun), cpu, least, most, wall, memory};
  });
  const [plain, wide] = figures;
  console.log(
    'program | rows/s | of input copy | of output copy | whole | of input copy | wall rows/s | CPU s | MB',
  );
  for (const {name, whole, rowPhase, cpu, least, most, wall, memory} of figures)
    console.log(
      [
        name.padEnd(24),
        Math.round(rowPhase * 1e6),
        (rowPhase / plain.rowPhase).toFixed(2),
        (rowPhase / wide.rowPhase).toFixed(2),
        Math.round(whole * 1e6),
        (whole / plain.whole).toFixed(2),
        Math.round((rows / wall) * 1e3),
        `${(cpu / 1e6).toFixed(2)} (${(least / 1e6).toFixed(2)} to ${(most / 1e6).toFixed(2)})`,
        memory,
      ].join(' | '),
    );
}
