// The service that every program of a bench run is measured against, as lean as one on Node can be: it reads HTTP by
// hand, answers each POST after SERVICE_LATENCY_MS with one fixed answer, and notes when calls came and how many it had
// at a time. `GET /stats` tells and begins anew.

import {spawn} from 'node:child_process';
import {createServer} from 'node:net';
import {fileURLToPath} from 'node:url';
import {answer} from '../test/support/api-server-core.mjs';

const ANSWER = JSON.stringify(answer('ip', {ip: '203.0.113.7'}));

/** Starts it in a process of its own; BENCH_SERVICE names another program that prints its base URL and has `/stats`. */
export async function startService(latencyMs) {
  const [program, ...args] = process.env.BENCH_SERVICE?.split(' ') ?? [
    process.execPath,
    fileURLToPath(import.meta.url),
  ];
  const env = {...process.env, SERVICE_LATENCY_MS: String(latencyMs)};
  const child = spawn(program, args, {env, stdio: ['ignore', 'pipe', 'inherit']});
  const url = await new Promise(resolve => child.stdout.once('data', data => resolve(String(data).trim())));
  return {url, stats: async () => (await fetch(`${url}/stats`)).json(), close: () => child.kill()};
}

class Calls {
  came = [];
  inFlight = 0;
  #sinceMs = 0;
  /** In flight, added up over time: what was in flight from one moment to another is a difference of two of these. */
  #area = [];
  #total = 0;

  begun() {
    const now = performance.now();
    this.#change(now, 1);
    this.came.push(now);
    this.#area.push(this.#total);
  }

  ended() {
    this.#change(performance.now(), -1);
  }

  #change(now, by) {
    this.#total += this.inFlight * (now - this.#sinceMs);
    this.#sinceMs = now;
    this.inFlight += by;
  }

  /** Of the middle of the calls, and of the first second after the first of them. */
  get stats() {
    const {came} = this;
    const [from, to] = [0.2, 0.9].map(share => Math.floor(came.length * share));
    const ms = came[to] - came[from];
    return {
      calls: came.length,
      perSecond: ((to - from) / ms) * 1_000,
      inFlight: (this.#area[to] - this.#area[from]) / ms,
      firstSecond: came.filter(at => at < came[0] + 1_000).length,
      spanMs: came.at(-1) - came[0],
    };
  }
}

function whole(body, type = 'application/json') {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** How long the first request in `text` is; undefined where it is not there yet. */
function requestLength(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length >= end + 4 + length ? end + 4 + length : undefined;
}

function serve(latencyMs) {
  let calls = new Calls();
  const text = whole(ANSWER);
  const reply = socket => {
    calls.ended();
    socket.write(text);
  };
  const request = (socket, head) => {
    if (head.startsWith('GET /stats')) {
      socket.write(whole(JSON.stringify(calls.stats)));
      calls = new Calls();
      return;
    }
    calls.begun();
    if (latencyMs === 0) reply(socket);
    else setTimeout(reply, latencyMs, socket);
  };
  const server = createServer(socket => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    let rest = '';
    socket.on('data', data => {
      rest += data.latin1Slice();
      for (let length = requestLength(rest); length !== undefined; length = requestLength(rest)) {
        request(socket, rest);
        rest = rest.slice(length);
      }
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(Number(process.env.SERVICE_LATENCY_MS ?? 0));
