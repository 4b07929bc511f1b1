import {spawn, spawnSync} from 'node:child_process';
import {chownSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {bin, type CommandOutcome} from '../support/command.ts';
import {createSite, type Site} from './site.ts';

export interface Place {
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The site's directory, if not named. */
  readonly cwd?: string;
  /** Becomes this user, who gets what can be written. */
  readonly uid?: number;
  /** All that can be written; everything, if not named. */
  readonly writable?: readonly string[];
}

/** A user that is in no passwd file. */
export const UNKNOWN_USER = 12_345;

const isRoot = process.getuid?.() === 0;

export const canBeAnother =
  isRoot &&
  spawnSync(process.execPath, [bin, '--version'], {uid: UNKNOWN_USER, gid: UNKNOWN_USER}).status === 0;

/** How all but some directories can be kept from being written here; undefined where that can't be done. */
export const readOnlyBy = works(site => mounted(site, [site.directory], ['true']))
  ? 'mounts'
  : works(site => closed(site, `! touch '${site.root}/probe' 2>/dev/null`))
    ? 'permissions'
    : undefined;

function works(argv: (site: Site) => string[]): boolean {
  using site = createSite();
  const [program = '', ...args] = argv(site);
  return spawnSync(program, args, {stdio: 'ignore'}).status === 0;
}

/** Runs a command line as daemons do: stdin is /dev/null, stdout and stderr are pipes. */
export function runIn(site: Site, command: string, place: Place): Promise<CommandOutcome> {
  const {cwd = site.directory, env, writable} = place;
  const {uid} = place;
  if (uid !== undefined) for (const path of writable ?? [site.directory]) chownSync(path, uid, uid);
  const shell = ['/bin/sh', '-c', command];
  if (writable === undefined || readOnlyBy !== 'mounts') {
    // Another user may write nowhere else as it is.
    if (uid !== undefined) return collect(shell, {cwd, env, uid, gid: uid});
    return collect(writable === undefined ? shell : closed(site, command), {cwd, env});
  }
  const user = String(uid);
  const as = uid === undefined ? [] : ['setpriv', '--reuid', user, '--regid', user, '--clear-groups'];
  return collect(mounted(site, writable, [...as, ...shell], cwd), {cwd: '/', env});
}

/** In a mount namespace of its own, where all else is mounted read-only; exit 99 if that did not come true. */
function mounted(
  {root, directory}: Site,
  writable: readonly string[],
  argv: readonly string[],
  cwd = directory,
): string[] {
  const temporary = tmpdir();
  const script = `set -e
    mount --bind '${temporary}' '${temporary}'
    mount --bind '${root}' '${root}'
    ${writable.map(path => `mount --bind '${path}' '${path}'`).join('\n')}
    mount -o remount,bind,ro '${root}'
    mount -o remount,bind,ro '${temporary}'
    mount -o remount,bind,ro /
    if touch '${root}/probe' 2>/dev/null || touch '${temporary}/probe' 2>/dev/null; then exit 99; fi
    cd '${cwd}'
    exec "$@"`;
  return ['unshare', isRoot ? '-m' : '-rm', '/bin/sh', '-c', script, 'sh', ...argv];
}

/** The site's owner takes the right to write from itself, for as long as the command runs; root needs to give up more. */
function closed({root, home}: Site, command: string): string[] {
  const places = `'${root}' '${home}'`;
  const script = `trap "chmod 755 ${places}" EXIT; chmod 555 ${places}; ${command}`;
  const humbly = isRoot ? ['setpriv', '--bounding-set', '-dac_override', '--inh-caps', '-dac_override'] : [];
  return [...humbly, '/bin/sh', '-c', script];
}

function collect(
  [program = '', ...args]: readonly string[],
  options: {cwd: string; env: Place['env']; uid?: number; gid?: number},
): Promise<CommandOutcome> {
  const child = spawn(program, args, {...options, stdio: ['ignore', 'pipe', 'pipe']});
  const written = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({code: code ?? undefined, signal: signal ?? undefined, ...written}),
    );
  });
}
