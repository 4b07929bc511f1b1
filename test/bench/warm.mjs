// A warm run: every answer is in the store, so that nothing is sent (nobody listens at the base URL). Held against a plain
// copy of the same file by csv-parse and csv-stringify.
//
//   WARM_ROWS=1000000 node test/bench/warm.mjs
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {intelligenceLookup} from '../../dist/ledger/lookup.js';
import {openStore} from '../../dist/ledger/store/store.js';
import {atShares, watch} from './anon-rss.mjs';

const rows = Number(process.env.WARM_ROWS ?? 100_000);
const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-warm-'));
const path = name => join(directory, name);
const ipOf = i => `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const baseUrl = 'http://127.0.0.1:9';

const answer = i =>
  JSON.stringify({
    is_vpn: i % 7 === 0,
    is_datacenter_proxy: false,
    is_residential_proxy: false,
    is_bogon: false,
    is_tor_node: false,
    is_threat: i % 13 === 0,
    city: 'Exampleville',
    country: 'US',
    continent: 'NA',
    latitude: 12.5,
    longitude: -122.4,
    asn_number: 64496 + (i % 16),
    asn_organization: `Example Network ${i % 16}, Inc.`,
    isp: `Example Network ${i % 16}`,
  });

function writeInput() {
  const parts = ['id,name,ip,note\n'];
  for (let i = 0; i < rows; i++) parts.push(`${i},Test Person ${i},${ipOf(i)},"a, b"\n`);
  writeFileSync(path('input.csv'), parts.join(''));
}

function fillStore() {
  const store = openStore(() => path('store'), {
    scope: {endpoint: baseUrl, account: 'default'},
    terms: {answers: {ip: 0, phone: 0, email: 0, verify: 0}, rejections: 0, stale: 0},
    since: 0,
    now: Date.now,
    onTrouble: sentence => {
      throw new Error(sentence);
    },
  });
  for (let i = 0; i < rows; i++)
    store.put(intelligenceLookup('ip', ipOf(i)), {status: 'ok', data: answer(i)});
  store.close();
}

function runWarm() {
  const args = [
    'run',
    path('input.csv'),
    '-o',
    path('output.csv'),
    '--ip',
    'ip',
    '--store',
    path('store'),
    '--quiet',
  ];
  const env = {...process.env, BULK_ENRICH_BASE_URL: baseUrl, BULK_ENRICH_API_KEY: 'bench'};
  return watch(spawn(process.execPath, [bin, ...args], {env, stdio: ['ignore', 'inherit', 'inherit']}));
}

function copy() {
  const script = `
    import {createReadStream, createWriteStream} from 'node:fs';
    import {pipeline} from 'node:stream/promises';
    import {parse} from '${import.meta.resolve('csv-parse')}';
    import {stringify} from '${import.meta.resolve('csv-stringify')}';
    await pipeline(createReadStream(process.argv[1]), parse(), stringify(), createWriteStream(process.argv[2]));
  `;
  const args = ['--input-type=module', '-e', script, path('output.csv'), path('copy.csv')];
  return watch(spawn(process.execPath, args, {stdio: 'inherit'}));
}

try {
  writeInput();
  fillStore();
  const warm = await runWarm();
  const {calls, lookups} = JSON.parse(readFileSync(path('output.summary.json'), 'utf8'));
  if (warm.code !== 0 || calls.total !== 0 || lookups.ip.from_cache !== rows)
    throw new Error('the run was not warm');
  const plain = await copy();
  const perSecond = ({seconds}) => Math.round(rows / seconds);
  console.log(`${rows} rows, all values distinct, all answers in the store: 0 calls`);
  console.log(
    `warm run   ${perSecond(warm)} rows/s, anonymous memory ${atShares(warm.samples).join(' / ')} MiB at 10 / 50 / 100%`,
  );
  console.log(`plain copy ${perSecond(plain)} rows/s (csv-parse and csv-stringify, the output's width)`);
  console.log(`ratio      ${(plain.seconds / warm.seconds).toFixed(2)}`);
} finally {
  rmSync(directory, {recursive: true, force: true});
}
