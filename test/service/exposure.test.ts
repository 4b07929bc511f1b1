import {once} from 'node:events';
import {get} from 'node:http';
import {connect} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {askService, running} from './running.ts';

const portOf = (url: string) => Number(new URL(url).port);

it.each([
  ['was no request', 'NONSENSE\r\n\r\n', 400],
  ['never came to its end', 'POST /verify HTTP/1.1\r\nContent-', 408],
])('a connection whose request %s is gone, though its client keeps it open', async (_, bytes, status) => {
  const service = await running({requestTimeoutMs: 100, maxConnections: 1});
  const socket = connect({port: portOf(service.url), host: '127.0.0.1', allowHalfOpen: true});
  let received = '';
  socket.on('data', data => {
    received += String(data);
  });
  socket.write(bytes);
  await once(socket, 'end');
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  // As long as it is there, no other has a place.
  const ask = () => askService(service, '/intelligence/ip', {ip: '8.8.8.8'}).catch(() => undefined);
  let reply = await ask();
  for (let tries = 0; reply === undefined && tries < 100; tries++) {
    await sleep(50);
    reply = await ask();
  }
  expect(reply?.status).toBe(200);
  socket.destroy();
});

it('more connections than allowed are closed as they come', async () => {
  const service = await running({maxConnections: 2});
  const sockets = [1, 2].map(() => connect(portOf(service.url), '127.0.0.1'));
  await Promise.all(sockets.map(socket => once(socket, 'connect')));
  const third = connect(portOf(service.url), '127.0.0.1').on('error', () => {});
  await once(third, 'close');
  expect(sockets.map(({closed}) => closed)).toEqual([false, false]);
  for (const socket of sockets) socket.destroy();
});

it('a page is shown to who asks by an address or the name that the service listens by, not by a website’s name', async () => {
  const service = await running();
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = get(`${service.url}/_ledger`, {headers: {host}}, response => {
        response.resume();
        resolve(response.statusCode);
      });
      request.once('error', reject);
    });
  for (const host of ['127.0.0.1', 'localhost:4780', '[::1]:4780', '203.0.113.9'])
    expect([host, await statusFor(host)]).toEqual([host, 200]);
  for (const host of ['rebound.example.com', 'rebound.example.com:4780', 'localhost.example.com'])
    expect([host, await statusFor(host)]).toEqual([host, 421]);
});

it('the pages without a key can be switched off, and probes still have theirs', async () => {
  const [open, closed] = [await running(), await running({pages: false})];
  const statusOf = async (url: string) => (await fetch(url)).status;
  const statuses = (page: string) => Promise.all([open, closed].map(({url}) => statusOf(url + page)));
  for (const page of ['/openapi.json', '/_ledger', '/_sources', '/_schemas'])
    expect(await statuses(page), page).toEqual([200, 404]);
  for (const page of ['/healthz', '/readyz']) expect(await statuses(page), page).toEqual([200, 200]);
  expect((await askService(closed, '/intelligence/ip', {ip: '8.8.8.8'})).status).toBe(200);
});
