// The least that a program on got can do: as many calls as there are rows, 64 in flight, nothing read and nothing written.
import {Agent} from 'node:http';
import got from 'got';

const [url, rows] = [process.env.BENCH_URL, Number(process.env.BENCH_ROWS)];
const client = got.extend({
  agent: {http: new Agent({keepAlive: true})},
  retry: {limit: 0},
  followRedirect: false,
  throwHttpErrors: false,
});
let next = 0;

async function worker() {
  while (next < rows) {
    const i = next++;
    const ip = `${1 + (i >> 24)}.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
    await client.post(`${url}/intelligence/ip`, {json: {api_key: 'bench', ip}}).json();
  }
}

await Promise.all(Array.from({length: Number(process.env.BENCH_IN_FLIGHT)}, worker));
