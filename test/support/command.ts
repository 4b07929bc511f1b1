import {spawn} from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, relative} from 'node:path';
import {Readable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import type {Summary} from '../../src/report/summary.ts';
import {until} from './until.ts';

/** The built command. */
export const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

export interface CommandOptions {
  /** Added to an environment that is otherwise empty but for PATH, HOME and the XDG directories. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Content of stdin; empty by default. */
  readonly stdin?: string | Uint8Array | Readable;
  /** Program that runs the command in node's place. */
  readonly node?: string;
  /** The command of another installation. */
  readonly program?: string;
}

export interface CommandOutcome {
  /** The exit code; undefined where a signal ended the process. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command under way. */
export type RunningCommand = ReturnType<typeof startCommand>;

export type Sandbox = ReturnType<typeof createSandbox>;

/**
 * A directory of its own, with a home of its own, in which commands run and leave their files.
 * @param files texts of files in its directory, by their names
 */
export function createSandbox(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'bulk-enrich-test-'));
  /** Directory in which commands run. */
  const directory = join(root, 'work');
  /** The home directory with the answer store, beside `directory`. */
  const home = join(root, 'home');
  for (const folder of [directory, home]) mkdirSync(folder);
  /** The absolute path of a file in `directory`. */
  const path = (name: string) => join(directory, name);
  const read = (name: string) => readFileSync(path(name), 'utf8');
  const start = (args: readonly string[], options: CommandOptions = {}) =>
    startCommand(args, options, directory, home);
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(path(name)), {recursive: true});
    writeFileSync(path(name), content);
    return path(name);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    directory,
    home,
    path,
    write,
    read,
    summary: (name: string) => JSON.parse(read(name)) as Summary,
    /** All files under `directory`, sorted, by their relative paths. */
    files: () => filesUnder(directory),
    /** Runs the built command to its end. */
    run: (args: readonly string[], options?: CommandOptions) => start(args, options).outcome,
    start,
    [Symbol.dispose]: () => rmSync(root, {recursive: true, force: true}),
  };
}

/** Copies all files of a sandbox, as a kill leaves them. Returns what puts the copy in their place. */
export function keepFiles({directory}: Sandbox): () => void {
  const root = dirname(directory);
  cpSync(root, `${root}.killed`, {recursive: true});
  return () => {
    rmSync(root, {recursive: true});
    renameSync(`${root}.killed`, root);
  };
}

/** All files under a directory, sorted, by their paths relative to it. */
export function filesUnder(directory: string): string[] {
  return readdirSync(directory, {recursive: true, withFileTypes: true})
    .filter(entry => !entry.isDirectory())
    .map(entry => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

/** All that a command's environment has, unless more is given. */
export function environmentOf(home: string): Record<string, string | undefined> {
  return {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
}

function startCommand(
  args: readonly string[],
  {env, stdin = '', node = process.execPath, program = bin}: CommandOptions,
  cwd: string,
  home: string,
) {
  const child = spawn(node, [program, ...args], {
    cwd,
    env: {...environmentOf(home), ...env},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A command that ends before it has read its stdin breaks the pipe, which is its right.
  child.stdin.on('error', () => {});
  if (stdin instanceof Readable) stdin.pipe(child.stdin);
  else child.stdin.end(stdin);
  const stderr = () => Buffer.concat(err).toString();
  const outcome = new Promise<CommandOutcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({
        code: code ?? undefined,
        signal: signal ?? undefined,
        stdout: Buffer.concat(out).toString(),
        stderr: stderr(),
      }),
    );
  });
  return {
    pid: child.pid ?? 0,
    child,
    /** Its stderr so far. */
    get stderr() {
      return stderr();
    },
    kill: (signal?: NodeJS.Signals) => child.kill(signal),
    /** Waits until stderr has this text, and fails where the command ends before. */
    async says(text: string) {
      let isOver = false;
      void outcome.finally(() => {
        isOver = true;
      });
      const isSaid = () => stderr().includes(text);
      await until(() => isOver || isSaid()).catch(() => {});
      if (!isSaid()) throw new Error(`"${text}" was never said: ${stderr()}`);
    },
    outcome,
  };
}
