import type {ClientRequest, Agent as HttpAgent, IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Agent as HttpsAgent} from 'node:https';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {brotliDecompressSync, gunzipSync, inflateSync} from 'node:zlib';
import got, {type Got, type RequestError} from 'got';
import {packageVersion} from '../../operations/package-files.ts';
import type {Attempt, PaceHeaders} from '../attempt.ts';
import {attemptWithoutResponse, networkCode, type RawResponse} from '../classify.ts';
import {onAbort} from '../on-abort.ts';
import {IdleConnectionGuard, slimRequestOptions} from './connections.ts';
import {FirstContact, watchCertificate} from './first-contact.ts';
import {CONNECT_TIMEOUT_MS} from './proxy.ts';

export interface TransportOptions {
  readonly agent: HttpAgent | HttpsAgent;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** Called each time a connection is closed because the service sent bytes that no call asked for. */
  readonly onUnasked: () => void;
}

export interface CallOptions {
  /** Ends the call, whose attempt then has the code `aborted`. It may have been charged, unless it is `not_sent`. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum time of this call in milliseconds, with the time that it waits for a connection: 1 to 3,600,000. */
  readonly timeoutMs?: number | undefined;
}

export interface Transport {
  /** Makes one POST. Resolves with a complete response or the failed attempt, and never rejects. */
  post(url: URL, body: string, call?: CallOptions): Promise<RawResponse | Attempt>;
  /** Ends all calls, also those that wait for a connection. */
  close(): void;
}

/**
 * A transport over the library got. Retries and redirects could send a call twice, or the key elsewhere. got does not
 * limit a body's size ({@link exchange}), begins its timers before there is a connection ({@link CallTimers}), and has
 * the key in its errors.
 */
export function createTransport(options: TransportOptions): Transport {
  const [json, userAgent] = ['application/json', `bulk-enrich/${packageVersion()}`];
  const client = got.extend({
    method: 'POST',
    retry: {limit: 0},
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    headers: {'content-type': json, accept: json, 'accept-encoding': 'identity', 'user-agent': userAgent},
  });
  const clients = new Map<URL, Got>();
  const clientOf = (url: URL) => {
    const known = clients.get(url);
    if (known !== undefined) return known;
    const made = client.extend(slimRequestOptions(url, options.agent));
    clients.set(url, made);
    return made;
  };
  const connections = new IdleConnectionGuard(options.agent, options.onUnasked);
  const contact = new FirstContact();
  // Streams of calls under way, in places that are used again: V8 may keep removed entries of a Set.
  const underWay: (Duplex | undefined)[] = [];
  const unused: number[] = [];
  return {
    post(url, body, call) {
      const stream = clientOf(url)(url, {body, isStream: true});
      const slot = unused.pop() ?? underWay.length;
      underWay[slot] = stream;
      const result = exchange(stream, connections, options, call);
      void result.then(() => {
        underWay[slot] = undefined;
        unused.push(slot);
      });
      if (contact.isMade) return result;
      const until = performance.now() + (call?.timeoutMs ?? Number.POSITIVE_INFINITY);
      return result.then(async found => (await contact.judge(found, url, until, call?.signal)) ?? found);
    },
    close() {
      for (const stream of underWay) stream?.destroy();
    },
  };
}

/** Makes one call on a stream. Whichever comes first settles it: an answer, a timer or an error. */
function exchange(
  stream: Duplex,
  connections: IdleConnectionGuard,
  {timeoutMs, maxBodyBytes}: TransportOptions,
  call: CallOptions = {},
) {
  return new Promise<RawResponse | Attempt>(resolve => {
    const chunks: Buffer[] = [];
    let size = 0;
    let sent: ClientRequest | undefined;
    let response: IncomingMessage | undefined;
    let connection: Socket | undefined;

    // got's successful streams never close: unstopped timers would keep the call in memory until they fire.
    const settle = (result: RawResponse | Attempt) => {
      timers.stop();
      forget();
      resolve(result);
    };
    const complete = (problem?: string) => {
      if (response !== undefined)
        settle({...readBody(response, chunks, timers.elapsedMs, maxBodyBytes, problem), connection});
    };
    let brokenLimit: () => string | undefined = () => undefined;
    const failed = (code: string) =>
      settle(attemptWithoutResponse(code, timers.isConnected, timers.elapsedMs, brokenLimit()));
    const giveUp = (code: string) => {
      failed(code);
      stream.destroy();
    };
    const timers = new CallTimers(timeoutMs, () => giveUp('timeout'), call.timeoutMs);
    const forget = onAbort(call.signal, () => giveUp('aborted'));
    const switched = (head: IncomingMessage) => {
      response = head;
      complete();
      stream.destroy();
    };
    stream.on('request', (request: ClientRequest) => {
      sent = request;
      connections.begin(request, socket => {
        if (!request.reusedSocket) brokenLimit = watchCertificate(socket);
        timers.start(socket);
      });
      // Without this listener, a call answered with another protocol (101) would never end.
      request.once('upgrade', (head: IncomingMessage, socket: Socket) => {
        socket.destroy();
        switched(head);
      });
    });
    stream.on('response', (head: IncomingMessage) => {
      if (head.statusCode === 101) return switched(head);
      response = head;
      connection = head.socket;
      connections.answered(sent as ClientRequest, head);
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else {
        complete('the body is too large');
        if (sent !== undefined) sent.shouldKeepAlive = false;
        stream.destroy();
      }
    });
    stream.on('end', () => complete());
    stream.on('error', ({code, message}: RequestError) => {
      if (sent !== undefined) connections.failed(sent, code);
      failed(networkCode(code, message));
    });
    // A socket closed in mid-body ends the stream without an error. If another event came first, that one counts.
    stream.on('close', () => failed('connection_closed'));
  });
}

/** Time limits of one call from the moment it has a socket. `wholeMs`: one that counts the wait for a socket, too. */
class CallTimers {
  readonly #timeoutMs: number;
  readonly #late: () => void;
  #started = performance.now();
  #deadline: NodeJS.Timeout | undefined;
  #connecting: NodeJS.Timeout | undefined;
  #isOver = false;
  isConnected = false;

  constructor(timeoutMs: number, late: () => void, wholeMs?: number) {
    this.#timeoutMs = timeoutMs;
    this.#late = late;
    if (wholeMs !== undefined) this.#deadline = setTimeout(this.#overdue, wholeMs);
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  start(socket: Socket): void {
    if (this.#isOver) return;
    this.#started = performance.now();
    this.#deadline ??= setTimeout(this.#overdue, this.#timeoutMs);
    onceConnected(socket, () => {
      this.isConnected = true;
      clearTimeout(this.#connecting);
    });
    if (!this.isConnected) this.#connecting = setTimeout(this.#overdue, CONNECT_TIMEOUT_MS);
  }

  // After a suspension all timers are due: answers that have arrived are read before their calls end.
  readonly #overdue = () => setImmediate(() => this.#expire());

  #expire(): void {
    if (!this.#isOver) this.#late();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#connecting);
  }
}

/**
 * Calls `then` once a request can leave on `socket`: connected or, over TLS, after the handshake. A call that fails on
 * a stale socket may have left, so it counts as sent. got's timings miss connections through a proxy.
 */
function onceConnected(socket: Socket, then: () => void): void {
  const secure = 'encrypted' in socket;
  const done = secure
    ? (socket as TLSSocket).getFinished() !== undefined
    : !socket.connecting && socket.writable;
  if (done) then();
  else socket.once(secure ? 'secureConnect' : 'connect', then);
}

function readBody(
  response: IncomingMessage,
  chunks: readonly Buffer[],
  latencyMs: number,
  maxBytes: number,
  problem: string | undefined,
): RawResponse {
  const head = {status: response.statusCode ?? 0, latencyMs, pace: paceHeaders(response.headers)};
  if (problem !== undefined) return {body: undefined, problem, ...head};
  const [first] = chunks;
  const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  const body = decodeContent(whole, response.headers['content-encoding'] ?? '', maxBytes);
  return typeof body === 'string' ? {body, ...head} : {body: undefined, ...body, ...head};
}

function paceHeaders(headers: IncomingHttpHeaders): PaceHeaders {
  const limits: Record<string, string> = {};
  for (const name in headers) {
    if (/^(x-)?rate-?limit/.test(name)) limits[name] = String(headers[name]);
  }
  const pace = {retryAfter: headers['retry-after'], date: headers.date, limits};
  const requestId = String(headers['x-request-id'] ?? headers['request-id'] ?? '');
  return /^[\w-]{1,128}$/.test(requestId) ? {...pace, requestId} : pace;
}

/** Decoders by the name of their coding. Names are compared without case (RFC 9110, 8.4.1). */
const decoders: Readonly<Record<string, (bytes: Buffer, options: {maxOutputLength: number}) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

const utf8 = new TextDecoder('utf-8', {fatal: true});

/** A body's text, or why it can't be read. If a server compresses it unasked, `maxOutputLength` limits each size. */
function decodeContent(
  body: Buffer,
  encoding: string,
  maxOutputLength: number,
): string | {readonly problem: string} {
  let bytes = body;
  try {
    for (const coding of encoding
      .toLowerCase()
      .split(/\s*,\s*/)
      .reverse()) {
      if (coding === '' || coding === 'identity') continue;
      const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
      if (decode === undefined) return {problem: 'the body’s Content-Encoding is not supported'};
      bytes = decode(bytes, {maxOutputLength});
    }
    return utf8.decode(bytes);
  } catch {
    return {problem: 'the body can’t be decoded, or is too large once it is'};
  }
}
