import {onTestFinished, vi} from 'vitest';
import {type Client, type ClientOptions, createClient} from '../../src/client/client.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';
import {startRawServer} from '../support/raw-server.ts';

export const key = 'canary-key-1f0c9a';

/** A client that goes with its test, as do the variables that were set for it. */
export function client(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const made = createClient({baseUrl, apiKey: key, timeoutMs: 5_000, ...options});
  onTestFinished(() => {
    made.close();
    vi.unstubAllEnvs();
  });
  return made;
}

/** A service that goes with its test. */
export async function serve(options: Omit<ApiServerOptions, 'key'> = {}): Promise<ApiServer> {
  const server = await startApiServer({key, ...options});
  onTestFinished(() => server.close());
  return server;
}

/** One that answers with bytes. */
export async function serveRaw(answer: Parameters<typeof startRawServer>[0]) {
  const server = await startRawServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}
