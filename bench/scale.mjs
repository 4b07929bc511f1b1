// One run of many rows, a tenth of them distinct and the rest known by then; and the same killed in the middle: how long
// the next session reads and hashes until it writes a new row. For a quiet hour: 10,000,000 rows take one.
//
//   SCALE_ROWS=10000000 SCALE_DISTINCT=1000000 node bench/scale.mjs
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createWriteStream, mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {atShares, watch} from './anon-rss.mjs';
import {startService} from './service.mjs';

const rows = Number(process.env.SCALE_ROWS ?? 200_000);
const distinct = Number(process.env.SCALE_DISTINCT ?? rows / 10);
const bin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const directory = mkdtempSync(join(process.env.SCALE_DIRECTORY ?? tmpdir(), 'bulk-enrich-scale-'));
const path = name => join(directory, name);
const ip = i => `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const sizeOf = name => statSync(path(name), {throwIfNoEntry: false})?.size ?? 0;
const mb = bytes => Math.round(bytes / 1e6);

async function writeInput() {
  const file = createWriteStream(path('input.csv'));
  file.write('id,name,ip,note\n');
  for (let i = 0; i < rows; i++)
    if (!file.write(`${i},Test Person ${i},${ip(i % distinct)},"a, b"\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

function start(url) {
  const args = ['run', path('input.csv'), '-o', path('out.csv'), '--ip', 'ip', '--rate', 'unlimited'];
  const more = ['--concurrency', '64', '--no-store', '--force', '--quiet'];
  const env = {...process.env, BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: 'bench', HOME: directory};
  return spawn(process.execPath, [bin, ...args, ...more], {env, stdio: ['ignore', 'ignore', 'inherit']});
}

/** Resolves once the output so far is larger than `bytes`; to the milliseconds that took. */
async function grownBeyond(bytes) {
  const startedAt = performance.now();
  while (sizeOf('out.csv.run/output.partial') <= bytes) await sleep(5);
  return performance.now() - startedAt;
}

const service = await startService(0);
try {
  await writeInput();
  console.log(`${rows} rows, ${distinct} distinct, ${mb(sizeOf('input.csv'))} MB`);
  const child = start(service.url);
  let ledgerBytes = 0;
  const timer = setInterval(() => {
    ledgerBytes = Math.max(ledgerBytes, sizeOf('out.csv.run/ledger.db'));
  }, 1_000);
  const whole = await watch(child, 250);
  clearInterval(timer);
  const outputBytes = sizeOf('out.csv');
  console.log(
    `one run: ${whole.seconds.toFixed(0)} s, ${Math.round(rows / whole.seconds)} rows/s, ${atShares(whole.samples).join(' / ')} MiB at 10 / 50 / 100%, ledger ${mb(ledgerBytes)} MB`,
  );
  rmSync(path('out.csv'));
  const killed = start(service.url);
  await grownBeyond(outputBytes / 2);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const before = sizeOf('out.csv.run/output.partial');
  const resumed = start(service.url);
  const ms = await grownBeyond(before);
  console.log(`killed at half: the next session's first new row after ${(ms / 1_000).toFixed(1)} s`);
  const rest = await watch(resumed, 250);
  if (rest.code !== 0) throw new Error(`the resumed run ended with ${rest.code}`);
} finally {
  service.close();
  rmSync(directory, {recursive: true, force: true});
}
