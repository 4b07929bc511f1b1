import {lstatSync, mkdirSync} from 'node:fs';
import module from 'node:module';
import {dirname, join} from 'node:path';
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
    for (const each of [dirname(dirname(path)), dirname(path), path]) makeClosed(each);
    if (isOwn(path)) enable(path);
  } catch {
    // Without the cache, commands only start more slowly.
  }
}

function makeClosed(path: string): void {
  try {
    mkdirSync(path, {mode: 0o700});
  } catch {
    // Ignores the error: the caller uses the directory only if it exists and passes `isOwn`.
  }
}

function isOwn(path: string): boolean {
  const found = lstatSync(path);
  const user = process.geteuid?.();
  return found.isDirectory() && (user === undefined || (found.uid === user && (found.mode & 0o077) === 0));
}
