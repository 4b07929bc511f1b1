// A signup handler's wait, fifty requests at once: an enricher with a budget of 300 ms beside a plain client, against one
// service whose answers take 150 ms in the mean, some of them far longer. Part of `npm run bench`, or alone.
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {createClient, createEnricher} from '../../dist/index.js';

const AT_ONCE = 50;
const ROUNDS = 20;
const BUDGET_MS = 300;
const apiKey = 'bench-key';

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const service = spawn(process.execPath, [bin, 'serve', '--port', '0', '--latency', '150ms'], {
  env: {...process.env, BULK_ENRICH_API_KEY: apiKey},
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [baseUrl] = await new Promise(resolve => {
  createInterface(service.stdout).once('line', line => resolve(line.match(/http:\S+/)));
});

const addressOf = n => `${11 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.1`;
const at = (times, share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];

async function measure(name, first, ask) {
  const times = [];
  let answered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const each = Array.from({length: AT_ONCE}, async (_, n) => {
      const started = performance.now();
      if (await ask(addressOf(first + round * AT_ONCE + n))) answered += 1;
      times.push(performance.now() - started);
    });
    await Promise.all(each);
  }
  times.sort((a, b) => a - b);
  const ms = share => `${at(times, share).toFixed(0).padStart(5)} ms`;
  console.log(
    `${name.padEnd(34)} median ${ms(0.5)}  p95 ${ms(0.95)}  longest ${ms(1)}  ${answered} of ${times.length} answered`,
  );
}

const client = createClient({baseUrl, apiKey});
const enricher = await createEnricher(
  {endpoint: baseUrl, ip: 'ip', rate: 'unlimited', concurrency: AT_ONCE, store: false},
  {env: {...process.env, BULK_ENRICH_API_KEY: apiKey}},
);
const budgetMs = BUDGET_MS;
console.log(`\n${ROUNDS} times ${AT_ONCE} rows at once, all distinct`);
try {
  await measure('plain client', 0, ip => client.ip(ip).then(() => true));
  await measure(`enricher, budget ${BUDGET_MS} ms`, 1_000, async ip =>
    enricher.one({ip}, {budgetMs}).then(({enrichment}) => enrichment.ip.status === 'ok'),
  );
  await measure('the same rows again', 1_000, async ip =>
    enricher.one({ip}, {budgetMs}).then(({enrichment}) => enrichment.ip.status === 'ok'),
  );
} finally {
  client.close();
  await enricher.close();
  service.kill();
}
