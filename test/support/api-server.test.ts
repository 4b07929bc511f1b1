import {afterEach, describe, expect, test} from 'vitest';
import {operationNames, wire} from '../../src/client/wire.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from './api-server.ts';

const key = 'test-key-1';
const open: ApiServer[] = [];

async function start(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  const server = await startApiServer({key, ...options});
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(server => server.close()));
});

function post(server: ApiServer, path: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(server.url + path, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', ...headers},
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const ip = (value: string) => ({api_key: key, ip: value});
const requests = {
  ip: ip('203.0.113.7'),
  phone: {api_key: key, phone: '+15550100'},
  email: {api_key: key, email: 'Ann+x@Example.com'},
  verify: {
    api_key: key,
    action_id: 'a',
    token: 't1',
    id: 'u1',
    email: 'a@example.com',
    phone_number: '+15550100',
  },
};

describe('the interface', () => {
  test.each(operationNames)(
    '%s: an answer that meets the contract, the same for the same value',
    async operation => {
      const server = await start({keepValues: operation !== 'verify'});
      const [first, second] = await Promise.all([
        post(server, wire[operation].path, requests[operation]),
        post(server, wire[operation].path, requests[operation]),
      ]);
      const body = await first.json();
      expect(await second.json()).toEqual(body);
      expect(wire[operation].response.parse(body)).toEqual(body);
    },
  );

  test('a verdict has the parts that were asked for, and its second one says redeemed', async () => {
    const server = await start();
    const bare = {api_key: key, action_id: 'a', token: 't1'};
    const first = await (await post(server, '/verify', bare)).json();
    const second = await (await post(server, '/verify', bare)).json();
    expect(first).toMatchObject({verdict: {redeemed: false}});
    expect(second).toMatchObject({verdict: {redeemed: true}});
    for (const part of ['email', 'phone', 'multi_accounting', 'user_id'])
      expect(first).not.toHaveProperty(part);
  });
});

describe('the ledger', () => {
  test('counts calls, values, credits, arrivals', async () => {
    const server = await start({cost: {email: 3}});
    for (const value of ['203.0.113.7', '203.0.113.7', '203.0.113.8'])
      await post(server, wire.ip.path, ip(value));
    await post(server, wire.email.path, requests.email);
    const {ledger} = server;
    expect(ledger).toMatchObject({
      calls: 4,
      charged: 4,
      credits: 6,
      requests: 4,
      keySeen: 4,
      peakInFlight: 1,
    });
    expect(ledger.byOperation).toEqual({ip: 3, phone: 0, email: 1, verify: 0});
    expect(ledger.repeated()).toEqual([['ip', '203.0.113.7', 2]]);
    expect(ledger.distinct()).toBe(3);
    expect(ledger.arrivals).toHaveLength(4);
    expect([...ledger.byStatus]).toEqual([[200, 4]]);
    expect([ledger.keyElsewhere, ledger.violations]).toEqual([[], []]);
  });
});
