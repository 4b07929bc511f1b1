import {afterEach, describe, expect, test, vi} from 'vitest';
import {createClient} from '../../src/client/client.ts';
import {proxyUrl} from '../../src/client/http/proxy.ts';
import {pingHealthCheck, probeService} from '../../src/client/reachability.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {type RawServer, startRawServer} from '../support/raw-server.ts';
import {complaintOf} from '../support/told.ts';
import {client} from './clients.ts';

const apiKey = 'canary-key-b7710d';
const base = 'https://api.example.com';
afterEach(() => vi.unstubAllEnvs());

describe('a proxy that can not be one', () => {
  test.each([
    ['HTTPS_PROXY', 'socks5://127.0.0.1:1080', 'socks5://…'],
    ['ALL_PROXY', 'socks5h://user:canary-password@127.0.0.1:1080', 'socks5h://…'],
    ['https_proxy', 'nonsense', 'not the URL'],
    ['all_proxy', 'http://', 'not the URL'],
    ['HTTPS_PROXY', 'http://a b:3128', 'not the URL'],
    ['HTTPS_PROXY', 'http://us%er:canary-password@127.0.0.1:3128', 'user or password'],
  ])('%s=%s is a mistake in the settings, before anything is sent', async (name, value, why) => {
    vi.stubEnv(name, value);
    const message = complaintOf(() => createClient({baseUrl: base, apiKey}));
    expect(message).toContain(name);
    expect(message).toContain(why);
    expect(message).not.toContain('canary');
    await expect(probeService(new URL(base), 1_000)).rejects.toMatchObject({code: 'proxy_invalid'});
    expect(await pingHealthCheck(new URL(base))).toBe('proxy_invalid');
  });

  test('is of no matter where none is used', () => {
    vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1080');
    expect(() => createClient({baseUrl: 'http://127.0.0.1:9', apiKey}).close()).not.toThrow();
    vi.stubEnv('NO_PROXY', 'api.example.com');
    expect(() => createClient({baseUrl: base, apiKey}).close()).not.toThrow();
  });
});

test.each([
  [{https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1', all_proxy: 'http://c:1'}, 'a:1'],
  [{HTTPS_PROXY: 'http://b:1', all_proxy: 'http://c:1', ALL_PROXY: 'http://d:1'}, 'b:1'],
  [{all_proxy: 'http://c:1', ALL_PROXY: 'http://d:1', http_proxy: 'http://e:1'}, 'c:1'],
  [{ALL_PROXY: ' d:1/ '}, 'd:1'],
  [{HTTP_PROXY: 'http://e:1'}, undefined],
  [{HTTPS_PROXY: 'http://b:1', no_proxy: '.example.com'}, undefined],
  [{HTTPS_PROXY: 'http://b:1', NO_PROXY: 'other.org, example.com'}, undefined],
  [{HTTPS_PROXY: 'http://b:1', NO_PROXY: '10.0.0.0/8 le.com'}, 'b:1'],
])('the proxy that %j names is %s', (variables, host) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  expect(proxyUrl(new URL(base))?.host).toBe(host);
  expect(proxyUrl(new URL('http://127.0.0.1:9'))).toBeUndefined();
});

test.each([
  ['127.0.0.0/8', 'https://127.3.4.5', false],
  ['10.0.0.0/8', 'https://127.3.4.5', true],
  ['10.0.0.0/8', base, true],
  ['fd00::/8', 'https://[fd12::1]:8443', false],
  ['fd00::/8', 'https://127.3.4.5', true],
  ['api.example.com:8443', 'https://api.example.com:8443', false],
])('NO_PROXY=%s: a call to %s goes through the proxy: %s', (exceptions, url, isProxied) => {
  vi.stubEnv('HTTPS_PROXY', 'http://b:1');
  vi.stubEnv('NO_PROXY', exceptions);
  expect(proxyUrl(new URL(url)) !== undefined).toBe(isProxied);
});

test.each(['10.*', 'example.*', '10.0.0.0/33', '10.0.0/8', 'example.com/8'])(
  'NO_PROXY=%s is a mistake in the settings: nobody knows what it excepts',
  entry => {
    vi.stubEnv('HTTPS_PROXY', 'http://b:1');
    vi.stubEnv('NO_PROXY', `localhost,${entry}`);
    const message = expect.stringContaining(entry);
    expect(() => proxyUrl(new URL(base))).toThrow(expect.objectContaining({code: 'proxy_invalid', message}));
  },
);

describe('answers of a proxy', () => {
  async function answering(status: string): Promise<RawServer> {
    return startRawServer(socket => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`));
  }

  // test/codes has the run that ends with it.
  test('407 ends a command: the proxy refuses the credentials', async () => {
    await using proxy = await answering('407 Proxy Authentication Required');
    using sandbox = createSandbox();
    const env = {BULK_ENRICH_BASE_URL: base, BULK_ENRICH_API_KEY: apiKey, HTTPS_PROXY: proxy.url};
    const {code, stderr} = await runHere(sandbox, ['lookup', 'ip', '192.0.2.1'], {env});
    const said = expect.stringMatching(/the proxy refuses the credentials/);
    expect([code, stderr.replaceAll('\n', ' ')]).toEqual([2, said]);
  });

  test.each([
    ['other answers are named: nothing was sent', '502 Bad Gateway', ''],
    ['a proxy without a scheme is one over HTTP', '503 No', 'http://'],
  ])('%s', async (_, status, without) => {
    await using proxy = await answering(status);
    vi.stubEnv('HTTPS_PROXY', proxy.url.replace(without, ''));
    const attempt = await client(base).send('ip', {ip: '192.0.2.1'});
    expect(attempt).toMatchObject({kind: 'not_sent', code: `proxy_${status.slice(0, 3)}`});
  });
});
