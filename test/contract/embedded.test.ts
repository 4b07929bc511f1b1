import {afterAll} from 'vitest';
import {type Service, startService} from '../../src/service/start.ts';
import {contract} from './suite.ts';
import {ask} from './target.ts';

let service: Service | undefined;

afterAll(() => service?.close());

contract('the embedded service keeps the contract', async () => {
  const running = await startService();
  service = running;
  const target = {baseUrl: running.url, apiKey: running.apiKey, actionId: 'contract', ours: true};
  const tokens = Array.from({length: 50}, (_, index) => `contract-session-${index}`);
  await ask(target, '/_sessions', {sessions: tokens.map(sessionOf)});
  return {
    ...target,
    freshToken: () => tokens.pop() ?? 'no more tokens',
    spent: async () => running.ledger().spent,
  };
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
