import {type ApiServerOptions, startApiServer} from '../support/api-server.ts';

/** A key that can't turn up anywhere by chance. */
export const KEY = 'canary-key-c0ffee-5e6f7a8b';

export type Service = Awaited<ReturnType<typeof startService>>;

/** A service to be asked, and how a command gets to know of it. */
export async function startService(options: Partial<ApiServerOptions> = {}) {
  const server = await startApiServer({key: KEY, ...options});
  const env: Readonly<Record<string, string>> = {
    BULK_ENRICH_BASE_URL: server.url,
    BULK_ENRICH_API_KEY: options.key ?? KEY,
  };
  return Object.assign(server, {env});
}

/** As fast as it goes. */
export const FAST = ['--rate', 'unlimited', '--score', 'none'];
