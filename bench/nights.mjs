// Sixty nights of one growing list on a clock of its own: what each night publishes and costs, with the service down on
// some nights, over budget on some, and out of time on some. Give it the dist of another version to compare.
//
//   node bench/nights.mjs [/path/to/other/dist]
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {pino} from 'pino';

// Of each night but the first, for this version alone: about half as much again as the usual night costs.
const BUDGET = Number(process.env.NIGHTS_BUDGET ?? 900);
const NIGHTS = Number(process.env.NIGHTS ?? 60);
const ROWS = Number(process.env.NIGHTS_ROWS ?? 5_000);
const DAY_MS = 86_400_000;
const BEGINNING = Date.parse('2031-01-01T02:00:00Z');
const REJECTED = 33;
const down = new Set([9, 23, 38, 52]);
const tight = new Set([15, 31, 45]);
const short = new Set([19, 48]);

const bar = (value, most) => '█'.repeat(Math.round((value / most) * 50)) || (value > 0 ? '▏' : '');
const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Answers about addresses, rejects every 33rd, and counts what it charges. */
async function startService() {
  const service = {credits: 0, isDown: false, latencyMs: 0};
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', async () => {
      if (service.latencyMs > 0) await new Promise(wait => setTimeout(wait, service.latencyMs));
      const send = (status, body) =>
        response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body));
      if (service.isDown) return send(503, {success: false, message: 'unavailable'});
      service.credits += 1;
      const {email} = JSON.parse(Buffer.concat(chunks).toString());
      if (Number(/\d+/.exec(email)?.[0]) % REJECTED === 0)
        return send(422, {success: false, message: 'email_unknown'});
      send(200, {success: true, data: {is_valid: true, trust_score: 80, normalized_email: email}});
    });
  });
  await new Promise(ready => server.listen(0, '127.0.0.1', ready));
  service.url = `http://127.0.0.1:${server.address().port}`;
  service.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return service;
}

/** The list of each night: 4% of its first length is new, and 1% has another address. The same for every version. */
function growingList() {
  const list = Array.from({length: ROWS}, (_, i) => i + 1);
  let next = ROWS;
  return night => {
    if (night > 1) {
      for (let i = 0; i < list.length * 0.01; i++) list[(night * 7_919 + i * 104_729) % list.length] = ++next;
      for (let i = 0; i < ROWS * 0.04; i++) list.push(++next);
    }
    return `id,email\n${list.map((value, id) => `${id},a${value}@example.com`).join('\n')}\n`;
  };
}

async function simulate(dist, settings) {
  const load = path => import(pathToFileURL(resolve(dist, path)).href);
  const {run} = await load('run/run.js');
  const {resolveJob} = await load('job/job.js');
  const {checkSettings, placeIn} = await load('job/parse.js');
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-nights-'));
  const service = await startService();
  const path = name => join(directory, name);
  const env = {
    BULK_ENRICH_BASE_URL: service.url,
    BULK_ENRICH_API_KEY: 'nights-key',
    XDG_CACHE_HOME: path('cache'),
    XDG_STATE_HOME: path('state'),
  };
  const listOf = growingList();
  const nights = [];
  for (let night = 1; night <= NIGHTS; night++) {
    const list = listOf(night);
    writeFileSync(path('list.csv'), list);
    rmSync(path('out.csv'), {force: true});
    Object.assign(service, {isDown: down.has(night), latencyMs: short.has(night) ? 150 : 0});
    const limits = {
      ...(night > 1 && settings.stale !== undefined ? {maxCredits: BUDGET} : {}),
      ...(tight.has(night) ? {maxCredits: 100} : {}),
      ...(short.has(night) ? {until: '1500ms'} : {}),
    };
    const common = {endpoint: 'live', email: 'email', force: true, rate: 'unlimited', concurrency: 16};
    const given = {...common, maxOutage: '0s', maxAge: {email: '30d'}, ...settings, ...limits};
    const job = resolveJob(
      {
        inputs: [path('list.csv')],
        output: path('out.csv'),
        settings: checkSettings(undefined, given),
        fromFile: true,
        placeOf: placeIn(undefined, given),
      },
      env,
      false,
    );
    const begun = performance.now();
    const before = service.credits;
    const outcome = await run(job, {
      env,
      stdin: process.stdin,
      stdout: process.stdout,
      now: () => BEGINNING + night * DAY_MS + Math.round(performance.now() - begun),
      random: Math.random,
      log: pino({level: 'silent'}),
      warn() {},
    });
    const text = existsSync(path('out.csv')) ? readFileSync(path('out.csv'), 'utf8') : '';
    const statuses = text
      .split('\n')
      .slice(1, -1)
      .map(row => row.split(',')[2]);
    nights.push({
      night,
      listed: list.split('\n').length - 2,
      rows: statuses.length,
      answered: statuses.filter(status => status === 'ok').length,
      stale: Object.values(outcome.summary?.lookups ?? {})[0]?.stale ?? 0,
      skipped: statuses.filter(status => status === 'skipped').length,
      credits: service.credits - before,
      exit: outcome.exitCode,
      why: outcome.summary?.reason ?? outcome.message,
    });
  }
  service.close();
  rmSync(directory, {recursive: true, force: true});
  return nights;
}

function show(title, nights) {
  const most = Math.max(...nights.slice(1).map(({credits}) => credits));
  console.log(`\n${title}\nnight   rows  answered  stale  skipped  exit  credits`);
  for (const {night, rows, answered, stale, skipped, exit, why, credits} of nights) {
    const cells = [
      String(night).padStart(5),
      String(rows).padStart(7),
      String(answered).padStart(10),
      String(stale).padStart(7),
      String(skipped).padStart(9),
      `${String(exit).padStart(6)}`,
      String(credits).padStart(9),
    ];
    console.log(
      `${cells.join('')} ${night === 1 ? '(first)' : bar(credits, most)}${exit === 0 ? '' : ` ${why}`}`,
    );
  }
  const later = nights.slice(1).map(({credits}) => credits);
  const total = nights.reduce((sum, {credits}) => sum + credits, 0);
  const silent = nights.filter(({rows, listed}) => rows < listed).map(({night}) => night);
  const green = nights.filter(({exit}) => exit === 0).length;
  console.log(
    `${total} credits; ${silent.length} nights without output${silent.length > 0 ? ` (${silent.join(', ')})` : ''}; ${green} nights with exit 0; after the first night the median is ${median(later)} credits, the highest ${most}: ${(most / median(later)).toFixed(2)} times`,
  );
  return total;
}

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const other = process.argv[2];
const before = other === undefined ? undefined : show(other, await simulate(other, {publishOn: 'budget'}));
const after = show('this version', await simulate(dist, {stale: '30d', publishOn: 'budget'}));
if (before !== undefined)
  console.log(`\n${before - after} credits saved: ${Math.round(((before - after) / before) * 100)}%`);
