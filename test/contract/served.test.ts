import {afterAll} from 'vitest';
import {startService} from '../../src/service/start.ts';
import {startApiServer} from '../support/api-server.ts';
import {contract} from './suite.ts';
import {ask} from './target.ts';

const started: {close(): Promise<unknown>}[] = [];
afterAll(() => Promise.all(started.map(service => service.close())));

contract('the embedded service keeps the contract', async () => {
  const running = await startService();
  started.push(running);
  const target = {baseUrl: running.url, apiKey: running.apiKey, actionId: 'contract', ours: true};
  const tokens = Array.from({length: 50}, (_, index) => `contract-session-${index}`);
  await ask(target, '/_sessions', {sessions: tokens.map(sessionOf)});
  const freshToken = () => tokens.pop() ?? 'no more tokens';
  return {...target, freshToken, spent: async () => running.ledger().spent};
});

contract('the server of the other tests keeps the contract', async () => {
  const apiKey = 'contract-key';
  const running = await startApiServer({key: apiKey});
  started.push(running);
  let token = 0;
  const freshToken = () => `contract-session-${token++}`;
  const spent = async () => running.ledger.credits;
  return {baseUrl: running.url, apiKey, actionId: 'contract', freshToken, spent};
});

const sessionOf = (token: string): object => ({
  token,
  ip: '9.9.9.9',
  user_agent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  languages: 'en-GB,en',
  fingerprint: 'contract-device',
  started_at: '2026-06-01T09:00:00+02:00',
  finished_at: '2026-06-01T09:00:00.500+02:00',
});
