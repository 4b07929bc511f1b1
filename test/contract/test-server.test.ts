import {afterAll} from 'vitest';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {contract} from './suite.ts';

let server: ApiServer | undefined;

afterAll(() => server?.close());

contract('the server of the other tests keeps the contract', async () => {
  const running = await startApiServer({key: 'contract-key'});
  server = running;
  let token = 0;
  return {
    baseUrl: running.url,
    apiKey: 'contract-key',
    actionId: 'contract',
    freshToken: () => `contract-session-${token++}`,
    spent: async () => running.ledger.credits,
  };
});
