import {expect, test} from 'vitest';
import {createClient} from '../../src/client/client.ts';

test('a client tells its base URL without the user and password in it: it is logged', () => {
  const client = createClient({
    baseUrl: 'https://gateway:canary-password@api.example.com/risk/',
    apiKey: 'client-key-1',
  });
  expect(client.baseUrl).toBe('https://api.example.com/risk');
  client.close();
});
