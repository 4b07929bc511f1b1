import {Agent} from 'node:http';
import {expect, test} from 'vitest';
import type {RawResponse} from '../../src/client/classify.ts';
import {type ClientOptions, createClient, forPrograms, openClient} from '../../src/client/client.ts';
import {slimRequestOptions} from '../../src/client/http/connections.ts';

const KEY = 'client-key-1';
const OK = JSON.stringify({success: true, data: {city: 'X', country: 'DE'}});

/** A status, or a response. */
type Given = number | Partial<RawResponse>;

/** A client whose calls are answered here. `sent` gets their URLs and bodies. */
function clientWith(answers: readonly (Given | Promise<Given>)[], options: Partial<ClientOptions> = {}) {
  const sent: (readonly [string, Record<string, string>])[] = [];
  const opened = openClient({baseUrl: 'https://api.example.com', apiKey: KEY, ...options}, () => ({
    async post(url, body) {
      const answer = answers[sent.length] ?? 200;
      sent.push([url.href, JSON.parse(body)]);
      const given = await answer;
      const {status = 200, ...more} = typeof given === 'number' ? {status: given} : given;
      return {status, body: status === 200 ? OK : '', latencyMs: 1, pace: {limits: {}}, ...more};
    },
    close() {},
  }));
  return {client: forPrograms(opened), sent};
}
const ip = {ip: '198.51.100.7'};

test('a client tells its base URL without the user and password in it: it is logged', () => {
  const baseUrl = 'https://gateway:canary-password@api.example.com/risk/';
  const client = createClient({baseUrl, apiKey: KEY});
  expect(client.baseUrl).toBe('https://api.example.com/risk');
  client.close();
});

test('a call goes to the path of its operation below the base URL, with the key and all of its fields', async () => {
  const {client, sent} = clientWith([], {baseUrl: 'https://api.example.com/risk/v1//'});
  await client.phone('+12125550142');
  const beside = {id: 'u1', email: 'jo@example.com', phoneNumber: '+12125550142'};
  await client.verify({token: 't', actionId: 'a', ...beside}).catch(() => {});
  await client.verify({token: 't', actionId: 'a'}).catch(() => {});
  const verify = 'https://api.example.com/risk/v1/verify';
  const asked = {api_key: KEY, token: 't', action_id: 'a'};
  expect(sent).toEqual([
    ['https://api.example.com/risk/v1/intelligence/phone', {api_key: KEY, phone: '+12125550142'}],
    [verify, {...asked, id: 'u1', email: 'jo@example.com', phone_number: '+12125550142'}],
    [verify, asked],
  ]);
});

test.each(['http://localhost:8080', 'http://127.9.9.9', 'http://[::1]:8080', 'https://192.0.2.1'])(
  'the base URL %s is taken',
  baseUrl => {
    expect(clientWith([], {baseUrl}).client.baseUrl).toBe(baseUrl);
  },
);

test('a client that was closed sends nothing', async () => {
  const {client, sent} = clientWith([]);
  client.close();
  expect(await client.send('ip', ip)).toMatchObject({kind: 'not_sent', code: 'client_closed'});
  expect(sent).toEqual([]);
});

test.each([
  ['a1b2-c3d4', 'a1b2-c3d4'],
  ['ip-198.51.100.7', undefined],
  [`of_${KEY}`, undefined],
  ['client.1-ENTKEY1', 'client.1-ENTKEY1'],
  ['denied-IENT_key-1', undefined],
])('a request identifier is kept unless it repeats the value or the key: %s', async (requestId, kept) => {
  const {client} = clientWith([{pace: {retryAfter: '1', limits: {}, requestId}}]);
  const attempt = await client.send('ip', ip);
  expect(attempt).toMatchObject({kind: 'answered', pace: {retryAfter: '1'}});
  expect('pace' in attempt && attempt.pace?.requestId).toBe(kept);
});

test.each([
  [401, 6, /BULK_ENRICH_API_KEY/],
  [402, 7, /no credits left/],
  [302, 2, /BULK_ENRICH_BASE_URL/],
  [429, 5, /slow down/],
  [500, 3, /may have been charged/],
  [404, 3, /rejected/],
  [{body: 'x'}, 3, /breaks the interface/],
] as const)('a lookup that gets %j ends with exit code %i', async (response, exitCode, message) => {
  const {client} = clientWith([response]);
  await expect(client.ip(ip.ip)).rejects.toMatchObject({exitCode, message: expect.stringMatching(message)});
});

test.each([
  ['http://[::1]:8080/risk/', {protocol: 'http:', host: '::1', port: '8080', path: '/risk/'}],
  ['https://api.example.com/a', {protocol: 'https:', host: 'api.example.com', port: 443, path: '/a'}],
])('a request for %s goes there', (url, expected) => {
  const [handler] = slimRequestOptions(new URL(url), new Agent()).handlers ?? [];
  const headers = {accept: 'application/json'};
  type Native = {createNativeRequestOptions(): object};
  const given = handler?.({headers} as never, ((options: object) => options) as never) as unknown as Native;
  expect(given.createNativeRequestOptions()).toMatchObject({...expected, method: 'POST', headers});
});

test.each<[string, 'send' | 'ip' | 'answer' | 'verify', readonly unknown[]]>([
  ['a number', 'send', ['ip', {ip: 5}]],
  ['a misspelled field', 'send', ['ip', {pi: '192.0.2.1'}]],
  ['the field of another operation', 'answer', ['phone', {ip: '192.0.2.1'}]],
  ['a field too many', 'answer', ['ip', {ip: '192.0.2.1', user: 'u1'}]],
  ['another key', 'send', ['ip', {ip: '192.0.2.1', api_key: 'other-key-1'}]],
  ['a field called __proto__', 'send', ['ip', JSON.parse('{"ip":"192.0.2.1","__proto__":"x"}')]],
  ['a Map', 'send', ['ip', new Map([['ip', '192.0.2.1']])]],
  ['a verdict without an action', 'send', ['verify', {token: 't'}]],
  ['a misspelled field of a verdict', 'verify', [{token: 't', actionId: 'a', emial: 'jo@example.com'}]],
  ['an unknown option', 'ip', ['192.0.2.1', {timeout: 5}]],
  ['nothing', 'ip', [undefined]],
  ['null among texts', 'answer', ['phone', {phone: null}]],
  ['no request', 'verify', [undefined]],
  ['no values', 'send', ['ip', undefined]],
  ['null as values', 'send', ['ip', null]],
  ['a text as values', 'send', ['ip', '192.0.2.1']],
  ['another operation', 'send', ['constructor', {ip: '192.0.2.1'}]],
])('%s as a value is refused with a code, and nothing is sent', async (_, method, given) => {
  const {client, sent} = clientWith([]);
  await expect(Reflect.apply(client[method], client, given)).rejects.toMatchObject({
    code: 'settings',
    message: expect.stringMatching(/: expected |There is no option/),
  });
  expect(sent).toEqual([]);
});

test.each([undefined, '', ' '])('a client needs a key: %j is refused with a hint', apiKey => {
  for (const wrong of [{baseUrl: 'https://api.example.com', apiKey}, undefined])
    expect(() => Reflect.apply(createClient, undefined, [wrong])).toThrow(
      expect.objectContaining({code: 'no_key'}),
    );
});

test('a verdict that is refused with invalid_token names both causes: the interface does not say which it is', async () => {
  const {client} = clientWith([{status: 401, body: '{"success":false,"message":"invalid_token"}'}]);
  await expect(client.verify({token: 't', actionId: 'a'})).rejects.toMatchObject({
    code: 'invalid_token',
    message: expect.stringMatching(/session token or the API key.*BULK_ENRICH_API_KEY/),
  });
});
