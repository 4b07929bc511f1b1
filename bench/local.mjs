// What needs no service: rows a second of `plan` with three columns beside a plain copy of the list, `--help` beside `node -e 0`, and how soon a run says
// something.
//
//   LOCAL_ROWS=300000 node bench/local.mjs
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const rows = Number(process.env.LOCAL_ROWS ?? 200_000);
const bin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-local-'));
const input = join(directory, 'input.csv');
const env = {...process.env, HOME: directory, XDG_CACHE_HOME: directory, XDG_STATE_HOME: directory};

const line = i =>
  `${i},1.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255},+1202555${String(i % 10_000).padStart(4, '0')},user${i}@example.com\n`;
writeFileSync(input, `id,ip,phone,email\n${Array.from({length: rows}, (_, i) => line(i)).join('')}`);

/** Milliseconds, the least of several runs. */
function least(args, times = 5, code = 0) {
  const all = Array.from({length: times}, () => {
    const startedAt = performance.now();
    const {status} = spawnSync(process.execPath, args, {env, stdio: 'ignore'});
    if (status !== code) throw new Error(`${args.join(' ')} ended with ${status}`);
    return performance.now() - startedAt;
  });
  return Math.min(...all);
}

/** Milliseconds until the first byte at a terminal, which util-linux's `script` makes; it takes a few itself. */
async function firstOutput(args) {
  const command = [process.execPath, ...args].map(word => `'${word}'`).join(' ');
  const startedAt = performance.now();
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: {...env, TERM: 'xterm', CI: ''},
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await new Promise(resolve => child.stdout.once('data', resolve));
  const ms = performance.now() - startedAt;
  process.kill(-child.pid, 'SIGKILL');
  return ms;
}

const columns = ['--ip', 'ip', '--phone', 'phone', '--email', 'email'];
try {
  const planMs = least([bin, 'plan', input, ...columns, '--endpoint', 'embedded'], 2);
  const copyMs = least([fileURLToPath(new URL('copy.mjs', import.meta.url)), input, '/dev/null'], 2);
  const perSecond = ms => Math.round((rows / ms) * 1_000);
  console.log(
    `plan, three columns: ${perSecond(planMs)} rows/s (${rows} rows), ${(copyMs / planMs).toFixed(2)} of the plain copy's ${perSecond(copyMs)}`,
  );
  const bareMs = least(['-e', '0']);
  const helpMs = least([bin, '--help']);
  console.log(`--help: ${helpMs.toFixed(0)} ms, ${(helpMs / bareMs).toFixed(2)} times node -e 0`);
  const one = join(directory, 'one.csv');
  writeFileSync(one, `id,ip\n${line(0).split(',').slice(0, 2).join(',')}\n`);
  const oneRow = [bin, 'run', one, '-o', `${one}.out`, '--ip', 'ip', '--endpoint', 'embedded', '--force'];
  const client = new URL('../dist/client.js', import.meta.url);
  const starts = {
    'a list of one row, embedded service': [oneRow, 0],
    'a list that is missing': [
      [bin, 'run', join(directory, 'missing.csv'), '--ip', 'ip', '--endpoint', 'embedded'],
      8,
    ],
    "an import of the library's client": [['--input-type=module', '-e', `import '${client}'`], 0],
  };
  for (const [name, [args, code]] of Object.entries(starts)) {
    const ms = least(args, 7, code);
    console.log(`${name}: ${ms.toFixed(0)} ms, ${(ms / bareMs).toFixed(2)} times node -e 0`);
  }
  const run = [
    'run',
    input,
    '-o',
    join(directory, 'out.csv'),
    '--ip',
    'ip',
    '--endpoint',
    'embedded',
    '--force',
  ];
  const first = [];
  for (let n = 0; n < 5; n++) {
    first.push(await firstOutput([bin, ...run]));
    rmSync(join(directory, 'out.csv.run'), {recursive: true, force: true});
  }
  console.log(`run: first output after ${Math.min(...first).toFixed(0)} ms`);
} finally {
  rmSync(directory, {recursive: true, force: true});
}
