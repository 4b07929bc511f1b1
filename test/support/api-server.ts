import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {type CoreOptions, type Head, ServiceCore} from './api-core.ts';
import type {EarlyFault} from './api-server-reply.ts';
import {end, send} from './api-server-send.ts';
import {makeCertificate} from './cert.ts';
import {listen} from './free-port.ts';

export type {Call} from './api-core.ts';

export interface ApiServerOptions extends CoreOptions {
  /** Breaks requests off before they are read. */
  readonly early?: (head: Head) => EarlyFault | undefined;
  /** Serve HTTPS with a self-signed certificate for `localhost` and 127.0.0.1. */
  readonly tls?: boolean;
}

export type ApiServer = Awaited<ReturnType<typeof startApiServer>>;

const MAX_REQUEST_BYTES = 2 ** 20;

/** The test service over HTTP: starts a server on a loopback port, which faults as scripted. */
export async function startApiServer(options: ApiServerOptions) {
  const core = new ServiceCore(options);
  const tls = options.tls === true ? makeCertificate() : undefined;
  const listener = (req: IncomingMessage, res: ServerResponse) => onRequest(core, options.early, req, res);
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.on(tls ? 'secureConnection' : 'connection', () => void core.ledger.connections++);
  const port = await listen(server);
  /** Stops listening and breaks all connections. */
  const close = async () => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return Object.assign(core, {
    /** The base URL, without a slash at its end. */
    url: `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}`,
    port,
    /** With `tls`: what a client must trust to accept the server. */
    ca: tls?.cert,
    close,
    [Symbol.asyncDispose]: close,
  });
}

function onRequest(
  core: ServiceCore,
  early: ApiServerOptions['early'],
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const {ledger} = core;
  ledger.arrived(performance.now());
  res.once('close', () => void ledger.inFlight--);
  const head = readHead(core, req);
  const fault = early?.(head);
  if (fault?.when === 'head') {
    end(req.socket, fault.ending);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (fault || size > MAX_REQUEST_BYTES) end(req.socket, fault?.ending ?? 'reset');
    else chunks.push(chunk);
  });
  req.once('end', () => {
    if (!fault) onBody(core, head, res, Buffer.concat(chunks).toString());
  });
}

function readHead({ledger, key}: ServiceCore, req: IncomingMessage): Head {
  const raw = req.rawHeaders;
  for (let i = 1; i < raw.length; i += 2)
    if (raw[i]?.includes(key)) ledger.leaked(`header ${raw[i - 1]?.toLowerCase()}`);
  const path = req.url ?? '/';
  if (path.includes(key)) ledger.leaked('url');
  return {request: ledger.requests, path, headers: req.headers};
}

function onBody(core: ServiceCore, head: Head, res: ServerResponse, text: string): void {
  const {ledger} = core;
  const taken = core.take({head, method: res.req.method, text, nowMs: performance.now()});
  if (taken instanceof Promise)
    taken.then(
      ({reply, own}) => send({res, ledger, own}, reply),
      () => end(res.socket, 'reset'),
    );
  else send({res, ledger, own: taken.own}, taken.reply);
}
