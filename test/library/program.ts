import type {ApiServer, ApiServerOptions} from '../support/api-server.ts';
import {openArena} from '../support/crash.ts';

/** A program that uses the library: a server to ask, and directories of its own. */
export interface Program extends AsyncDisposable {
  readonly api: ApiServer;
  /** Its directory for temporary files. */
  readonly temporary: string;
  readonly options: {readonly env: Readonly<Record<string, string>>};
}

export async function startProgram(server: Partial<ApiServerOptions> = {}): Promise<Program> {
  const {api, sandbox, env, ...arena} = await openArena(server);
  const temporary = sandbox.home;
  const own = {HOME: temporary, XDG_CACHE_HOME: temporary, XDG_STATE_HOME: temporary};
  return {...arena, api, temporary, options: {env: {...env, ...own}}};
}

export const bySpeed = {rate: 'unlimited', store: false} as const;

export function address(n: number): string {
  return `203.0.${113 + (n >> 8)}.${n & 255}`;
}
