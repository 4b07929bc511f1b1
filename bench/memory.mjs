// Anonymous memory over a run: 2,000,000 rows of which almost all are repeated or invalid, and the ledger and the store
// under 500,000 distinct values, with what a call costs there.
//
//   MEMORY_ROWS=2000000 MEMORY_DISTINCT=500000 node bench/memory.mjs
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createWriteStream, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {atShares, watch} from './anon-rss.mjs';
import {fromSrc} from './from-src.mjs';
import {startService} from './service.mjs';

const {Ledger, intelligenceLookup, AnswerStore} = await fromSrc(
  'ledger/run/ledger',
  'ledger/lookup-outcome',
  'ledger/answers/store',
);
const rows = Number(process.env.MEMORY_ROWS ?? 200_000);
const distinct = Number(process.env.MEMORY_DISTINCT ?? 50_000);
const IN_FLIGHT = 64;
const bin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-memory-'));
const path = name => join(directory, name);
const ipOf = i => `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

async function writeRepeats() {
  const file = createWriteStream(path('input.csv'));
  file.write('id,ip,email\n');
  for (let i = 0; i < rows; i++) {
    const email = i % 3 === 0 ? 'not an address' : `user${i % 500}@example.com`;
    if (!file.write(`${i},${ipOf(i % 1_000)},${email}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

async function repeats() {
  await writeRepeats();
  const server = await startService(0);
  const args = [
    'run',
    path('input.csv'),
    '-o',
    path('output.csv'),
    '--ip',
    'ip',
    '--email',
    'email',
    '--quiet',
  ];
  const more = ['--rate', 'unlimited', '--store', path('repeats')];
  const env = {...process.env, BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: 'bench'};
  const child = spawn(process.execPath, [bin, ...args, ...more], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const run = await watch(child);
  server.close();
  const {calls} = JSON.parse(readFileSync(path('output.summary.json'), 'utf8'));
  const rate = Math.round(rows / run.seconds);
  console.log(
    `${rows} rows, ${calls.total} calls: ${rate} rows/s, ${atShares(run.samples).join(' / ')} MiB at 10 / 50 / 100%`,
  );
}

/** What a run does with the ledger and the store for values that are all new, without the calls themselves. */
async function books() {
  const now = Date.now;
  const ledger = new Ledger(path('ledger.db'), {});
  const onTrouble = sentence => {
    throw new Error(sentence);
  };
  const store = new AnswerStore(() => path('books'), {
    scope: {endpoint: 'http://127.0.0.1:9', account: 'a'},
    judge: () => 'fresh',
    now,
    onTrouble,
  });
  const data = JSON.stringify({
    country: 'US',
    city: 'Exampleville',
    asn_organization: 'Example Networks',
    isp: 'x'.repeat(200),
  });
  const attempt = {kind: 'answered', status: 200, latencyMs: 12, data: {}, unknownFields: [], wrongTypes: []};
  const samples = [];
  let spent = 0;
  for (let from = 0; from < distinct; from += IN_FLIGHT) {
    const lookups = Array.from({length: IN_FLIGHT}, (_, i) => intelligenceLookup('ip', ipOf(from + i)));
    const startedAt = performance.now();
    ledger.find(lookups.map(({key}) => key));
    store.find(
      lookups.map(({key}) => key),
      'ip',
    );
    const booking = ({key}) => ({key, operation: 'ip', cost: 1, known: false, dispatch: 1});
    ledger.reserve(lookups.map(booking));
    const outcome = {status: 'ok', data, boughtAt: now()};
    await Promise.all(
      lookups.map(lookup =>
        ledger.record({...booking(lookup), attempt, charge: 'spent', retry: false, outcome}),
      ),
    );
    for (const lookup of lookups) store.put(lookup, outcome);
    spent += performance.now() - startedAt;
    if ((from / IN_FLIGHT) % 50 === 0)
      samples.push(Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024);
  }
  store.close();
  ledger.close();
  const cost = ((spent / distinct) * 1_000).toFixed(0);
  console.log(
    `ledger and store, ${distinct} distinct values: ${cost} µs a call, ${atShares(samples).join(' / ')} MiB at 10 / 50 / 100%`,
  );
}

try {
  await books();
  await repeats();
} finally {
  rmSync(directory, {recursive: true, force: true});
}
