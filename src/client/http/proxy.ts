import type {Agent} from 'node:https';
import {HttpsProxyAgent} from 'hpagent';
import {getProxyForUrl} from 'proxy-from-env';

/** Longest time for the way to the service, through a proxy too: beyond it nothing was sent, and trying again is free. */
export const CONNECT_TIMEOUT_MS = 10_000;

interface Pool {
  readonly keepAlive: boolean;
}

/** An agent that tunnels to `target` through the proxy that the environment asks for (`HTTPS_PROXY`, `NO_PROXY`); undefined where it asks for none. */
export function proxyFor(target: URL, pool: Pool): Agent | undefined {
  const proxy = target.protocol === 'https:' ? getProxyForUrl(target.href) : '';
  return proxy === '' ? undefined : new TunnelAgent(proxy, pool);
}

/** hpagent waits for ever for a proxy's answer, and its `destroy` leaves those that it waits for. */
class TunnelAgent extends HttpsProxyAgent {
  readonly #closing: AbortController;

  constructor(proxy: string, pool: Pool) {
    const closing = new AbortController();
    const proxyRequestOptions = {
      // hpagent's types know few of the options that it hands on; the getter is read for each tunnel anew.
      headers: {},
      get signal() {
        const late = new AbortController();
        setTimeout(() => late.abort(), CONNECT_TIMEOUT_MS).unref();
        return AbortSignal.any([closing.signal, late.signal]);
      },
    };
    super({...pool, proxy, proxyRequestOptions, scheduling: 'lifo'});
    this.#closing = closing;
  }

  override destroy(): void {
    this.#closing.abort();
    super.destroy();
  }
}
