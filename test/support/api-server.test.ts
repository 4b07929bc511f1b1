import {afterEach, describe, expect, test} from 'vitest';
import {operationNames, operations, perOperation} from '../../src/operations/table.ts';
import {TEST_ACTION_ALWAYS_PASS} from '../../src/operations/verify.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from './api-server.ts';
import {reply} from './api-server-reply.ts';

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
        post(server, operations[operation].path, requests[operation]),
        post(server, operations[operation].path, requests[operation]),
      ]);
      const body = await first.json();
      expect(await second.json()).toEqual(body);
      expect(operations[operation].response.parse(body)).toEqual(body);
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
      await post(server, operations.ip.path, ip(value));
    await post(server, operations.email.path, requests.email);
    const {ledger} = server;
    expect(ledger).toMatchObject({
      calls: 4,
      charged: 4,
      credits: 6,
      requests: 4,
      keySeen: 4,
      peakInFlight: 1,
    });
    expect(ledger.byOperation).toEqual({...perOperation(() => 0), ip: 3, email: 1});
    expect(ledger.repeated()).toEqual([['ip', '203.0.113.7', 2]]);
    expect(ledger.distinct()).toBe(3);
    expect(ledger.arrivals).toHaveLength(4);
    expect([...ledger.byStatus]).toEqual([[200, 4]]);
    expect([ledger.keyElsewhere, ledger.violations]).toEqual([[], []]);
  });

  test('detects a key in the wrong place, wrong keys, and calls against the interface', async () => {
    const server = await start();
    const {ledger} = server;
    await post(server, operations.ip.path, ip('203.0.113.7'), {'X-Key': key});
    await post(server, `/x?${key}`, {});
    const denied = await post(server, operations.ip.path, {api_key: 'other', ip: '203.0.113.7', more: 1});
    const broken = await post(server, operations.ip.path, '{"ip":');
    expect([denied.status, await denied.json()]).toEqual([401, {success: false, message: 'invalid_token'}]);
    expect(broken.status).toBe(400);
    expect(ledger.keyElsewhere).toEqual(['header x-key', 'url']);
    expect(ledger.violations).toEqual([
      `POST /x?${key}`,
      '/intelligence/ip: more',
      '/intelligence/ip: no JSON object',
    ]);
    expect(ledger).toMatchObject({requests: 4, calls: 2, wrongKey: 1, credits: 1, keySeen: 1});
  });

  test('keeps counters only, if asked', async () => {
    const server = await start({keepValues: false});
    await post(server, operations.ip.path, ip('203.0.113.7'));
    const {ledger} = server;
    expect(ledger).toMatchObject({calls: 1, credits: 1, maxPerSecond: 1, arrivals: []});
    expect(ledger.distinct()).toBe(0);
  });

  test('charges as the rule says, unless the script says otherwise; test action ids are free', async () => {
    const replies = [
      reply.ok(),
      reply.ok({charge: false}),
      reply.throttle(),
      reply.throttle(0, {charge: true}),
      reply.unauthorized(),
      reply.noCredits(),
      reply.unavailable(),
      reply.unavailable(0),
      reply.error(500, 'internal'),
      reply.drop(),
    ];
    const server = await start({script: call => replies[call.call - 1]});
    const charged: number[] = [];
    for (let i = 1; i <= replies.length; i++) {
      const before = server.ledger.charged;
      await post(server, operations.ip.path, ip('203.0.113.7')).catch(() => {});
      charged.push(server.ledger.charged - before);
    }
    expect(charged).toEqual([1, 0, 0, 1, 0, 0, 1, 0, 1, 1]);
    await post(server, '/verify', {api_key: key, action_id: TEST_ACTION_ALWAYS_PASS, token: 't'});
    expect(server.ledger).toMatchObject({charged: 6, credits: 5});
  });

  test('knows how many requests were in flight, and delays them as scripted', async () => {
    let release = () => {};
    const held = new Promise<undefined>(resolve => {
      release = () => resolve(undefined);
    });
    const server = await start({script: () => held});
    const answers = [1, 2, 3].map(n => post(server, operations.ip.path, ip(`203.0.113.${n}`)));
    await expect.poll(() => server.ledger.inFlight).toBe(3);
    release();
    expect((await Promise.all(answers)).map(answer => answer.status)).toEqual([200, 200, 200]);
    await expect.poll(() => server.ledger.inFlight).toBe(0);
    expect(server.ledger.peakInFlight).toBe(3);
  });
});

describe('settings that change while it runs', () => {
  test('limit', async () => {
    const server = await start({limit: {perSecond: 1}});
    const statuses = async () => [(await post(server, operations.ip.path, ip('203.0.113.7'))).status];
    expect([...(await statuses()), ...(await statuses())]).toEqual([200, 429]);
    server.setLimit({perSecond: 1, reply: () => reply.unavailable('soon')});
    expect([...(await statuses()), ...(await statuses())]).toEqual([200, 503]);
    server.setLimit(undefined);
    expect([...(await statuses()), ...(await statuses())]).toEqual([200, 200]);
  });

  test('key, script, early', async () => {
    const server = await start();
    const status = () =>
      post(server, operations.ip.path, ip('203.0.113.7')).then(
        r => r.status,
        () => 'broken',
      );
    server.setKey('new-key');
    expect(await status()).toBe(401);
    server.setKey(key);
    server.setScript(({attempt}) => (attempt === 2 ? reply.forbidden() : undefined));
    expect([await status(), await status()]).toEqual([403, 200]);
    server.setEarly(() => ({when: 'head', ending: 'reset'}));
    expect(await status()).toBe('broken');
  });
});
