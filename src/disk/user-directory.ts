import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {isAbsolute, join} from 'node:path';
import {systemReason} from '../errors.ts';
import {checkWritable} from './directory.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The user's directories that this package uses, by the XDG Base Directory Specification. On Windows they are in
 * %LOCALAPPDATA%, which has the data that stays on one machine.
 */
const bases = {
  cache: {variable: 'XDG_CACHE_HOME', underHome: '.cache', onWindows: 'Cache'},
  config: {variable: 'XDG_CONFIG_HOME', underHome: '.config', onWindows: 'Config'},
  state: {variable: 'XDG_STATE_HOME', underHome: join('.local', 'state'), onWindows: 'State'},
} as const;

type UserDirectory = keyof typeof bases;

/**
 * Path of the folder `bulk-enrich` in the user's cache, configuration or state directory. A missing home directory
 * is an error: a later run would not find files in a home directory that this run made up.
 *
 * @throws an error if the home directory is needed and missing.
 */
export function userDirectory(kind: UserDirectory, env: Variables, platform = process.platform): string {
  const {variable, underHome, onWindows} = bases[kind];
  const {[variable]: base, LOCALAPPDATA: local} = env;
  if (platform === 'win32' && base === undefined && local !== undefined && isAbsolute(local))
    return join(local, 'bulk-enrich', onWindows);
  return join(base !== undefined && isAbsolute(base) ? base : join(homeOf(env), underHome), 'bulk-enrich');
}

function homeOf(env: Variables): string {
  let home = env.HOME;
  try {
    home ??= homedir();
  } catch {
    // The user is not in the system's list of users, as in containers.
  }
  if (home !== undefined && isAbsolute(home) && existsSync(home)) return home;
  throw new Error(home ? `the home directory ${home} does not exist` : 'there is no home directory');
}

/**
 * Returns undefined if the directory is usable. Otherwise returns the reason, and the variable that sets
 * another directory. Creates nothing.
 */
export function userDirectoryTrouble(
  kind: UserDirectory,
  env: Variables,
): {readonly why: string; readonly variable: string} | undefined {
  const {variable} = bases[kind];
  let path: string | undefined;
  try {
    path = userDirectory(kind, env);
    checkWritable(path);
    return undefined;
  } catch (error) {
    const why = path === undefined ? systemReason(error) : `${path} can't be used (${systemReason(error)})`;
    return {why, variable};
  }
}
