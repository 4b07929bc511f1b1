import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** The user's directories of the XDG Base Directory Specification that this package keeps something in. */
const bases = {
  cache: {variable: 'XDG_CACHE_HOME', underHome: '.cache'},
  state: {variable: 'XDG_STATE_HOME', underHome: join('.local', 'state')},
} as const;

/**
 * `bulk-enrich` in the user's cache or state directory. A home directory is never made: where it is missing, nobody
 * would look for what was put there.
 *
 * @throws when the home directory is needed and does not exist.
 */
export function userDirectory(kind: keyof typeof bases, env: Env): string {
  const {variable, underHome} = bases[kind];
  const base = env[variable];
  if (base?.startsWith('/') === true) return join(base, 'bulk-enrich');
  const home = homedir();
  if (!existsSync(home)) throw new Error(`the home directory ${home} does not exist`);
  return join(home, underHome, 'bulk-enrich');
}
