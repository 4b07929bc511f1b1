import type * as fs from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {type Disk, Inode} from './disk.ts';
import type {World} from './world.ts';

/** The functions of `node:fs` that a run uses, on the disk of a simulation: what changes something is a step. */

interface Open {
  readonly path: string;
  readonly inode: Inode | undefined;
  position: number;
}

/** An error of the system, without a stack: there are many, and most of them only say that nothing is there. */
export function failure(code: string, path: string): NodeJS.ErrnoException {
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${path}`), {code, path, syscall: 'simulated'});
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** The path without detours; most have none. */
export function plain(path: string): string {
  return path.includes('/.') || path.includes('//') || path.endsWith('/') ? resolve(path) : path;
}

/** Numbers of open files, far from any real one. */
const FIRST_FD = 1_000_000;

export class Files {
  readonly #disk: Disk;
  readonly #world: World;
  readonly #open = new Map<number, Open>();
  #next = FIRST_FD;

  constructor(disk: Disk, world: World) {
    this.#disk = disk;
    this.#world = world;
  }

  has(fd: unknown): fd is number {
    return typeof fd === 'number' && fd >= FIRST_FD;
  }

  exists(path: string): boolean {
    return this.#disk.exists(plain(path));
  }

  inode(path: string): Inode {
    const inode = this.#disk.files.get(plain(path));
    if (inode === undefined)
      throw failure(this.#disk.directories.has(plain(path)) ? 'EISDIR' : 'ENOENT', path);
    return inode;
  }

  stat(path: string, {throwIfNoEntry = true, bigint = false} = {}): unknown {
    const full = plain(path);
    const inode = this.#disk.files.get(full);
    if (inode !== undefined) return statOf(inode, bigint);
    const directory = this.#disk.directories.get(full);
    if (directory !== undefined) return statOf(new Inode(directory, 0o40_700, this.#disk.uid), bigint);
    if (throwIfNoEntry) throw failure('ENOENT', path);
    return undefined;
  }

  open(path: string, flags: string | number, mode = 0o666): number {
    const full = plain(path);
    const {creates, exclusive, truncates} = meaningOf(flags);
    const found = this.#disk.files.get(full);
    if (found !== undefined && exclusive) throw failure('EEXIST', path);
    if (this.#disk.directories.has(full)) {
      if (creates) throw failure('EISDIR', path);
      return this.#opened({path: full, inode: undefined, position: 0});
    }
    if (found === undefined) {
      if (!creates || !this.#disk.directories.has(dirname(full))) throw failure('ENOENT', path);
      this.#demandRoom(path);
      const inode = this.#world.step(`create ${shown(full)}`, () => this.#disk.create(full, mode & 0o777));
      return this.#opened({path: full, inode, position: 0});
    }
    if (truncates)
      this.#world.step(`empty ${shown(full)}`, () => {
        found.data = Buffer.alloc(0);
      });
    return this.#opened({path: full, inode: found, position: 0});
  }

  close(fd: number): void {
    this.#open.delete(fd);
  }

  write(target: string | number, text: string | Uint8Array, flag = 'w', mode?: number): void {
    const fd = typeof target === 'number' ? target : this.open(target, flag, mode);
    const {inode, path} = this.opened(fd);
    this.writeAt(inode, path, Buffer.from(text as string), inode.data.length);
    if (typeof target !== 'number') this.close(fd);
  }

  /** A write of which a part may be all that happens. */
  writeAt(inode: Inode, path: string, bytes: Buffer, at: number): void {
    const put = (some: Buffer) => {
      const end = at + some.length;
      const data = Buffer.alloc(Math.max(inode.data.length, end));
      inode.data.copy(data);
      some.copy(data, at);
      inode.data = data;
    };
    this.#demandRoom(path);
    this.#world.step(
      `write ${shown(path)} ${at}+${bytes.length}`,
      () => put(bytes),
      () => put(bytes.subarray(0, Math.floor(this.#world.random() * bytes.length))),
    );
  }

  sync(fd: number): void {
    const {path, inode} = this.#handle(fd);
    if (inode !== undefined) this.#demandRoom(path);
    this.#world.step(`sync ${shown(path)}`, () => {
      if (inode === undefined) this.#disk.syncPath(path);
      else this.#disk.syncFile(inode);
    });
  }

  rename(from: string, to: string): void {
    const [source, target] = [plain(from), plain(to)];
    if (!this.#disk.files.has(source)) throw failure('ENOENT', from);
    if (!this.#disk.directories.has(dirname(target))) throw failure('ENOENT', to);
    if (this.#disk.directories.has(target)) throw failure('EISDIR', to);
    this.#world.step(`rename ${shown(source)} to ${shown(target)}`, () => this.#disk.rename(source, target));
  }

  link(from: string, to: string): void {
    const [source, target] = [plain(from), plain(to)];
    if (!this.#disk.files.has(source)) throw failure('ENOENT', from);
    if (this.#disk.exists(target)) throw failure('EEXIST', to);
    this.#world.step(`link ${shown(source)} to ${shown(target)}`, () => this.#disk.link(source, target));
  }

  remove(path: string, {force = false, recursive = false} = {}): void {
    const full = plain(path);
    if (recursive && this.#disk.directories.has(full)) {
      for (const name of this.#disk.names(full)) this.remove(join(full, name), {recursive});
      this.removeDirectory(full);
      return;
    }
    if (this.#disk.directories.has(full)) throw failure('ERR_FS_EISDIR', path);
    if (this.#disk.files.has(full)) this.#world.step(`remove ${shown(full)}`, () => this.#disk.remove(full));
    else if (!force) throw failure('ENOENT', path);
  }

  makeDirectory(path: string, {recursive = false} = {}): void {
    const full = plain(path);
    if (recursive && this.#disk.directories.has(full)) return;
    if (this.#disk.exists(full)) throw failure('EEXIST', path);
    if (!this.#disk.directories.has(dirname(full))) throw failure('ENOENT', path);
    this.#demandRoom(path);
    this.#world.step(`mkdir ${shown(full)}`, () => this.#disk.makeDirectory(full));
  }

  removeDirectory(path: string): void {
    const full = plain(path);
    if (!this.#disk.directories.has(full)) throw failure('ENOENT', path);
    if (this.#disk.names(full).length > 0) throw failure('ENOTEMPTY', path);
    this.#world.step(`rmdir ${shown(full)}`, () => this.#disk.removeDirectory(full));
  }

  names(path: string): string[] {
    if (!this.#disk.directories.has(plain(path))) throw failure('ENOENT', path);
    return this.#disk.names(plain(path));
  }

  realPath(path: string): string {
    if (!this.exists(path)) throw failure('ENOENT', path);
    return plain(path);
  }

  read(fd: number, target: Uint8Array, offset: number, length: number, position: number | null): number {
    const open = this.#handle(fd);
    const from = position ?? open.position;
    const bytes = this.opened(fd).inode.data.subarray(from, from + length);
    target.set(bytes, offset);
    if (position === null) open.position += bytes.length;
    return bytes.length;
  }

  opened(fd: number): Open & {readonly inode: Inode} {
    const open = this.#handle(fd);
    if (open.inode === undefined) throw failure('EISDIR', open.path);
    return open as Open & {readonly inode: Inode};
  }

  #handle(fd: number): Open {
    const open = this.#open.get(fd);
    if (open === undefined) throw failure('EBADF', String(fd));
    return open;
  }

  #opened(open: Open): number {
    this.#open.set(++this.#next, open);
    return this.#next;
  }

  #demandRoom(path: string): void {
    const code = this.#disk.refusal(this.#world.current, this.#world.nowMs);
    if (code !== undefined) throw failure(code, path);
  }
}

export function shown(path: string): string {
  const [, , ...parts] = path.split('/');
  return parts.join('/').replace(/[0-9a-f]{16}/, '…') || basename(path);
}

function meaningOf(flags: string | number) {
  const has = (letters: RegExp, bit: number) =>
    typeof flags === 'string' ? letters.test(flags) : (flags & bit) !== 0;
  return {creates: has(/[wa]/, 0o100), exclusive: has(/x/, 0o200), truncates: has(/^w[^x]*$/, 0o1000)};
}

const no = () => false;

function statOf(inode: Inode, bigint: boolean): Partial<fs.Stats> {
  const isDirectory = (inode.mode & 0o40_000) !== 0;
  const number = (value: number) => (bigint ? BigInt(value) : value) as number;
  return {
    dev: number(77),
    ino: number(inode.number),
    uid: number(inode.uid),
    gid: number(0),
    nlink: number(1),
    mode: number(isDirectory ? inode.mode : inode.mode | 0o100_000),
    size: number(inode.data.length),
    isFile: () => !isDirectory,
    isDirectory: () => isDirectory,
    ...{isFIFO: no, isSocket: no, isCharacterDevice: no, isBlockDevice: no, isSymbolicLink: no},
  };
}
