import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';

/** A key that can't turn up anywhere by chance. */
export const KEY = 'canary-key-c0ffee-5e6f7a8b';

/** A service to be asked, and how a command gets to know of it. */
export interface Service extends ApiServer {
  readonly env: Readonly<Record<string, string>>;
}

export async function startService(options: Partial<ApiServerOptions> = {}): Promise<Service> {
  const server = await startApiServer({key: KEY, ...options});
  const env = {BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: options.key ?? KEY};
  return Object.assign(server, {env});
}

/** As fast as it goes. */
export const FAST = ['--rate', 'unlimited', '--score', 'none'];
