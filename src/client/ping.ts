import type {Agent} from 'node:https';
import got from 'got';
import {proxyFor} from './proxy.ts';

/** Longest time for one ping: a health check must not hold up a run. */
const TIMEOUT_MS = 2_500;

/**
 * Tells a health check that something happened: a GET without a body. Never rejects; what went wrong is returned as a
 * short code, since the URL is as good as a password.
 *
 * @param signal what is added to the URL's path: `start`, an exit code, or nothing for success.
 */
export async function ping(url: string, signal: string): Promise<'ok' | (string & {})> {
  let agent: Agent | undefined;
  try {
    const target = new URL(url);
    if (signal !== '') target.pathname = `${target.pathname.replace(/\/+$/, '')}/${signal}`;
    agent = proxyFor(target, {keepAlive: false, maxSockets: 1, maxFreeSockets: 1});
    await got(target, {
      timeout: {request: TIMEOUT_MS},
      retry: {limit: 0},
      ...(agent === undefined ? {} : {agent: {https: agent}}),
    });
    return 'ok';
  } catch (error) {
    return (error as {code?: unknown}).code === undefined ? 'error' : String((error as {code: unknown}).code);
  } finally {
    agent?.destroy();
  }
}
