import {dirname} from 'node:path';

/** A file's inode: what it holds now, and what is sure to be there after a power cut. */
export class Inode {
  readonly number: number;
  readonly uid: number;
  mode: number;
  data: Buffer = Buffer.alloc(0);
  synced: Buffer = Buffer.alloc(0);

  constructor(number: number, mode: number, uid: number) {
    this.number = number;
    this.mode = mode;
    this.uid = uid;
  }
}

/** A writer, which is told of the first error that refused a write. */
interface Writer {
  refused: 'ENOSPC' | 'EIO' | false;
}

/** The removal of a file makes room for a write in the place of so many bytes. */
const WRITE_BYTES = 10_000;

/** A change of directories that is durable once one of them is synced. */
interface Pending {
  readonly directories: readonly string[];
  readonly names: readonly string[];
  readonly apply: (durable: Map<string, Inode>) => void;
}

/** Databases are files with a keeper of their own: what was committed there lasts. */
export function isDatabase(path: string): boolean {
  return /\.db([-.].*)?$/.test(path);
}

/**
 * A disk in memory with one tree of files. A file's bytes last once it is synced, its name once its directory is; what
 * is not may be lost at a power cut, each change by itself, and bytes in part. So is a directory's name, with all in it.
 */
export class Disk {
  readonly files = new Map<string, Inode>();
  readonly directories = new Map<string, number>();
  #durable = new Map<string, Inode>();
  /** Directories whose names are not sure to last, nor is what lies in them. */
  readonly #unsure = new Set<string>();
  #pending: Pending[] = [];
  #inodes = 1_000;
  powerCuts = 0;
  readonly uid = process.geteuid?.() ?? 0;

  constructor(root: string) {
    this.directories.set(root, ++this.#inodes);
  }

  /** When it takes no writes, by the world's clock, and what it says then. */
  trouble: {readonly code: 'ENOSPC' | 'EIO'; readonly fromMs: number; readonly untilMs: number} | undefined;

  /**
   * The disk's error for a write of this process at this moment; undefined if it accepts it. It always accepts the
   * user's.
   */
  refusal(process: Writer | undefined, nowMs: number): 'ENOSPC' | 'EIO' | undefined {
    const {code, fromMs = 0, untilMs = 0} = this.trouble ?? {};
    if (process === undefined || nowMs < fromMs || nowMs >= untilMs) return undefined;
    if (code === 'ENOSPC' && this.#room > 0) {
      this.#room -= 1;
      return undefined;
    }
    if (code !== undefined) process.refused ||= code;
    return code;
  }

  /** Writes that a full disk takes, since a large file was removed. */
  #room = 0;

  exists(path: string): boolean {
    return this.files.has(path) || this.directories.has(path);
  }

  create(path: string, mode: number): Inode {
    const inode = new Inode(++this.#inodes, mode, this.uid);
    this.files.set(path, inode);
    this.#change([path], durable => durable.set(path, inode));
    return inode;
  }

  remove(path: string): void {
    const bytes = this.files.get(path)?.data.length ?? 0;
    if (bytes >= 100 * WRITE_BYTES) this.#room = Math.floor(bytes / WRITE_BYTES);
    this.files.delete(path);
    this.#change([path], durable => durable.delete(path));
  }

  rename(from: string, to: string): void {
    const inode = this.files.get(from);
    if (inode === undefined) return;
    this.files.delete(from);
    this.files.set(to, inode);
    this.#change([from, to], durable => {
      durable.delete(from);
      durable.set(to, inode);
    });
  }

  link(from: string, to: string): void {
    const inode = this.files.get(from);
    if (inode === undefined) return;
    this.files.set(to, inode);
    this.#change([to], durable => durable.set(to, inode));
  }

  makeDirectory(path: string): void {
    this.directories.set(path, ++this.#inodes);
    this.#unsure.add(path);
  }

  /** With it goes for good what was in it: one of the same name is another directory. */
  removeDirectory(path: string): void {
    this.directories.delete(path);
    this.#unsure.delete(path);
    const inside = (name: string) => dirname(name) === path;
    for (const name of this.#durable.keys()) if (inside(name)) this.#durable.delete(name);
    this.#pending = this.#pending.filter(({names}) => !names.every(inside));
  }

  names(directory: string): string[] {
    const prefix = `${directory}/`;
    const isIn = (path: string) => path.startsWith(prefix) && !path.includes('/', prefix.length);
    const all = [...this.files.keys(), ...this.directories.keys()];
    return all.filter(isIn).map(path => path.slice(prefix.length));
  }

  syncFile(inode: Inode): void {
    inode.synced = Buffer.from(inode.data);
  }

  syncPath(path: string): void {
    const settled = this.#pending.filter(({directories}) => directories.includes(path));
    for (const {apply} of settled) apply(this.#durable);
    this.#pending = this.#pending.filter(change => !settled.includes(change));
    for (const directory of this.#unsure) if (dirname(directory) === path) this.#unsure.delete(directory);
  }

  /** The files that certainly outlive a power cut, as they are now. */
  get lasting(): ReadonlyMap<string, Buffer> {
    const sure = [...this.#durable].filter(([path]) => ![...this.#unsure].some(one => isBelow(path, one)));
    return new Map(sure.map(([path, {synced}]) => [path, synced]));
  }

  /** All that is there lasts: as after a while without trouble. */
  syncAll(): void {
    for (const inode of this.files.values()) this.syncFile(inode);
    this.#durable = new Map(this.files);
    this.#pending = [];
    this.#unsure.clear();
  }

  /** The power fails: of what was not synced some is lost. */
  cutPower(random: () => number): void {
    this.powerCuts += 1;
    const lost = new Set<string>();
    for (const {names, apply} of this.#pending) {
      // A change that follows a lost one is lost too.
      if (names.some(name => lost.has(name)) || random() < 0.5) for (const name of names) lost.add(name);
      else apply(this.#durable);
    }
    for (const directory of this.#unsure) if (random() < 0.5) this.#lose(directory);
    this.files.clear();
    for (const [path, inode] of this.#durable) {
      inode.data = afterPowerCut(inode, random);
      this.files.set(path, inode);
    }
    this.syncAll();
  }

  #lose(directory: string): void {
    const isLost = (path: string) => path === directory || isBelow(path, directory);
    for (const path of [...this.directories.keys()].filter(isLost)) this.directories.delete(path);
    for (const path of [...this.#durable.keys()].filter(isLost)) this.#durable.delete(path);
  }

  #change(names: readonly string[], apply: Pending['apply']): void {
    if (names.every(isDatabase)) apply(this.#durable);
    else this.#pending.push({directories: names.map(name => dirname(name)), names, apply});
  }
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}

/** Bytes that were not synced: all there, none, some of them, or nothing but their number. */
function afterPowerCut({data, synced}: Inode, random: () => number): Buffer {
  if (data.equals(synced)) return data;
  const luck = random();
  if (luck < 0.25) return data;
  if (luck < 0.5) return synced;
  // Data that was synced and not written since is kept, whatever was cut off behind it.
  const shorter = Math.min(data.length, synced.length);
  const same = data.subarray(0, shorter).equals(synced.subarray(0, shorter)) ? shorter : 0;
  const until = same + Math.floor(random() * (data.length - same));
  if (luck < 0.75) return Buffer.from(data.subarray(0, until));
  const holes = Buffer.from(data);
  holes.fill(0, until);
  return holes;
}
