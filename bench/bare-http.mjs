// The least that a program on node:http can do: as many calls as there are rows, nothing read and nothing written.
import {Agent, request} from 'node:http';

const {BENCH_URL, BENCH_ROWS, BENCH_IN_FLIGHT} = process.env;
const {hostname, port} = new URL(BENCH_URL);
const agent = new Agent({keepAlive: true});
const options = {agent, hostname, port, path: '/intelligence/ip', method: 'POST'};
let next = 0;

function post(body) {
  return new Promise((resolve, reject) => {
    const headers = {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)};
    const call = request({...options, headers}, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', data => {
        text += data;
      });
      response.on('end', () => resolve(JSON.parse(text)));
    });
    call.on('error', reject);
    call.end(body);
  });
}

async function worker() {
  while (next < Number(BENCH_ROWS)) {
    const i = next++;
    await post(JSON.stringify({api_key: 'bench', ip: `1.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`}));
  }
}

await Promise.all(Array.from({length: Number(BENCH_IN_FLIGHT)}, worker));
agent.destroy();
