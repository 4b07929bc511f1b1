import fs from 'node:fs';
import promises from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {Readable} from 'node:stream';
import type {Inode} from './disk.ts';
import {type Files, failure, plain} from './files.ts';
import type {World} from './world.ts';

/** Root of a simulation's disk. */
export const ROOT = '/simulated';
/** Directory of its programs' temporary files. */
export const TEMPORARY = `${ROOT}/tmp`;

function isInside(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith(ROOT) && plain(path).startsWith(ROOT);
}

type Any = (...given: never[]) => unknown;

/**
 * Puts the simulation's disk in place of `node:fs` for all paths below {@link ROOT}, and for open files of it.
 * Returns what takes that back.
 */
export function patchFs(files: Files, world: World): () => void {
  const undo: (() => void)[] = [];
  const replace = (home: object, name: string, own: Any, isOurs: (first: unknown) => boolean = isInside) => {
    const table = home as Record<string, Any>;
    const real = table[name] as Any;
    table[name] = Object.assign(
      (...given: never[]) => (isOurs(given[0]) ? own(...given) : real.call(home, ...given)),
      real,
    );
    undo.push(() => {
      table[name] = real;
    });
  };
  const isFd = (first: unknown) => files.has(first);
  const either = (first: unknown) => isInside(first) || isFd(first);

  replace(fs, 'existsSync', (path: string) => files.exists(path));
  replace(fs, 'statSync', (path: string, options?: object) => files.stat(path, options));
  replace(fs, 'lstatSync', (path: string, options?: object) => files.stat(path, options));
  replace(fs, 'accessSync', (path: string) => void files.stat(path));
  replace(fs, 'readFileSync', (path: string) => files.inode(path).data.toString('utf8'));
  const write = (to: string | number, text: string, {flag, mode}: {flag?: string; mode?: number} = {}) =>
    files.write(to, text, flag, mode);
  replace(fs, 'writeFileSync', write, either);
  replace(fs, 'openSync', (path: string, flags: string | number, mode?: number) =>
    files.open(path, flags, mode),
  );
  replace(fs, 'closeSync', (fd: number) => files.close(fd), isFd);
  replace(fs, 'fsyncSync', (fd: number) => files.sync(fd), isFd);
  replace(fs, 'fchownSync', () => {}, isFd);
  const setMode = (fd: number, mode: number) => void Object.assign(files.opened(fd).inode, {mode});
  replace(fs, 'fchmodSync', setMode, isFd);
  const read = (fd: number, buffer: Uint8Array) => files.read(fd, buffer, 0, buffer.length, null);
  replace(fs, 'readSync', read, isFd);
  replace(fs, 'linkSync', (from: string, to: string) => files.link(from, to));
  replace(fs, 'renameSync', (from: string, to: string) => files.rename(from, to));
  replace(fs, 'rmSync', (path: string, options?: object) => files.remove(path, options));
  replace(fs, 'mkdirSync', (path: string, options?: object) => files.makeDirectory(path, options));
  replace(fs, 'mkdtempSync', (prefix: string) => {
    const path = prefix + Math.floor(world.random() * 36 ** 6).toString(36);
    files.makeDirectory(path);
    return path;
  });
  replace(fs, 'rmdirSync', (path: string) => files.removeDirectory(path));
  replace(fs, 'readdirSync', (path: string) => files.names(path));
  replace(fs, 'readlinkSync', (path: string) => {
    throw failure(files.exists(path) ? 'EINVAL' : 'ENOENT', path);
  });
  replace(fs, 'statfsSync', () => ({type: 0}));
  replace(fs.realpathSync, 'native', (path: string) => files.realPath(path));
  const later = <T>(work: () => T): Promise<T> =>
    new Promise((done, fail) => {
      world.poll(world.ioMs(), () => attempt(work, done, fail));
    });
  replace(promises, 'open', (path: string, flags: string | number, mode?: number) =>
    later(() => new Handle(files, later, files.open(path, flags, mode), path)),
  );
  syncBuiltinESMExports();
  return () => {
    for (const restore of undo) restore();
    syncBuiltinESMExports();
  };
}

/** A kill ends the process's code right there: no other code learns of it. */
function attempt<T>(work: () => T, done: (result: T) => void, fail: (error: unknown) => void): void {
  let result: T;
  try {
    result = work();
  } catch (error) {
    if ((error as Error).name === 'Killed') throw error;
    fail(error);
    return;
  }
  done(result);
}

/** An open file as `node:fs/promises` has it. */
class Handle {
  readonly #files: Files;
  readonly #later: <T>(work: () => T) => Promise<T>;
  readonly #fd: number;
  readonly #path: string;

  constructor(files: Files, later: <T>(work: () => T) => Promise<T>, fd: number, path: string) {
    this.#files = files;
    this.#later = later;
    this.#fd = fd;
    this.#path = path;
  }

  get #inode(): Inode {
    return this.#files.opened(this.#fd).inode;
  }

  stat() {
    return this.#later(() => this.#files.stat(this.#path));
  }

  datasync() {
    return this.#later(() => this.#files.sync(this.#fd));
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number | null) {
    return this.#later(() => ({
      bytesRead: this.#files.read(this.#fd, buffer, offset, length, position),
      buffer,
    }));
  }

  write(buffer: Buffer, offset: number, length: number, position: number) {
    return this.#later(() => {
      this.#files.writeAt(this.#inode, this.#path, buffer.subarray(offset, offset + length), position);
      return {bytesWritten: length, buffer};
    });
  }

  createReadStream({highWaterMark}: {readonly highWaterMark: number}) {
    const blocks = async function* (this: Handle) {
      try {
        for (;;) {
          const block = Buffer.alloc(highWaterMark);
          const {bytesRead} = await this.read(block, 0, highWaterMark, null);
          if (bytesRead === 0) return;
          yield block.subarray(0, bytesRead);
        }
      } finally {
        await this.close();
      }
    };
    return Readable.from(blocks.call(this));
  }

  close() {
    return this.#later(() => this.#files.close(this.#fd));
  }
}
