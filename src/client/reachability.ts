import {lookup} from 'node:dns/promises';
import {request as httpRequest} from 'node:http';
import {Agent, request as httpsRequest} from 'node:https';
import type {TLSSocket} from 'node:tls';
import {systemCode} from '../errors.ts';
import type {Failure} from './attempt.ts';
import {attemptWithoutResponse, networkCode} from './classify.ts';
import {FirstContact, watchCertificate} from './http/first-contact.ts';
import {CHECKED_TLS_OPTIONS, createProxyAgent, proxyUrl} from './http/proxy.ts';

/** Findings about the connection to a service. No call is made for them: no key is sent and nothing is charged. */
export interface Reachability {
  /** Host and port of the proxy that is used, if any. */
  readonly proxy: string | undefined;
  /** Addresses of the host; an error code if it can't be resolved; undefined if a proxy resolves it. */
  readonly dns: {readonly addresses: readonly string[]} | {readonly error: string} | undefined;
  readonly answer: FirstResponse | {readonly failure: Failure};
}

interface FirstResponse {
  readonly status: number;
  readonly tls: {readonly protocol: string; readonly validTo: string} | undefined;
  /** The service's clock minus this machine's, in milliseconds; undefined if the service does not tell its time. */
  readonly skewMs: number | undefined;
}

/** Tests the connection with a free GET of the base URL. Throws UsageError for an invalid proxy. */
export async function probeService(base: URL, timeoutMs: number): Promise<Reachability> {
  const proxy = proxyUrl(base);
  const dns = proxy === undefined ? await resolveHost(base.hostname.replace(/^\[|\]$/g, '')) : undefined;
  const found = await getHead(base, timeoutMs).catch(failureOf);
  const failure = (await new FirstContact().judge(found, base)) ?? ('kind' in found ? found : undefined);
  const answer = failure === undefined ? (found as FirstResponse) : {failure};
  return {proxy: proxy?.host, dns, answer};
}

/** The failure of a call that would have ended with this error, unsent. */
function failureOf(thrown: unknown): Failure {
  const {message, limit} = thrown as Error & {readonly limit?: string};
  const code = systemCode(thrown);
  return attemptWithoutResponse(code === LATE ? code : networkCode(code, message), false, 0, limit);
}

async function resolveHost(host: string): Promise<Reachability['dns']> {
  try {
    return {addresses: (await lookup(host, {all: true})).map(({address}) => address)};
  } catch (error) {
    return {error: systemCode(error)};
  }
}

const LATE = 'timeout';
/** Maximum milliseconds for one notice: its receiver must not delay a run. */
const PING_TIMEOUT_MS = 2_500;

/** Notifies another service with one GET. Never rejects: returns a short code, since the URL may be a secret. */
export async function pingHealthCheck(url: URL): Promise<'ok' | (string & {})> {
  try {
    const {status} = await getHead(url, PING_TIMEOUT_MS);
    return status >= 200 && status < 300 ? 'ok' : `http_${status}`;
  } catch (error) {
    return systemCode(error);
  }
}

/** Makes a GET without a body, retries or redirects. Reads only the head of the answer, however long the answer is. */
async function getHead(base: URL, timeoutMs: number): Promise<FirstResponse> {
  const secure = base.protocol === 'https:';
  const agent = secure ? createProxyAgent(base, {keepAlive: false}) : undefined;
  const request = secure
    ? httpsRequest(base, {agent: agent ?? new Agent(CHECKED_TLS_OPTIONS)})
    : httpRequest(base, {agent: false});
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(new Error(LATE)), timeoutMs);
    let limit: () => string | undefined = () => undefined;
    request.once('socket', socket => {
      limit = watchCertificate(socket);
    });
    request.once('close', () => {
      clearTimeout(timer);
      agent?.destroy();
    });
    request.once('error', error => reject(Object.assign(error, {limit: limit()})));
    request.once('response', response => {
      const {socket} = response;
      const tls = 'encrypted' in socket ? describeTls(socket as TLSSocket) : undefined;
      const date = Date.parse(response.headers.date ?? '');
      const skewMs = Number.isNaN(date) ? undefined : date - Date.now();
      resolve({status: response.statusCode ?? 0, tls, skewMs});
      request.destroy();
    });
    request.end();
  });
}

function describeTls(socket: TLSSocket): FirstResponse['tls'] {
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    validTo: String(socket.getPeerCertificate().valid_to ?? ''),
  };
}
