import type {Agent} from 'node:https';
import {HttpsProxyAgent} from 'hpagent';
import {getProxyForUrl} from 'proxy-from-env';

interface Pool {
  readonly keepAlive: boolean;
  readonly maxSockets: number;
  readonly maxFreeSockets: number;
}

/** An agent that tunnels to `target` through the proxy that the environment asks for (`HTTPS_PROXY`, `NO_PROXY`); undefined where it asks for none. */
export function proxyFor(target: URL, pool: Pool): Agent | undefined {
  const proxy = target.protocol === 'https:' ? getProxyForUrl(target.href) : '';
  return proxy === '' ? undefined : new HttpsProxyAgent({...pool, proxy, scheduling: 'lifo'});
}
