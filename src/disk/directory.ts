import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  truncateSync,
} from 'node:fs';
import {homedir} from 'node:os';
import {dirname, isAbsolute, join, resolve} from 'node:path';
import {OutputError, systemCode, systemReason} from '../errors.ts';
import {type Said, say, setting, shellWord} from '../sentence.ts';
import {isSharedDirectory} from './path.ts';
import {syncDirectory} from './replace.ts';

/**
 * Creates a directory and its missing parents, readable by their owner only. Returns the topmost one that it created, if
 * any. Makes all names durable: a process that created them may have been killed before its sync.
 *
 * Creates one directory at a time. Node's `recursive` never ends if an existing directory refuses with ENOENT, as /proc
 * does, and reports a read-only file system as ENOENT.
 */
export function makeDirectory(path: string, tries = MAKING_TRIES): string | undefined {
  let made: string | undefined;
  try {
    mkdirSync(path, {mode: 0o700});
    made = path;
  } catch (error) {
    if (!statSync(path, {throwIfNoEntry: false})?.isDirectory()) {
      if (systemCode(error) !== 'ENOENT' || tries === 0 || dirname(path) === path) throw error;
      const above = makeDirectory(dirname(path), tries);
      return [above, makeDirectory(path, tries - 1)].find(one => one !== undefined);
    }
  }
  // The parent may be new too, and its name not durable yet.
  if (made !== undefined) syncDirectory(dirname(dirname(path)));
  syncDirectory(dirname(path));
  return made;
}

/** An attempt fails if another run removes a parent at the same time. */
const MAKING_TRIES = 3;

/**
 * Like {@link makeDirectory}, for files that a later run trusts: only this user may own the directory and write to it.
 * `ours`: the program chose its name, so the error's advice does not mention --state. Such a directory, with only this
 * user's files in it, gets the mode 0700: Kubernetes lets a volume's group write to its directories.
 *
 * @throws {OutputError} `state_not_private` if another user may have put a file there.
 */
export function makePrivateDirectory(path: string, ours: boolean): string | undefined {
  const made = makeDirectory(path);
  const refuse = (why: string, ifOurs: Said, ifNamed: Said): never => {
    throw new OutputError(
      'state_not_private',
      say`The state directory ${path} ${why}, so its content can't be trusted. ${ours ? ifOurs : ifNamed}`,
    );
  };
  const other = say`or name another output with ${setting('output')}.`;
  const found = lstatSync(resolve(path));
  if (found.isSymbolicLink())
    refuse(
      'is a symbolic link',
      say`Remove it, ${other}`,
      say`Name the directory itself with ${setting('state')}.`,
    );
  const user = process.geteuid?.();
  if (user === undefined || (found.uid === user && !isSharedDirectory(found))) return made;
  const plain = madeIn(path);
  if (found.uid !== plain.uid)
    refuse(
      `belongs to another user (uid ${found.uid})`,
      say`Have its owner finish or remove it, ${other}`,
      say`Name a directory of this user: ${setting('state', join(path, 'bulk-enrich'))}, or anywhere else.`,
    );
  // If even a new directory is open to others, the file system ignores modes.
  if (!isSharedDirectory(found) || isSharedDirectory(plain)) return made;
  if (!ours || !holdsOnly(path, user)) {
    const close = `Check its content and close it to others (chmod 700 ${shellWord(path)}),`;
    const mode = (found.mode & 0o7777).toString(8);
    const named = say`${close} or name another with ${setting('state')}.`;
    refuse(`can be written by other users (mode ${mode})`, say`${close} ${other}`, named);
  }
  chmodSync(path, 0o700);
  return made;
}

/** The owner and mode that the file system reports of a new private directory in `path`. */
function madeIn(path: string): Stats {
  const probe = mkdtempSync(join(path, 'probe-'));
  try {
    return statSync(probe);
  } finally {
    rmdirSync(probe);
  }
}

/** True if the directory has only files of the user, without hard links elsewhere. */
function holdsOnly(path: string, user: number): boolean {
  return readdirSync(path).every(name => {
    const file = lstatSync(join(path, name));
    return file.isFile() && file.uid === user && file.nlink === 1;
  });
}

/** Throws the system's error if the path, or its nearest existing parent, can't be written. Creates nothing. */
export function checkWritable(path: string): void {
  const existing = nearestExistingPath(path);
  const isDirectory = statSync(existing).isDirectory();
  if (!isDirectory && existing !== resolve(path))
    throw Object.assign(new Error(`${existing} is no directory`), {code: 'ENOTDIR'});
  accessSync(existing, isDirectory ? constants.W_OK | constants.X_OK : constants.W_OK);
}

/** The path itself if it exists; else its nearest existing parent. */
export function nearestExistingPath(path: string): string {
  const full = resolve(path);
  return existsSync(full) || full === dirname(full) ? full : nearestExistingPath(dirname(full));
}

/**
 * Removes a file that this program has closed. On Windows, SQLite's driver may still have it open, so that it can't be
 * removed: it is emptied, and the next run removes it.
 */
export function removeFile(path: string): void {
  remove(path, () => truncateSync(path));
}

/** Removes a directory with its content. On Windows, empties the files that can't be removed. */
export function removeDirectory(path: string): void {
  remove(path, () => {
    for (const entry of readdirSync(path, {recursive: true, withFileTypes: true}))
      if (entry.isFile()) removeFile(join(entry.parentPath, entry.name));
  });
}

function remove(path: string, orOnWindows: () => void): void {
  try {
    rmSync(path, {recursive: true, force: true});
  } catch (error) {
    if (process.platform !== 'win32') throw error;
    orOnWindows();
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The user's directories by the XDG Base Directory Specification. On Windows they are in %LOCALAPPDATA%. */
const bases = {
  cache: {variable: 'XDG_CACHE_HOME', underHome: '.cache', onWindows: 'Cache'},
  config: {variable: 'XDG_CONFIG_HOME', underHome: '.config', onWindows: 'Config'},
  state: {variable: 'XDG_STATE_HOME', underHome: join('.local', 'state'), onWindows: 'State'},
} as const;

type UserDirectory = keyof typeof bases;

/**
 * Path of the folder `bulk-enrich` in the user's cache, configuration or state directory.
 *
 * @throws an error if the home directory is needed and missing: a later run would find no files in an invented one.
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

/** Why the directory can't be used, and the variable that sets another; undefined if it can. Creates nothing. */
export function userDirectoryTrouble(
  kind: UserDirectory,
  env: Variables,
): {readonly why: string; readonly variable: string} | undefined {
  let path: string | undefined;
  try {
    path = userDirectory(kind, env);
    checkWritable(path);
    return undefined;
  } catch (error) {
    const reason = systemReason(error);
    const why = path === undefined ? reason : `${path} can't be used (${reason})`;
    return {why, variable: bases[kind].variable};
  }
}
