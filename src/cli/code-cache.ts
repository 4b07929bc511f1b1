import {lstatSync, mkdirSync} from 'node:fs';
import module from 'node:module';
import {join} from 'node:path';
import {userDirectory} from '../disk/directory.ts';
import type {Env} from '../job/endpoint.ts';

/** `module.enableCompileCache`. Node has it since 22.8. It does nothing if NODE_DISABLE_COMPILE_CACHE is set. */
type EnableCompileCache = (directory: string) => unknown;
const nodes = (module as {readonly enableCompileCache?: EnableCompileCache}).enableCompileCache ?? null;

/** Lets Node keep compiled code in the user's own, closed directory: Node executes what is kept there. */
export function keepCompiledCode(env: Env, enable: EnableCompileCache | null = nodes): void {
  if (enable === null) return;
  try {
    const path = join(userDirectory('cache', env), 'code');
    mkdirSync(path, {recursive: true, mode: 0o700});
    if (isOwn(path)) enable(path);
  } catch {
    // Without the cache, commands only start more slowly.
  }
}

function isOwn(path: string): boolean {
  const entry = lstatSync(path);
  const user = process.geteuid?.();
  return entry.isDirectory() && (user === undefined || (entry.uid === user && (entry.mode & 0o077) === 0));
}
