import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';

const KEY = 'library-key-5f2e';

/** A program that uses the library: a server to ask, and directories of its own. */
export interface Program extends AsyncDisposable {
  readonly api: ApiServer;
  /** Its directory for temporary files. */
  readonly temporary: string;
  readonly options: {readonly env: Readonly<Record<string, string>>};
}

export async function startProgram(server: Partial<ApiServerOptions> = {}): Promise<Program> {
  const api = await startApiServer({key: KEY, ...server});
  const home = mkdtempSync(join(tmpdir(), 'bulk-enrich-library-'));
  const env = {
    HOME: home,
    XDG_CACHE_HOME: home,
    XDG_STATE_HOME: home,
    BULK_ENRICH_BASE_URL: api.url,
    BULK_ENRICH_API_KEY: KEY,
  };
  return {
    api,
    temporary: home,
    options: {env},
    async [Symbol.asyncDispose]() {
      await api.close();
      rmSync(home, {recursive: true, force: true});
    },
  };
}

export const bySpeed = {rate: 'unlimited', store: false} as const;

export function address(n: number): string {
  return `203.0.${113 + (n >> 8)}.${n & 255}`;
}

/** A promise that the test settles from outside. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return {opened, open};
}
