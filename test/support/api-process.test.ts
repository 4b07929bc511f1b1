import {afterEach, expect, test} from 'vitest';
import {operations} from '../../src/operations/table.ts';
import {type ApiProcess, type ApiProcessOptions, startApiProcess} from './api-process.ts';
import {startApiServer} from './api-server.ts';

const key = 'test-key-1';
const open: ApiProcess[] = [];

async function start(options: Partial<ApiProcessOptions> = {}): Promise<ApiProcess> {
  const server = await startApiProcess({key, ...options});
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(server => server.close()));
});

function ask({url}: {url: string}, ip: string, api_key = key): Promise<Response> {
  const headers = {'Content-Type': 'application/json'};
  return fetch(url + operations.ip.path, {method: 'POST', headers, body: JSON.stringify({api_key, ip})});
}

/** Status, or how far the answer came. */
async function outcome(server: ApiProcess, ip: string): Promise<string> {
  const answer = await ask(server, ip).catch(() => undefined);
  if (!answer) return 'reset';
  return answer.text().then(
    () => String(answer.status),
    () => 'cut',
  );
}

test('answers as the server in the test process does, and keeps books', async () => {
  const server = await start();
  await using near = await startApiServer({key});
  const far = await ask(server, '203.0.113.7');
  expect(await far.json()).toEqual(await (await ask(near, '203.0.113.7')).json());
  await ask(server, '203.0.113.7');
  await ask(server, '203.0.113.8');
  await ask(server, '203.0.113.9', 'other');
  expect(await server.ledger()).toMatchObject({
    requests: 4,
    calls: 4,
    charged: 3,
    credits: 3,
    by_operation: {ip: 4, phone: 0, email: 0, verify: 0},
    by_status: {200: 3, 401: 1},
    distinct: 3,
    repeated: 1,
    wrong_key: 1,
    key_elsewhere: 0,
    max_per_second: 4,
    peak_in_flight: 1,
  });
  expect((await server.values()).get('ip 203.0.113.7')).toBe(2);

  await server.reset();
  await ask(server, '203.0.113.7');
  expect(await server.ledger()).toMatchObject({calls: 1, distinct: 1, repeated: 0, max_per_second: 1});
});

test('test action ids are free', async () => {
  const server = await start();
  const body = JSON.stringify({api_key: key, action_id: 't/FFFFFFFFFFFFF/000000000', token: 't'});
  const answer = await fetch(`${server.url}/verify`, {method: 'POST', body});
  expect(await answer.json()).toMatchObject({verdict: {can_pass: false}});
  expect(await server.ledger()).toMatchObject({charged: 1, credits: 0});
});

test('faults by the seed, and each value gets through in the end', async () => {
  const ips = Array.from({length: 30}, (_, i) => `203.0.113.${i}`);
  const run = async (seed: number, order: readonly string[]) => {
    const server = await start({error: 0.6, seed});
    const seen: Record<string, string[]> = {};
    for (const ip of order)
      seen[ip] = [await outcome(server, ip), await outcome(server, ip), await outcome(server, ip)];
    return {seen, ledger: await server.ledger()};
  };
  const [first, again, other] = [await run(1, ips), await run(1, ips.toReversed()), await run(2, ips)];
  expect(again.seen).toEqual(first.seen);
  expect(other.seen).not.toEqual(first.seen);
  const all = Object.values(first.seen);
  expect(new Set(all.flat())).toEqual(new Set(['200', '500', '503', '429', 'reset', 'cut']));
  expect(all.every(([, , third]) => third === '200')).toBe(true);
  const {by_status, calls, credits} = first.ledger;
  expect(credits).toBe(calls - (by_status[429] ?? 0) - (by_status[503] ?? 0));
});

test('the error rate is the share of calls that fault', async () => {
  const server = await start({error: 1, faults: ['500'], faultsPerValue: 1});
  const ips = Array.from({length: 20}, (_, i) => `203.0.113.${i}`);
  const seen = async () => new Set(await Promise.all(ips.map(ip => outcome(server, ip))));
  expect([await seen(), await seen()]).toEqual([new Set(['500']), new Set(['200'])]);
});

test('settings change while it runs', async () => {
  const server = await start({limit: 1});
  expect([await outcome(server, '203.0.113.7'), await outcome(server, '203.0.113.7')]).toEqual([
    '200',
    '429',
  ]);
  await server.set({limit: null});
  expect([await outcome(server, '203.0.113.7'), await outcome(server, '203.0.113.7')]).toEqual([
    '200',
    '200',
  ]);
  await server.set({key: 'new-key'});
  expect(await outcome(server, '203.0.113.7')).toBe('401');
});

test('keeps no values, if asked', async () => {
  const server = await start({countersOnly: true});
  await ask(server, '203.0.113.7');
  expect(await server.ledger()).toMatchObject({calls: 1, distinct: 0});
});
