// `node bench/score.mjs`: what scoring adds to a run whose answers are all known (warm store). The same rows are
// run with 20 rules and without, in turn. On a busy machine only the profile's share means anything.
import {spawn} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = join(here, '../dist/cli/bin.js');
const rows = Number(process.env.BENCH_ROWS ?? 100_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const distinct = Number(process.env.BENCH_DISTINCT ?? 20_000);
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-score-'));
const input = join(directory, 'input.csv');
const rules = join(directory, 'rules.yaml');
const profiles = join(directory, 'profiles');

const ip = i => `${1 + (i % 8)}.${(i >> 8) & 255}.${i & 255}.${1 + (i % 250)}`;
const lines = Array.from({length: rows}, (_, n) => {
  const i = n % distinct;
  return `${n},Test Person ${n},${ip(i)},person${i}@example.com,US`;
});
writeFileSync(input, `id,name,ip,email,country\n${lines.join('\n')}\n`);

const conditions = [
  ...['is_vpn', 'is_datacenter_proxy', 'is_bogon', 'is_tor_node'].map(field => `ip.${field}`),
  ...['!email.is_valid', '!email.is_trusted', 'email.has_aliasing', 'email.trust_score < 30'],
  ...['status.ip == "invalid"', 'status.email == "invalid"', 'ip.country in ["AQ", "XX"]'],
  ...['ip.country != row.country', 'ip.asn_number == 64500', 'ip.is_vpn && !email.is_trusted'],
  ...['ip.is_tor_node || ip.is_bogon', 'email.domain.endsWith(".example")', 'ip.latitude > 66.5'],
  ...['ip.continent == "AN"', 'has(email.domain) && email.trust_score + 5 < 20', 'status.email == "empty"'],
];
writeFileSync(
  rules,
  `rules:\n${conditions.map((when, n) => `  - {when: ${JSON.stringify(when)}, add: 5, reason: r${n}}`).join('\n')}\n`,
);

function run(score, output, flags = []) {
  const args = [
    'run',
    input,
    '-o',
    join(directory, output),
    '--ip',
    'ip',
    '--email',
    'email',
    '--score',
    score,
  ];
  const usage = join(directory, 'usage.json');
  const env = {
    ...process.env,
    BENCH_USAGE: usage,
    BENCH_ROWS: String(rows),
    HOME: directory,
    XDG_CACHE_HOME: directory,
  };
  const more = ['--endpoint', 'embedded', '--force', '--quiet', '--concurrency', '64'];
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [...flags, '--import', join(here, 'rusage.mjs'), bin, ...args, ...more],
      {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    child.on('exit', code =>
      code === 0 ? resolve(JSON.parse(readFileSync(usage, 'utf8'))) : reject(new Error(`ended with ${code}`)),
    );
  });
}

/** The share of a profile's working time that is inside of scoring, callees of its own modules and CEL included. */
function profiledShare() {
  const name = readdirSync(profiles).find(file => file.endsWith('.cpuprofile'));
  const {nodes, samples, timeDeltas} = JSON.parse(readFileSync(join(profiles, name), 'utf8'));
  const byId = new Map(nodes.map(node => [node.id, node]));
  const parents = new Map(nodes.flatMap(node => (node.children ?? []).map(child => [child, node.id])));
  const scoring = new Map();
  const isScoring = id => {
    if (id === undefined) return false;
    if (!scoring.has(id)) {
      const {url} = byId.get(id).callFrame;
      scoring.set(id, /\/(score|cel-js)\//.test(url) || isScoring(parents.get(id)));
    }
    return scoring.get(id);
  };
  let all = 0;
  let inside = 0;
  for (const [index, id] of samples.entries()) {
    if (['(idle)', '(program)'].includes(byId.get(id).callFrame.functionName)) continue;
    all += timeDeltas[index];
    if (isScoring(id)) inside += timeDeltas[index];
  }
  return {share: (inside / (all - inside)) * 100, perRow: inside / rows};
}

const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const shown = values =>
  `${median(values).toFixed(1)}% (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
try {
  await run('none', 'warm-up.csv');
  await run(rules, 'profiled.csv', ['--cpu-prof', `--cpu-prof-dir=${profiles}`]);
  const {share, perRow} = profiledShare();
  console.log(
    `in a profile of one run, scoring is ${share.toFixed(1)}% on top of the rest: ${perRow.toFixed(1)} µs a row`,
  );
  const cpu = [];
  const wall = [];
  const costs = [];
  for (let round = 0; round < rounds; round++) {
    const without = await run('none', 'without.csv');
    const scored = await run(rules, 'scored.csv');
    cpu.push((scored.cpuUs / without.cpuUs - 1) * 100);
    wall.push((scored.wallMs / without.wallMs - 1) * 100);
    costs.push((scored.cpuUs - without.cpuUs) / rows);
    console.log(
      `round ${round + 1}: ${(without.wallMs / 1e3).toFixed(2)} s without, ${(scored.wallMs / 1e3).toFixed(2)} s with ${conditions.length} rules`,
    );
  }
  console.log(`${rows} rows of two lookups, ${distinct} distinct values each, all answers known`);
  if (rounds > 0)
    console.log(
      `scoring adds ${shown(cpu)} of CPU time, ${shown(wall)} of wall time; ${median(costs).toFixed(1)} µs a row`,
    );
} finally {
  rmSync(directory, {recursive: true, force: true});
}
