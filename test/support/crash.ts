import {readFileSync} from 'node:fs';
import {type ApiServerOptions, startApiServer} from './api-server.ts';
import {createSandbox, type RunningCommand, type Sandbox} from './command.ts';
import {randomOf} from './random.ts';

/** A list with repeated values, empty cells and values that can't be any; so many distinct values of each operation. */
export function listOf(rows: number, distinct: number, seed = 1): string {
  const random = randomOf(seed);
  const pick = () => Math.floor(random() * distinct);
  const lines = ['id,ip,email,note'];
  for (let id = 0; id < rows; id++) {
    const i = id < distinct ? id : pick();
    const j = id < distinct ? id : pick();
    const ip = id % 50 === 7 ? '' : `198.${18 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
    const email = id % 40 === 3 ? 'not an address' : `user${j}@example.com`;
    lines.push(`${id},${ip},${email},"a, ""b"" ${id}"`);
  }
  return `${lines.join('\n')}\n`;
}

const KEY = 'test-key-2f1d9c-8e70b3a1';

export type Arena = Awaited<ReturnType<typeof openArena>>;

/** A sandbox, and a server that its commands are told of. */
export async function openArena(options: Partial<ApiServerOptions> = {}) {
  const api = await startApiServer({key: KEY, ...options});
  const sandbox = createSandbox();
  const env: Readonly<Record<'BULK_ENRICH_BASE_URL' | 'BULK_ENRICH_API_KEY', string>> = {
    BULK_ENRICH_BASE_URL: api.url,
    BULK_ENRICH_API_KEY: KEY,
  };
  return {
    ...{sandbox, api, env},
    async [Symbol.asyncDispose]() {
      sandbox[Symbol.dispose]();
      await api.close();
    },
  };
}

/**
 * Starts the same command again and again, killing each session where `killAfter` says (milliseconds after it shows a
 * sign of life; undefined: not at all), until one ends by itself. Returns how that one ended, and the number of kills.
 */
export async function runUntilDone(
  start: () => RunningCommand,
  killAfter: (session: number) => number | undefined,
) {
  for (let kills = 0; ; ) {
    const command = start();
    const delay = killAfter(kills);
    const timer = delay === undefined ? undefined : setTimeout(() => command.kill('SIGKILL'), delay);
    const last = await command.outcome;
    clearTimeout(timer);
    if (last.signal !== 'SIGKILL') return {last, kills};
    kills += 1;
  }
}

export type Books = ReturnType<typeof booksOf>;

export function booksOf(sandbox: Sandbox, summary: string) {
  const {credits} = sandbox.summary(summary);
  return {spent: credits.spent, maybe: credits.maybe_spent};
}

/** The bytes of a sandbox's file. */
export function bytesOf(sandbox: Sandbox, name: string): Buffer {
  return readFileSync(sandbox.path(name));
}
