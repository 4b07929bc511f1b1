// The API server as a process of its own, so that a load test does not share an event loop with its client.
// Plain JavaScript, as it must run on a Node that can't run TypeScript. It prints its URL and ends with its stdin.
//
//   node api-process.mjs --key K [--port 0] [--latency MS] [--limit PER_SECOND] [--counters-only]
//                        [--error RATE] [--seed N] [--faults 500,503,429,reset,cut] [--faults-per-value 2]
//                        [--operations JSON] (by default ip alone)
//
// GET /_ledger tells the books; GET /_values the calls for each value; POST /_set changes key, latency, limit, error,
// hold (calls after so many are not answered until it is null);
// POST /_reset begins new books, in which nothing was asked for.
import {createServer} from 'node:http';
import {parseArgs} from 'node:util';
import {answer, hash, isCharged, price, refusal, SlidingCount} from './api-server-core.mjs';

const {values: flags} = parseArgs({
  options: {
    key: {type: 'string'},
    port: {type: 'string', default: '0'},
    latency: {type: 'string', default: '0'},
    limit: {type: 'string'},
    error: {type: 'string', default: '0'},
    seed: {type: 'string', default: '1'},
    faults: {type: 'string', default: '500,503,429,reset,cut'},
    'faults-per-value': {type: 'string', default: '2'},
    'counters-only': {type: 'boolean', default: false},
    operations: {type: 'string', default: '[{"name":"ip","path":"/intelligence/ip","field":"ip"}]'},
  },
});

/** Path → operation. */
const operations = Object.fromEntries(
  JSON.parse(flags.operations).map(operation => [operation.path, operation]),
);

const settings = {
  key: flags.key,
  latency: Number(flags.latency),
  limit: flags.limit === undefined ? null : Number(flags.limit),
  error: Number(flags.error),
  hold: null,
};
/** What waits for `hold` to be lifted. */
const held = [];
const faults = flags.faults.split(',');
const seed = Number(flags.seed);
const faultsPerValue = Number(flags['faults-per-value']);

const newBooks = () => ({
  requests: 0,
  calls: 0,
  charged: 0,
  credits: 0,
  by_operation: Object.fromEntries(Object.values(operations).map(({name}) => [name, 0])),
  by_status: {},
  connections: 0,
  peak_in_flight: 0,
  wrong_key: 0,
  key_elsewhere: 0,
  violations: 0,
});
let books = newBooks();
let calls = new Map();
let arrivals = new SlidingCount();
const passed = new SlidingCount();
let inFlight = 0;

function reset() {
  books = newBooks();
  calls = new Map();
  arrivals = new SlidingCount();
}

function ledger() {
  let repeated = 0;
  for (const n of calls.values()) if (n > 1) repeated++;
  return {...books, distinct: calls.size, repeated, max_per_second: arrivals.peak};
}

function sendJson(res, status, text, headers) {
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
}

function refuse(res, status, message, headers) {
  sendJson(res, status, JSON.stringify({success: false, message}), headers);
}

/** The fault for a call, from the seed, the value and its attempt alone: the order of calls changes nothing. */
function faultFor(id, attempt) {
  if (settings.error === 0 || attempt > faultsPerValue) return undefined;
  if (hash(`${id} ${attempt}`, seed) / 2 ** 32 >= settings.error) return undefined;
  return faults[hash(`${id} ${attempt}`, seed + 1) % faults.length];
}

/** What to answer: one of the kinds that `perform` knows. */
function decide(body, id, attempt) {
  if (body.api_key !== settings.key) return '401';
  const fault = faultFor(id, attempt);
  if (fault || settings.limit === null) return fault ?? '200';
  const now = performance.now();
  if (passed.count(now) >= settings.limit) return '429';
  passed.add(now);
  return '200';
}

function perform(res, kind, operation, body, attempt) {
  const code = refusal(operation, body);
  const own = () => JSON.stringify(answer(operation, body, operation === 'verify' && attempt > 1));
  if (kind === '200' && code !== undefined) refuse(res, 400, code);
  else if (kind === '200') sendJson(res, 200, own());
  else if (kind === '401') refuse(res, 401, 'invalid_token');
  else if (kind === '429') refuse(res, 429, 'rate_limited', {'Retry-After': '1'});
  else if (kind === '503') refuse(res, 503, 'unavailable', {'Retry-After': '1'});
  else if (kind === 'reset') res.socket?.resetAndDestroy();
  else if (kind === 'cut') cut(res, own());
  else if (kind !== 'stall') refuse(res, Number(kind), 'internal');
}

function cut(res, text) {
  res.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text)});
  res.write(text.slice(0, 20), () => res.socket?.destroy());
}

function onCall(req, res, text) {
  const operation = operations[req.url];
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const value = body?.[operation.field];
  if (typeof value !== 'string') {
    books.violations++;
    refuse(res, 400, 'invalid_request');
    return;
  }
  books.calls++;
  books.by_operation[operation.name]++;
  if (body.api_key !== settings.key) books.wrong_key++;
  const id = `${operation.name} ${value}`;
  const attempt = (calls.get(id) ?? 0) + 1;
  if (!flags['counters-only']) calls.set(id, attempt);
  const kind = decide(body, id, attempt);
  books.by_status[kind] = (books.by_status[kind] ?? 0) + 1;
  if (isCharged(Number(kind), true)) {
    books.charged++;
    books.credits += price(operation.name, body);
  }
  const proceed = () => {
    if (settings.latency > 0) setTimeout(perform, settings.latency, res, kind, operation.name, body, attempt);
    else perform(res, kind, operation.name, body, attempt);
  };
  if (settings.hold !== null && books.calls > settings.hold) held.push(proceed);
  else proceed();
}

function onControl(req, res, text) {
  if (req.url === '/_ledger') sendJson(res, 200, JSON.stringify(ledger()));
  else if (req.url === '/_values') sendJson(res, 200, JSON.stringify(Object.fromEntries(calls)));
  else if (req.url === '/_set') {
    Object.assign(settings, JSON.parse(text));
    if (settings.hold === null) for (const proceed of held.splice(0)) proceed();
    sendJson(res, 200, JSON.stringify(settings));
  } else if (req.url === '/_reset') {
    reset();
    sendJson(res, 200, '{}');
  } else {
    books.violations++;
    refuse(res, 404, 'not_found');
  }
}

function onRequest(req, res) {
  const isCall = operations[req.url] !== undefined && req.method === 'POST';
  if (!req.url.startsWith('/_')) {
    books.requests++;
    arrivals.add(performance.now());
    if (req.url.includes(settings.key) || req.rawHeaders.some(text => text.includes(settings.key)))
      books.key_elsewhere++;
    books.peak_in_flight = Math.max(books.peak_in_flight, ++inFlight);
    res.once('close', () => inFlight--);
  }
  let text = '';
  req.setEncoding('utf8');
  req.on('data', chunk => {
    text += chunk;
  });
  req.once('end', () => (isCall ? onCall : onControl)(req, res, text));
}

if (!settings.key) throw new Error('--key is needed');
const server = createServer(onRequest);
server.keepAliveTimeout = 0;
server.requestTimeout = 0;
server.on('connection', () => books.connections++);
server.listen(Number(flags.port), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));
