// The service that a fleet is measured against, in a process of its own. It prints its URL and ends with its stdin.
//
//   node fleet-service.mjs [--latency MS]
//
// GET /_ledger tells how many calls it had; POST /_set changes the latency.
import {createServer} from 'node:http';
import {parseArgs} from 'node:util';
import {answer} from '../test/support/api-server-core.mjs';

const {values: flags} = parseArgs({options: {latency: {type: 'string', default: '0'}}});
const operations = {'/intelligence/ip': 'ip', '/intelligence/email': 'email'};
const settings = {latency: Number(flags.latency)};
let calls = 0;

function sendJson(res, value) {
  const text = JSON.stringify(value);
  res.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text)});
  res.end(text);
}

function onRequest(req, res) {
  let text = '';
  req.setEncoding('utf8');
  req.on('data', chunk => {
    text += chunk;
  });
  req.once('end', () => {
    const operation = operations[req.url];
    if (operation === undefined) {
      if (req.method === 'POST') Object.assign(settings, JSON.parse(text));
      sendJson(res, {calls, ...settings});
      return;
    }
    calls += 1;
    const send = () => sendJson(res, answer(operation, JSON.parse(text)));
    if (settings.latency > 0) setTimeout(send, settings.latency);
    else send();
  });
}

const server = createServer(onRequest);
server.keepAliveTimeout = 0;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));
