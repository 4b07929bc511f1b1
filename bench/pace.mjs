// How near to the ideal the command comes at services as they are: limits, refusals, slow answers, outages.
//
//   node bench/pace.mjs [SERVICE]      PACE_VALUES=600; SERVICE: the beginning of a name; --rates measures the busiest second
//
// "answered/s" counts from the first answer to the last. "refused": calls with 429 or 503. "busiest": calls in the busiest
// sliding second, as the service sees them arrive.
import {fork, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const luckOf = seed => () => {
  seed = (seed + 0x6d2b79f5) >>> 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const ok = {status: 200};
const busy = (waitS = 0, status = 429) => ({status, waitS});
const always = () => () => ok;
const share = (p, other) => () => {
  const luck = luckOf(7);
  return () => (luck() < p ? other : ok);
};
const bucketOf = (rate, burst) => {
  let level = burst;
  let last = 0;
  return t => {
    level = Math.min(burst, level + ((t - last) / 1_000) * rate);
    last = t;
    if (level < 1) return false;
    level -= 1;
    return true;
  };
};
const bucket = (rate, burst, waitS) => () => {
  const may = bucketOf(rate, burst);
  return ({t}) => (may(t) ? ok : busy(waitS));
};
const windowed = (count, ms) => () => {
  let [start, n] = [0, 0];
  return ({t}) => {
    if (t - start >= ms) [start, n] = [t - (t % ms), 0];
    return n++ < count ? ok : busy(Math.ceil((start + ms - t) / 1_000));
  };
};
/** A bucket that another client empties by half of its rate. */
const shared = () => {
  const may = bucketOf(60, 60);
  let other = 0;
  return ({t}) => {
    for (; other < t; other += 1_000 / 30) may(other);
    return may(t) ? ok : busy();
  };
};

/** Name, rate, latency in ms, service, ideal in calls a second. */
const services = [
  ['calm, 50/s', '50/s', 20, always, 50],
  ['answers take 1.5 s, 40/s', '40/s', 1_500, always, 40],
  ['4% 503 with Retry-After: 1', '50/s', 20, share(0.04, busy(1, 503)), 48],
  ['4% 429 with Retry-After: 1', '50/s', 20, share(0.04, busy(1)), 16.2],
  ['5% 429 without a word', '50/s', 20, share(0.05, busy()), 47.5],
  ['8% 500', '50/s', 20, share(0.08, {status: 500}), 46],
  ['bucket of 40/s under 200/s, Retry-After: 1', '200/s', 20, bucket(40, 40, 1), 40],
  ['bucket of 40/s under 200/s, without a word', '200/s', 20, bucket(40, 40, 0), 40],
  ['150 in each 5 s, Retry-After', '200/s', 20, windowed(150, 5_000), 30],
  [
    '8 at once, 100 ms',
    '200/s',
    100,
    () =>
      ({open}) =>
        open > 8 ? busy() : ok,
    80,
  ],
  ['a quota of 60/s that another client uses by half', '100/s', 20, () => shared(), 30],
  [
    'latency that rises with load',
    '200/s',
    50,
    () =>
      ({open}) => ({...ok, ms: 50 + Math.max(0, open - 8) * 6.25}),
    160,
  ],
  [
    'away from second 3 to 63',
    '50/s',
    20,
    () =>
      ({t}) =>
        t > 3_000 && t < 63_000 ? {status: 'reset'} : ok,
    600 / 72,
  ],
];
const rates = [10, 100, 500, 1_000, 2_000].map(rate => [`${rate}/s`, `${rate}/s`, 20, always, rate]);
const all = process.argv.includes('--rates') ? rates : services;

if (process.send !== undefined) serve(all[Number(process.argv.at(-1))]);
else await measure();

/** The service, in a process of its own. */
function serve([, , latencyMs, make]) {
  const answer = make();
  let [open, begun] = [0, 0];
  const arrived = [];
  const answered = [];
  let refused = 0;
  const server = createServer((request, response) => {
    const now = performance.now();
    begun ||= now;
    arrived.push(now);
    open += 1;
    const {
      status,
      waitS,
      ms = status === 200 || status === 500 ? latencyMs : 5,
    } = answer({t: now - begun, open});
    request.resume().on('end', () =>
      setTimeout(() => {
        open -= 1;
        if (status === 'reset') return request.destroy();
        if (status === 200) answered.push(performance.now());
        else if (status !== 500) refused += 1;
        response.writeHead(status, {
          'Content-Type': 'application/json',
          ...(waitS > 0 && {'Retry-After': waitS}),
        });
        response.end(
          status === 200
            ? '{"success":true,"data":{"is_vpn":false,"country":"DE"}}'
            : '{"success":false,"message":"busy"}',
        );
      }, ms),
    );
  });
  process.on('message', () => {
    let busiest = 0;
    for (let [from, to] = [0, 0]; to < arrived.length; to++) {
      while (arrived[to] - arrived[from] >= 1_000) from += 1;
      busiest = Math.max(busiest, to - from + 1);
    }
    const seconds = (answered.at(-1) - answered[0]) / 1_000;
    process.send({
      perSecond: (answered.length - 1) / seconds,
      answered: answered.length,
      refused,
      busiest,
      calls: arrived.length,
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({port: server.address().port}));
}

async function measure() {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-pace-'));
  const wanted = process.argv.slice(2).find(word => !word.startsWith('--')) ?? '';
  const told = child => new Promise(resolve => child.once('message', resolve));
  const flags = process.argv.slice(2).filter(word => word.startsWith('--'));
  try {
    console.log(
      '| service | answered/s | ideal | share | refused of calls | busiest second |\n|---|---|---|---|---|---|',
    );
    for (const [index, [name, rate, , , ideal]] of all.entries()) {
      if (!name.startsWith(wanted)) continue;
      const values = Number(
        process.env.PACE_VALUES ?? (flags.includes('--rates') ? Math.max(100, ideal * 10) : 600),
      );
      const ips = Array.from(
        {length: values},
        (_, i) => `9.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}\n`,
      );
      writeFileSync(join(directory, 'list.csv'), `ip\n${ips.join('')}`);
      const service = fork(fileURLToPath(import.meta.url), [...flags, String(index)]);
      const {port} = await told(service);
      const command = [
        fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url)),
        'run',
        'list.csv',
        '-o',
        'out.csv',
      ];
      const how = [
        '--rate',
        rate,
        '--no-store',
        '--force',
        '--quiet',
        '--yes',
        '--endpoint',
        `http://127.0.0.1:${port}`,
      ];
      const run = spawn(process.execPath, [...command, ...how], {
        cwd: directory,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {...process.env, BULK_ENRICH_API_KEY: 'bench', BULK_ENRICH_BASE_URL: `http://127.0.0.1:${port}`},
      });
      await new Promise(resolve => run.once('close', resolve));
      service.send('end');
      const {perSecond, answered, refused, busiest, calls} = await told(service);
      service.kill();
      const lost = answered < values ? ` (${values - answered} not answered)` : '';
      console.log(
        `| ${name} | ${perSecond.toFixed(1)}${lost} | ${ideal.toFixed(1)} | ${(perSecond / ideal).toFixed(2)} | ${refused} of ${calls} | ${busiest} |`,
      );
    }
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
}
