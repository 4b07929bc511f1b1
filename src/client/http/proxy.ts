import type {AgentOptions, RequestOptions} from 'node:http';
import type {Agent} from 'node:https';
import {BlockList, isIP} from 'node:net';
import type {Duplex} from 'node:stream';
import {HttpsProxyAgent} from 'hpagent';
import {getProxyForUrl} from 'proxy-from-env';
import {systemCode, UsageError} from '../../errors.ts';

/** Options of every TLS connection. They keep the check of certificates on, also with NODE_TLS_REJECT_UNAUTHORIZED=0. */
export const CHECKED_TLS_OPTIONS = {rejectUnauthorized: true} as const;

/** Maximum milliseconds to connect, also through a proxy. Calls beyond it were not sent: a retry is free. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Prefix of the code for a proxy's refusal or failure: `PROXY_407` for refused credentials, `PROXY_ECONNREFUSED`. */
const OF_PROXY = 'PROXY_';
export const PROXY_CREDENTIALS_CODE = `${OF_PROXY}407`;

/** Variables that name the proxy, in order of precedence. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/**
 * The environment's proxy for an HTTPS URL (`HTTPS_PROXY`, else `ALL_PROXY`, unless `NO_PROXY` excepts it). Throws
 * UsageError if it is not the URL of an HTTP proxy.
 */
export function proxyUrl(target: URL): URL | undefined {
  if (target.protocol !== 'https:' || getProxyForUrl(target.href) === '' || isExcepted(target))
    return undefined;
  const variable = VARIABLES.find(name => process.env[name]) ?? 'HTTPS_PROXY';
  const given = (process.env[variable] ?? '').trim();
  const [, scheme] = /^([^:/]+):\/\//.exec(given) ?? [];
  if (scheme !== undefined && !/^https?$/i.test(scheme))
    throw invalidProxy(variable, `a proxy of this kind is not supported (${scheme}://…)`);
  const isHostAndPort = scheme === undefined && /^[^/\s]+:\d+\/?$/.test(given);
  const text = isHostAndPort ? `http://${given}` : given;
  if ((scheme === undefined && !isHostAndPort) || !URL.canParse(text))
    throw invalidProxy(variable, 'it is not the URL of a proxy');
  const url = new URL(text);
  try {
    for (const part of [url.username, url.password]) decodeURIComponent(part);
  } catch {
    throw invalidProxy(variable, 'a % in its user or password is not followed by two hexadecimal digits');
  }
  return url;
}

function invalidProxy(variable: string, why: string): UsageError {
  return new UsageError(
    'proxy_invalid',
    `${variable}: ${why}. Set it to http://HOST:PORT or https://HOST:PORT, or add the host that you call to NO_PROXY. Nothing was sent.`,
  );
}

/** True if `NO_PROXY` excepts the host as curl reads it, unlike the library: by a network, or a domain above it. */
function isExcepted({hostname}: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const entries = (process.env.no_proxy || process.env.NO_PROXY || '').toLowerCase().split(/[,\s]+/);
  return entries.some(entry => {
    if (/.\*/.test(entry))
      throw invalidException(entry, 'a domain such as example.com, or a network such as 10.0.0.0/8');
    const [address = '', bits] = entry.split('/');
    if (bits === undefined) return isIP(host) === 0 && address !== '' && host.endsWith(`.${address}`);
    const version = isIP(address);
    if (version === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128))
      throw invalidException(entry, 'a network such as 10.0.0.0/8');
    const network = new BlockList();
    network.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6');
    return isIP(host) === version && network.check(host, version === 4 ? 'ipv4' : 'ipv6');
  });
}

function invalidException(entry: string, expected: string): UsageError {
  return new UsageError(
    'proxy_invalid',
    `NO_PROXY: "${entry}" is not understood; expected ${expected}. Nothing was sent.`,
  );
}

/** An agent that tunnels to `target` through the environment's proxy; undefined if no proxy is set for it. */
export function createProxyAgent(target: URL, pool: AgentOptions): Agent | undefined {
  const proxy = proxyUrl(target);
  return proxy && new TunnelAgent(proxy, pool);
}

/** hpagent waits forever for a proxy's answer, even after `destroy`. Here, a limit or `destroy` ends the wait. */
class TunnelAgent extends HttpsProxyAgent {
  readonly #closing: AbortController;

  constructor(proxy: URL, pool: AgentOptions) {
    const closing = new AbortController();
    // For an `https:` proxy, hpagent gives TLS the host as the server's name. Node 26 refuses an address there, so it gets no name.
    const isNameless = proxy.protocol === 'https:' && isIP(proxy.hostname) !== 0;
    if (isNameless) Object.defineProperty(proxy, 'protocol', {value: 'https'});
    const proxyRequestOptions = {
      ...CHECKED_TLS_OPTIONS,
      ...(isNameless && {servername: ''}),
      headers: {},
      // hpagent passes `signal` on, though its types lack it. Each tunnel reads it, and so gets a limit of its own.
      get signal() {
        const late = new AbortController();
        setTimeout(() => late.abort(), CONNECT_TIMEOUT_MS).unref();
        return AbortSignal.any([closing.signal, late.signal]);
      },
    };
    super({...pool, ...CHECKED_TLS_OPTIONS, proxy, proxyRequestOptions});
    this.#closing = closing;
  }

  override createConnection(options: RequestOptions, made?: Made): Duplex | null | undefined {
    return super.createConnection(options, (error, socket) => made?.(toProxyError(error), socket));
  }

  override destroy(): void {
    this.#closing.abort();
    super.destroy();
  }
}

type Made = (error: Error | null, socket: Duplex) => void;

/** Gives a proxy's error or refusal a code such as `PROXY_407`: hpagent has the status only in its message. */
function toProxyError(error: Error | null): Error | null {
  if (error === null) return null;
  const [, status] = /^Bad response: (\d{3})$/.exec(error.message) ?? [];
  const code = status ?? systemCode(error).replace(/^(ABORT_ERR|ETIMEDOUT)$/, 'TIMEOUT');
  return Object.assign(new Error(), {code: `${OF_PROXY}${code}`});
}
