import {readFileSync} from 'node:fs';
import {beforeAll, describe, expect, it} from 'vitest';
import {type Service, ServiceSetupError, startService} from '../../src/service/start.ts';
import {replyOf} from '../contract/target.ts';
import {askService, running} from './running.ts';

const ip = '/intelligence/ip';
const good = {ip: '8.8.8.8'};
const refusal = (status: number, message: string) => ({status, json: {success: false, message}});

describe('the key', () => {
  it('is made up if none is given, and no two are alike', async () => {
    const [one, two] = await Promise.all([startService(), startService()]);
    expect(one.apiKey).toMatch(/^[\w-]{32}$/);
    expect(two.apiKey).not.toBe(one.apiKey);
    expect((await askService(one, ip, good)).status).toBe(200);
    await Promise.all([one.close(), two.close()]);
  });
});

it('an option that does not exist is refused, and a port in use is told', async () => {
  const prot = {port: 0, prot: 8080};
  await expect(startService(prot)).rejects.toThrow('There is no option "prot". Did you mean "port"?');
  const {port} = new URL((await running()).url);
  await expect(startService({port: Number(port)})).rejects.toMatchObject({
    code: 'port',
    message: expect.stringMatching(
      /another program uses this address\). Use another port, or 0 for any free one\.$/,
    ),
  });
});

describe('our own codes', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({apiKey: 'test-key'});
    return async () => {
      expect(service.ledger().spent).toBe(0);
      await service.close();
    };
  });

  it.each([
    [ip, {api_key: undefined, ip: '8.8.8.8'}, 400, 'missing_field'],
    [ip, {api_key: '', ip: '8.8.8.8'}, 400, 'missing_field'],
    [ip, {api_key: null, ip: '8.8.8.8'}, 400, 'missing_field'],
    // The key is checked before the other fields.
    [ip, {api_key: 7}, 401, 'invalid_token'],
    [ip, {api_key: {}}, 401, 'invalid_token'],
    [ip, {api_key: 'test-keY'}, 401, 'invalid_token'],
    [ip, {api_key: 'test-key '}, 401, 'invalid_token'],
    ['/_sessions', {api_key: 'wrong', sessions: []}, 401, 'invalid_token'],
    [ip, {ip: null}, 400, 'missing_field'],
    [ip, {}, 400, 'missing_field'],
    [ip, {ip: ''}, 400, 'missing_field'],
    [ip, {ip: 7}, 400, 'invalid_field'],
    [ip, {ip: '8.8.8'}, 400, 'invalid_ip'],
    [ip, {ip: '08.8.8.8'}, 400, 'invalid_ip'],
    [ip, {ip: '8.8.8.8 '}, 400, 'invalid_ip'],
    ['/intelligence/phone', {}, 400, 'missing_field'],
    ['/intelligence/phone', {phone: ['+1']}, 400, 'invalid_field'],
    ['/intelligence/email', {email: {}}, 400, 'invalid_field'],
    ['/verify', {action_id: 'a'}, 400, 'missing_field'],
    ['/verify', {token: 't'}, 400, 'missing_field'],
    ['/verify', {action_id: 'a', token: 'unknown'}, 400, 'unknown_session'],
    ['/verify', {action_id: 'a', token: 't', id: 7}, 400, 'invalid_field'],
    ['/_sessions', {}, 400, 'missing_field'],
    ['/_sessions', {sessions: [{token: 't'}]}, 400, 'invalid_field'],
    ['/nowhere', {}, 404, 'not_found'],
    ['/intelligence/ip/', {}, 404, 'not_found'],
  ])('%s with %j: %i %s', async (path, body, status, message) => {
    const reply = await askService(service, path, body);
    expect(reply).toMatchObject(refusal(status, message));
    expect(reply.type).toMatch(/^application\/json/);
  });

  /** Sends a body as it is, of this type. */
  const post = async (body: string | Buffer, type?: string) => {
    const headers = type === undefined ? {} : {'Content-Type': type};
    return await fetch(service.url + ip, {method: 'POST', headers, body});
  };

  const text = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"api_key":"test-key","ip":"8'), Buffer.from(bytes), Buffer.from('"}')]);

  // The last ones are no UTF-8.
  it.each<string | Buffer>([
    ...['', '{', 'null', '[]', '"x"', '7', '\u0001'],
    ...[text(0xff), text(0xc3, 0x28), text(0xed, 0xa0, 0x80)],
  ])('body %j: 400 malformed_body', async body => {
    const reply = await replyOf(await post(body, 'application/json'));
    expect(reply).toMatchObject(refusal(400, 'malformed_body'));
  });

  it.each([
    ['GET', ip, 'POST'],
    ['PUT', '/verify', 'POST'],
    ['DELETE', '/_sessions', 'POST'],
    ['POST', '/_ledger', 'GET, HEAD'],
    ['POST', '/readyz', 'GET, HEAD'],
  ])('%s %s: 405 method_not_allowed, with Allow', async (method, path, allowed) => {
    const response = await fetch(service.url + path, {method});
    expect(response.headers.get('allow')).toBe(allowed);
    expect(await replyOf(response)).toMatchObject({status: 405, json: {message: 'method_not_allowed'}});
  });

  it.each([undefined, 'application/vnd.api+json', 'application/json-seq', 'text/json'])(
    'media type %s: 415 unsupported_media_type',
    async type => {
      const reply = await replyOf(await post('{"api_key":"test-key","ip":"8.8.8.8"}', type));
      expect(reply).toMatchObject({status: 415, json: {message: 'unsupported_media_type'}});
    },
  );

  it.each(['application/json; charset=utf-8', 'application/json ;charset=utf-8', 'APPLICATION/JSON'])(
    '%s is JSON',
    async type => {
      expect(await replyOf(await post('{}', type))).toMatchObject({json: {message: 'missing_field'}});
    },
  );

  it('are all in the docs, with their status, and no others are', async () => {
    const {errorStatus} = await import('../../src/service/http/reply.ts');
    const docs = readFileSync('docs/service.md', 'utf8');
    const list = docs.slice(docs.indexOf('## Handle its errors'), docs.indexOf('## Know the source'));
    const found = [...list.matchAll(/\b(\d{3}) `(\w+)`/g)];
    const documented = found.map(([, status, code]) => [code, Number(status)]);
    expect(Object.fromEntries(documented)).toEqual(errorStatus);
  });
});

describe('credits', () => {
  it('are counted by operation, and rejected calls are free', async () => {
    const service = await running({costs: {phone: 3}});
    await askService(service, ip, good);
    await askService(service, '/intelligence/phone', {phone: '+1'});
    await askService(service, ip, {ip: 'x'});
    await askService(service, ip, {api_key: 'wrong'});
    const ledger = await (await fetch(`${service.url}/_ledger`)).json();
    const {balance, spent, operations} = ledger as ReturnType<Service['ledger']>;
    expect({balance, spent}).toEqual({balance: null, spent: 4});
    const rejected = {invalid_ip: 1, invalid_token: 1};
    expect(operations.ip).toEqual({calls: 1, free: 0, unanswered: 0, credits: 1, rejected});
    expect(operations.phone).toMatchObject({calls: 1, credits: 3});
  });

  it('never go below zero: 402 out_of_credits, and a dearer call fails where a cheaper one passes', async () => {
    const service = await running({credits: 4, costs: {ip: 3}});
    expect((await askService(service, ip, good)).status).toBe(200);
    expect(await askService(service, ip, good)).toMatchObject(refusal(402, 'out_of_credits'));
    expect((await askService(service, '/intelligence/email', {email: 'a@b.org'})).status).toBe(200);
    expect(service.ledger()).toMatchObject({balance: 0, spent: 4});
  });

  it('hold under concurrent calls, to the credit', async () => {
    const service = await running({credits: 20});
    const replies = await Promise.all(Array.from({length: 50}, () => askService(service, ip, good)));
    expect(replies.filter(({status}) => status === 200)).toHaveLength(20);
    expect(replies.filter(({status}) => status === 402)).toHaveLength(30);
    expect(service.ledger()).toMatchObject({balance: 0, spent: 20});
  });

  it('are not needed by test action ids', async () => {
    const service = await running({credits: 0});
    const body = {action_id: 't/FFFFFFFFFFFFF/111111111', token: 'any'};
    expect((await askService(service, '/verify', body)).status).toBe(200);
    expect(service.ledger().operations.verify).toMatchObject({calls: 1, free: 1, credits: 0});
  });
});

describe('options', () => {
  const wrongRates = [{errorRate: 1.5}, {errorRate: Number.NaN}, {rateLimit: 0}, {latencyMs: -1}];
  const wrongCredits = [{credits: -1}, {credits: null}, {costs: {ipp: 1}}, {costs: {ip: -1}}, {costs: 5}];
  const wrongTypes = [
    {port: 1.5},
    {port: '80'},
    {host: 5},
    {apiKey: ''},
    {apiKey: 5},
    {log: {}},
    {pages: 'no'},
  ];
  const all: readonly unknown[] = [...wrongRates, ...wrongCredits, ...wrongTypes, {seed: 'x'}, null, 5];
  it.each(all)('%j is refused', async options => {
    const starting = Reflect.apply(startService, undefined, [options]);
    await expect(starting).rejects.toThrow(ServiceSetupError);
  });
});

describe('pages of our own', () => {
  it('GET /_sources names each data set with licence, date or version, entries and fields', async () => {
    const {url} = await running();
    const all = await (await fetch(`${url}/_sources`)).json();
    const sources = all as Record<string, Record<string, unknown>[]>;
    const sets = sources['data_sets'] ?? [];
    const known = ['@ip-location-db/asn', 'mailchecker', '@ip1sms/disposable-phone-numbers'];
    expect(sets.map(({name}) => name)).toEqual(expect.arrayContaining(known));
    for (const set of sets) {
      expect(set).toMatchObject({licence: expect.stringMatching(/./), version: expect.stringMatching(/^\d/)});
      expect(set['entries']).toBeGreaterThan(100);
    }
    for (const library of sources['libraries'] ?? []) expect(library['version']).toMatch(/^\d/);
    const leftOut = (sources['left_out'] ?? []).flatMap(({fields}) => fields);
    const lacking = ['is_residential_proxy', 'is_threat', 'is_spam', 'is_proxy', 'postal_code'];
    expect(leftOut).toEqual(expect.arrayContaining(lacking));
  });

  it('GET /_schemas describes sessions and rules', async () => {
    const {url} = await running();
    const schemas = (await (await fetch(`${url}/_schemas`)).json()) as Record<string, {properties?: object}>;
    expect(Object.keys(schemas['session']?.properties ?? {})).toContain('finished_at');
    expect(schemas['rules']).toMatchObject({type: 'array'});
  });
});
