import type {ClientRequest, Agent as HttpAgent, IncomingHttpHeaders} from 'node:http';
import type {Agent as HttpsAgent} from 'node:https';
import type {Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import {brotliDecompressSync, gunzipSync, inflateSync} from 'node:zlib';
import got, {type RequestError, type Response} from 'got';
import type {Attempt, PaceHeaders} from './attempt.ts';
import type {RawResponse} from './classify.ts';

export interface TransportOptions {
  readonly agents: {readonly http: HttpAgent; readonly https: HttpsAgent};
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
}

/** One POST: a complete response, or why there is none. Never rejects. */
export type Transport = (url: URL, body: string) => Promise<RawResponse | Attempt>;

/** Longest time for the TCP and TLS handshakes: beyond it nothing was sent, and trying again is free. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * got with all that could send a call twice, or its key elsewhere, switched off: no retries, no redirects. Bodies are
 * read by hand, since only that bounds their size; got's errors never leave this function, as they carry the
 * request's body, which holds the key.
 */
export function transport(options: TransportOptions): Transport {
  const client = got.extend({
    method: 'POST',
    agent: options.agents,
    retry: {limit: 0},
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    timeout: {request: options.timeoutMs, connect: CONNECT_TIMEOUT_MS, secureConnect: CONNECT_TIMEOUT_MS},
    headers: {'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity'},
  });

  return (url, body) =>
    new Promise(resolve => {
      const started = performance.now();
      const elapsed = () => performance.now() - started;
      const chunks: Buffer[] = [];
      let size = 0;
      let response: Response | undefined;
      let connected = false;
      const stream = client.stream(url, {body});

      stream.on('request', (request: ClientRequest) => {
        const watch = (socket: Socket) =>
          onceConnected(socket, () => {
            connected = true;
          });
        if (request.socket) watch(request.socket);
        else request.once('socket', watch);
      });

      const complete = (problem?: string) => {
        if (response !== undefined)
          resolve(readBody(response, chunks, elapsed(), options.maxBodyBytes, problem));
      };
      stream.on('response', (heard: Response) => {
        response = heard;
      });
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= options.maxBodyBytes) chunks.push(chunk);
        else {
          complete('the body is too large');
          stream.destroy();
        }
      });
      stream.on('end', () => complete());
      stream.on('error', (error: RequestError) => resolve(withoutResponse(error, connected, elapsed())));
      // A socket closed in mid-body ends the stream without an error of its own; whatever came first has won.
      stream.on('close', () => resolve({kind: 'ambiguous', code: 'connection_closed', latencyMs: elapsed()}));
    });
}

/**
 * Tells when a request may begin to leave on `socket`: once it is connected, over TLS once the handshake is done. A
 * reused socket is so from the start, so a call that died on a stale one counts as sent: nobody can tell. got's own
 * timings don't say it of a socket that came through a proxy.
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
  response: Response,
  chunks: readonly Buffer[],
  latencyMs: number,
  maxBytes: number,
  problem: string | undefined,
): RawResponse {
  const head = {status: response.statusCode, latencyMs, pace: paceHeaders(response.headers)};
  if (problem !== undefined) return {...head, body: undefined, problem};
  try {
    const bytes = decoded(Buffer.concat(chunks), response.headers['content-encoding'], maxBytes);
    return {...head, body: new TextDecoder('utf-8', {fatal: true}).decode(bytes)};
  } catch {
    return {...head, body: undefined, problem: 'the body can’t be decoded, or is too large once it is'};
  }
}

/** Compression was not asked for; a server that compresses all the same is read within the same limit. */
function decoded(bytes: Buffer, encoding: string | undefined, maxOutputLength: number): Buffer {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, {maxOutputLength});
    case 'deflate':
      return inflateSync(bytes, {maxOutputLength});
    case 'br':
      return brotliDecompressSync(bytes, {maxOutputLength});
    default:
      return bytes;
  }
}

function paceHeaders(headers: IncomingHttpHeaders): PaceHeaders {
  const limits: Record<string, string> = {};
  for (const name in headers) {
    if (/^(x-)?rate-?limit/.test(name)) limits[name] = String(headers[name]);
  }
  return {retryAfter: headers['retry-after'], date: headers.date, limits};
}

/** OpenSSL's and Node's codes for a peer that can't be trusted; from Node's documentation of TLS errors. */
const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERROR_IN_CERT|ERR_TLS_INVALID)/;

/** Whether this code of an error says that the other end can't be trusted. */
export function isCertificateError(code: string): boolean {
  return CERTIFICATE.test(code);
}

function withoutResponse(error: RequestError, connected: boolean, latencyMs: number): Attempt {
  const code = error.code;
  if (isCertificateError(code)) return {kind: 'fatal', reason: 'certificate', code, latencyMs};
  return {kind: connected ? 'ambiguous' : 'not_sent', code: name(code, error), latencyMs};
}

/** A short stable name for what the network said: `timeout`, `econnreset`, … */
function name(code: string, error: RequestError): string {
  if (code === 'ETIMEDOUT' || error.name === 'TimeoutError') return 'timeout';
  return /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code.toLowerCase() : 'network_error';
}
