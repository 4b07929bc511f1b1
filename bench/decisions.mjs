// `diff` and `score` beside a plain copy of the same output, with their anonymous memory at 10, 50 and 100% of the way.
// The new output has its rows in the order of the old one (1% new, gone or changed each), then in another order, where all
// rows wait on disk for their partners.
//
//   npm run --silent build && node bench/decisions.mjs                     200,000 rows
//   DECISION_ROWS=2000000 node bench/decisions.mjs                         the full size, some minutes on a quiet machine
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createWriteStream, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {atShares, watch} from './anon-rss.mjs';
import {fromSrc} from './from-src.mjs';

const rows = Number(process.env.DECISION_ROWS ?? 200_000);
const here = fileURLToPath(new URL('.', import.meta.url));
const bin = join(here, '../dist/cli/bin.js');
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-decisions-'));
const path = name => join(directory, name);
const {fieldsOfOperation} = await fromSrc('output/result-columns');

const fields = fieldsOfOperation('ip').map(({name}) => `ip_${name}`);
const head = [
  'id',
  'name',
  'ip',
  'ip_status',
  'ip_error',
  ...fields,
  'risk_score',
  'risk_level',
  'risk_reasons',
];
const values = {
  ip_city: 'Exampleville',
  ip_country: 'US',
  ip_asn_number: '64500',
  ip_asn_organization: 'Example Networks',
};

function line(id, isVpn) {
  const answers = fields.map(
    name => values[name] ?? (name === 'ip_is_vpn' ? isVpn : name.startsWith('ip_is_') ? 'false' : ''),
  );
  const risk = isVpn ? ['40', 'medium', '"[""vpn""]"'] : ['0', 'low', '[]'];
  const ip = `${1 + (id >> 24)}.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`;
  return `${[id, `Test Person ${id}`, ip, 'ok', '', ...answers, ...risk].join(',')}\n`;
}

async function write(name, lineOf) {
  const file = createWriteStream(path(name));
  file.write(`${head.join(',')}\n`);
  for (let n = 0; n < rows; n++) if (!file.write(lineOf(n))) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

const run = (...args) =>
  watch(
    spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {...process.env, HOME: directory},
    }),
  );

/** Prime to all sizes in use, so that each row comes once. */
const FAR = 7_368_787;

try {
  await write('old.csv', n => line(n, false));
  await write('new.csv', n => line(n % 100 === 1 ? rows + n : n, n % 100 === 2));
  await write('shuffled.csv', n => line((n * FAR) % rows, false));
  writeFileSync(
    path('rules.yaml'),
    'rules:\n  - {when: ip.is_vpn, add: 30, reason: vpn}\n  - {when: ip.asn_number == 64500 && ip.country != "DE", add: 20, reason: network}\n',
  );
  console.log(
    `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}, ${rows} rows`,
  );
  const copy = await run(join(here, 'copy.mjs'), path('new.csv'), path('copy.csv'));
  const pace = (name, read, {seconds, samples}) =>
    console.log(
      `${name}: ${Math.round(read / seconds)} rows/s, ${(read / seconds / (rows / copy.seconds)).toFixed(2)} of the plain copy's; ${atShares(samples).join(' / ')} MiB at 10 / 50 / 100%`,
    );
  pace('plain copy', rows, copy);
  const diff = fresh =>
    run(bin, 'diff', path('old.csv'), path(fresh), '--key', 'id', '-o', path('changes.csv'), '--force');
  pace('diff, rows of both read', 2 * rows, await diff('new.csv'));
  pace('diff, in another order', 2 * rows, await diff('shuffled.csv'));
  const score = [
    bin,
    'score',
    path('new.csv'),
    '--rules',
    path('rules.yaml'),
    '-o',
    path('scored.csv'),
    '--force',
  ];
  pace('score', rows, await run(...score));
} finally {
  rmSync(directory, {recursive: true, force: true});
}
