import type {Agent} from 'node:https';
import got from 'got';
import {CHECKED_TLS} from './http/certificates.ts';
import {proxyFor} from './http/proxy.ts';

/** Maximum milliseconds for one notice: its receiver must not delay a run. */
const TIMEOUT_MS = 2_500;

/**
 * Notifies another service with a GET. Sends it once, without retries or redirects. Reads only the status, however long the answer is. Never rejects: returns a failure as a short code,
 * since the URL may be a secret.
 */
export async function sendPing(url: URL): Promise<'ok' | (string & {})> {
  let agent: Agent | undefined;
  try {
    agent = proxyFor(url, {keepAlive: false});
    const status = await statusOf(url, agent);
    return status >= 200 && status < 300 ? 'ok' : `http_${status}`;
  } catch (error) {
    const {code = 'error'} = error as {code?: unknown};
    return String(code);
  } finally {
    agent?.destroy();
  }
}

function statusOf(url: URL, agent: Agent | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = got.stream(url, {
      timeout: {request: TIMEOUT_MS},
      retry: {limit: 0},
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
      https: CHECKED_TLS,
      ...(agent === undefined ? {} : {agent: {https: agent}}),
    });
    stream.on('error', reject);
    stream.on('response', ({statusCode}: {statusCode: number}) => {
      resolve(statusCode);
      stream.destroy();
    });
    // The library `got` sends a request only when its stream is read.
    stream.resume();
  });
}
