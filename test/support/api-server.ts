import {createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import {INVALID_TOKEN} from '../../src/operations/operation.ts';
import {type Operation, operationNames, operations} from '../../src/operations/table.ts';
import {answer, isCharged, price, type RequestBody, refusal, SlidingCount} from './api-server-core.mjs';
import {Ledger} from './api-server-ledger.ts';
import {type EarlyFault, type Reply, reply} from './api-server-reply.ts';
import {end, later, send, sendJson} from './api-server-send.ts';
import {makeCertificate} from './cert.ts';

/** A request of which only the head is known. Numbers count from 1. */
export interface Head {
  /** The n-th request of the server. */
  readonly request: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The n-th connection of the server. */
  readonly connection: number;
  /** The n-th request on its connection. */
  readonly onConnection: number;
}

/** A request for an operation, read to its end. */
export interface Call extends Head {
  /** The n-th call of the server. */
  readonly call: number;
  readonly operation: Operation;
  /** The IP, phone number, e-mail address or session token. */
  readonly value: string;
  /** The n-th call for this value; 0 where values are not kept. */
  readonly attempt: number;
  readonly body: RequestBody;
}

export interface Limit {
  /** Calls let through in any sliding second; the others get `reply`. */
  readonly perSecond: number;
  /** The reply to a call over the limit; by default 429 with `Retry-After: 1`. */
  readonly reply?: (call: Call) => Reply;
}

export interface ApiServerOptions {
  /** The one key that is accepted; long enough not to turn up in headers by chance. */
  readonly key: string;
  /** Wait before every unscripted answer. */
  readonly latencyMs?: number;
  readonly limit?: Limit;
  /** The reply to a call; `undefined`: the server's unscripted one. A promise holds the call until it settles. */
  readonly script?: (call: Call) => Reply | undefined | Promise<Reply | undefined>;
  /** Breaks requests off before they are read. */
  readonly early?: (head: Head) => EarlyFault | undefined;
  /** Keep each value's count and each arrival in the ledger (default), or counters only. */
  readonly keepValues?: boolean;
  /** Credits per charged call, by operation; 1 by default. The test action ids stay free. */
  readonly cost?: Partial<Record<Operation, number>>;
  /** Serve HTTPS with this certificate, or with a self-signed one for `localhost` and 127.0.0.1. */
  readonly tls?: boolean | {readonly key: string; readonly cert: string};
  /** A path that the operations' paths follow, such as `/v1`. */
  readonly basePath?: string;
  /** How long the server keeps idle connections; 0, the default: for ever. */
  readonly keepAliveMs?: number;
  /** The port to listen at; by default a free one. */
  readonly port?: number;
}

export interface ApiServer extends AsyncDisposable {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly ledger: Ledger;
  /** With `tls`: what a client must trust to accept the server. */
  readonly ca: string | undefined;
  /** Begins a new ledger, in which nothing was asked for. */
  newLedger(): void;
  setKey(key: string): void;
  setLimit(limit: Limit | undefined): void;
  setScript(script: ApiServerOptions['script']): void;
  setEarly(early: ApiServerOptions['early']): void;
  setLatency(ms: number): void;
  /** Closes the connections that wait for a next request. */
  closeIdle(): void;
  /** Stops listening and breaks all connections. */
  close(): Promise<void>;
}

interface State {
  readonly options: ApiServerOptions;
  ledger: Ledger;
  readonly sockets: WeakMap<Socket, {readonly connection: number; requests: number}>;
  key: string;
  latencyMs: number;
  limit: Limit | undefined;
  passed: SlidingCount;
  script: ApiServerOptions['script'];
  early: ApiServerOptions['early'];
}

const MAX_REQUEST_BYTES = 2 ** 20;

/** Starts a server that speaks the interface on a free loopback port, keeps the books, and faults as scripted. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const state = initialState(options);
  const tls = options.tls === true ? makeCertificate() : options.tls || undefined;
  const listener = (req: IncomingMessage, res: ServerResponse) => onRequest(state, req, res);
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.keepAliveTimeout = options.keepAliveMs ?? 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    state.sockets.set(socket, {connection: ++state.ledger.connections, requests: 0});
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const {port} = server.address() as AddressInfo;
  const close = async () => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}${options.basePath ?? ''}`,
    port,
    get ledger() {
      return state.ledger;
    },
    newLedger() {
      state.ledger = new Ledger(options.keepValues ?? true);
    },
    ca: tls?.cert,
    setKey(key) {
      state.key = key;
    },
    setLimit: limit => setLimit(state, limit),
    setScript(script) {
      state.script = script;
    },
    setEarly(early) {
      state.early = early;
    },
    setLatency(ms) {
      state.latencyMs = ms;
    },
    closeIdle: () => server.closeIdleConnections(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function initialState(options: ApiServerOptions): State {
  return {
    options,
    ledger: new Ledger(options.keepValues ?? true),
    sockets: new WeakMap(),
    key: options.key,
    latencyMs: options.latencyMs ?? 0,
    limit: options.limit,
    passed: new SlidingCount(),
    script: options.script,
    early: options.early,
  };
}

function setLimit(state: State, limit: Limit | undefined): void {
  state.limit = limit;
  state.passed = new SlidingCount();
}

function onRequest(state: State, req: IncomingMessage, res: ServerResponse): void {
  const {ledger} = state;
  ledger.arrived(performance.now());
  res.once('close', () => void ledger.inFlight--);
  const head = readHead(state, req);
  const fault = state.early?.(head);
  if (fault?.when === 'head') {
    ledger.unread++;
    end(req.socket, fault.ending);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let whole = false;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (fault || size > MAX_REQUEST_BYTES) end(req.socket, fault?.ending ?? 'reset');
    else chunks.push(chunk);
  });
  req.once('end', () => {
    whole = true;
    if (fault) ledger.unread++;
    else onBody(state, head, res, chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString());
  });
  req.once('close', () => {
    if (!whole) ledger.unread++;
  });
}

function readHead(state: State, req: IncomingMessage): Head {
  const {ledger, key} = state;
  const socket = state.sockets.get(req.socket) ?? {connection: 0, requests: 0};
  socket.requests++;
  const raw = req.rawHeaders;
  for (let i = 1; i < raw.length; i += 2)
    if (raw[i]?.includes(key)) ledger.leaked(`header ${raw[i - 1]?.toLowerCase()}`);
  const path = req.url ?? '/';
  if (path.includes(key)) ledger.leaked('url');
  return {
    request: ledger.requests,
    path,
    headers: req.headers,
    connection: socket.connection,
    onConnection: socket.requests,
  };
}

function onBody(state: State, head: Head, res: ServerResponse, text: string): void {
  const {ledger, options} = state;
  if (text.includes(state.key)) ledger.keySeen++;
  const path = head.path.slice(options.basePath?.length ?? 0);
  const operation = operationNames.map(name => operations[name]).find(one => one.path === path);
  if (!operation || !head.path.startsWith(options.basePath ?? '') || res.req.method !== 'POST') {
    ledger.violated(`${res.req.method} ${head.path}`);
    refuse(ledger, res, operation ? 405 : 404, 'not_found');
    return;
  }
  const body = parseObject(text);
  const value = body?.[operation.field];
  if (!body || typeof value !== 'string') {
    ledger.violated(`${head.path}: no ${body ? operation.field : 'JSON object'}`);
    refuse(ledger, res, 400, 'invalid_request');
    return;
  }
  for (const name of Object.keys(body))
    if (!Object.hasOwn(operation.request.shape, name)) ledger.violated(`${head.path}: ${name}`);
  if (!head.headers['content-type']?.startsWith('application/json'))
    ledger.violated(`${head.path}: content-type`);
  const attempt = ledger.called(operation.name, value);
  const call = {...head, call: ledger.calls, operation: operation.name, value, attempt, body};
  const scripted = state.script?.(call);
  if (scripted instanceof Promise)
    scripted.then(
      r => onCall(state, call, res, r),
      () => end(res.socket, 'reset'),
    );
  else onCall(state, call, res, scripted);
}

function onCall(state: State, call: Call, res: ServerResponse, scripted: Reply | undefined): void {
  const wrongKey = call.body['api_key'] !== state.key;
  if (wrongKey) state.ledger.wrongKey++;
  const asked =
    scripted ?? (wrongKey ? reply.error(401, INVALID_TOKEN) : (refused(call) ?? overLimit(state, call)));
  const own = () => answer(call.operation, call.body, call.operation === 'verify' && call.attempt > 1);
  settle(state, call, asked);
  if (asked) send({res, ledger: state.ledger, own}, asked);
  else later(state.latencyMs, res, () => sendJson(res, 200, JSON.stringify(own())));
}

function refused({operation, body}: Call): Reply | undefined {
  const code = refusal(operation, body);
  return code === undefined ? undefined : reply.error(400, code);
}

function overLimit(state: State, call: Call): Reply | undefined {
  if (!state.limit) return undefined;
  const now = performance.now();
  if (state.passed.count(now) >= state.limit.perSecond) return state.limit.reply?.(call) ?? reply.throttle(1);
  state.passed.add(now);
  return undefined;
}

/** Enters into the books what the call was answered with and what it costs. */
function settle({ledger, options}: State, call: Call, asked: Reply | undefined): void {
  ledger.answered(asked ? (asked.kind === 'answer' ? asked.status : asked.kind) : 200);
  if (!(asked?.charge ?? chargedByDefault(asked))) return;
  const cost = price(call.operation, call.body) * (options.cost?.[call.operation] ?? 1);
  ledger.paid(call.operation, call.value, cost);
}

function chargedByDefault(asked: Reply | undefined): boolean {
  if (asked?.kind !== 'answer') return true;
  const names = Object.keys(asked.headers ?? {});
  return isCharged(
    asked.status,
    names.some(name => name.toLowerCase() === 'retry-after'),
  );
}

function refuse(ledger: Ledger, res: ServerResponse, status: number, message: string): void {
  ledger.answered(status);
  sendJson(res, status, JSON.stringify({success: false, message}));
}

function parseObject(text: string): RequestBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return body !== null && typeof body === 'object' && !Array.isArray(body) ? {...body} : undefined;
  } catch {
    return undefined;
  }
}
