// The server that all programs of a bench run are measured against: one fixed answer, as fast as it can be given.
// nginx where it is installed, else node:http.
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createServer as createTcpServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';

const ANSWER = JSON.stringify({
  success: true,
  data: {
    is_vpn: false,
    is_datacenter_proxy: false,
    is_residential_proxy: false,
    is_bogon: true,
    is_tor_node: false,
    is_threat: false,
    city: 'Exampleville',
    country: 'US',
    continent: 'NA',
    latitude: 12.5,
    longitude: -122.4,
    asn_number: 64496,
    asn_organization: 'Example Networks',
    isp: 'Example Networks',
  },
});

/** Starts the server in a process of its own; resolves to its kind, its base URL and its end. */
export async function startBenchServer() {
  return (await startNginx()) ?? startNode();
}

async function startNginx() {
  try {
    execFileSync('nginx', ['-v'], {stdio: 'ignore'});
  } catch {
    return undefined;
  }
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-bench-'));
  const port = await freePort();
  writeFileSync(join(directory, 'nginx.conf'), nginxConfig(directory, port));
  const child = spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr'], {
    stdio: 'ignore',
  });
  await answering(`http://127.0.0.1:${port}/intelligence/ip`);
  return {
    kind: 'nginx',
    url: `http://127.0.0.1:${port}`,
    close() {
      child.kill();
      rmSync(directory, {recursive: true, force: true});
    },
  };
}

function nginxConfig(directory, port) {
  return `daemon off; pid ${directory}/nginx.pid; worker_processes 1; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server { listen 127.0.0.1:${port}; default_type application/json; location / { return 200 '${ANSWER}'; } }
}`;
}

async function startNode() {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await new Promise(resolve => child.stdout.once('data', data => resolve([String(data)])));
  return {kind: 'node:http', url: line.trim(), close: () => child.kill()};
}

function freePort() {
  return new Promise(resolve => {
    const probe = createTcpServer().listen(0, '127.0.0.1', () => {
      const {port} = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function answering(url) {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await (await fetch(url, {method: 'POST'})).text();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`${url} does not answer`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(ANSWER);
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
}
