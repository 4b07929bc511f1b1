import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import {type ApiServerOptions, startApiServer} from '../support/api-server.ts';
import {filesUnder, type Sandbox} from '../support/command.ts';

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

/** Expects the key in nothing that was said, and in no file of a sandbox or its home. */
export function expectNoKey({directory, home}: Sandbox, said: string, key = KEY): void {
  expect(said).not.toContain(key);
  for (const root of [directory, home])
    for (const name of filesUnder(root))
      expect(readFileSync(join(root, name)).includes(key), name).toBe(false);
}

/** As fast as it goes. */
export const FAST = ['--rate', 'unlimited', '--score', 'none'];
