import {dirname} from 'node:path';
import type {Databases} from '../world/databases.ts';
import type {Disk} from '../world/disk.ts';
import type {World} from '../world/world.ts';
import type {Command, RunSpec} from './commands.ts';
import {storePath} from './places.ts';

/** A run has more patience than this with a store that is locked. */
const SHORT_LOCK_S = 10;

type Of<Kind extends Command['do']> = Extract<Command, {do: Kind}>;

/** Harm that users, other programs and disks do to a run's files between two commands. */
export class Troubles {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #databases: Databases;
  /** Stores that were out of order at any time since the last command. */
  readonly #unsound = new Set<string>();
  /** Stores that were deleted, or made unreadable. */
  readonly #replaced = new Set<string>();
  /** True if a store was ever locked. */
  #wasLocked = false;
  /** True if a run's state was made unreadable: its earlier calls are then unknown. */
  lostState = false;

  constructor(world: World, disk: Disk, databases: Databases) {
    this.#world = world;
    this.#disk = disk;
    this.#databases = databases;
  }

  ofStore({cache}: RunSpec) {
    const path = cache === 'none' ? undefined : storePath(cache);
    return {
      storeIsSound: path !== undefined && !this.#unsound.has(path),
      storeIsOld: path !== undefined && !this.#replaced.has(path),
      storeWasLocked: this.#wasLocked,
    };
  }

  refuseWrites({how, afterMs, seconds}: Of<'disk'>): void {
    const fromMs = this.#world.steadyMs + afterMs;
    this.#disk.trouble = {code: how, fromMs, untilMs: fromMs + seconds * 1_000};
    for (const cache of ['own', 'other'] as const) this.#unsound.add(storePath(cache));
  }

  disturbStore({cache, how, seconds}: Of<'store'>): void {
    const path = storePath(cache);
    const inode = this.#disk.files.get(path);
    if (inode === undefined) return;
    if (how !== 'lock') this.#replaced.add(path);
    if (how === 'delete') this.#disk.remove(path);
    // A run waits for others that write: what is over soon costs nothing.
    else if (how !== 'lock' || seconds > SHORT_LOCK_S) this.#unsound.add(path);
    this.#wasLocked ||= how === 'lock';
    if (how === 'lock') this.#databases.lock(path, seconds * 1_000);
    else if (how === 'version') this.#databases.setVersion(path, 99);
    else if (how === 'damage') inode.data = Buffer.from('no database');
  }

  disturbState(directory: string, how: Of<'state'>['how']): void {
    const ledger = `${directory}/ledger.db`;
    const inode = this.#disk.files.get(ledger);
    if (how === 'delete') {
      const own = [...this.#disk.files.keys()].filter(path => dirname(path) === directory);
      for (const path of own) this.#disk.remove(path);
      // A power cut that brings back a part of what a user removed is the user's to repair: the run says how.
      this.#disk.syncPath(directory);
    }
    if (inode === undefined) return;
    this.lostState = true;
    if (how === 'version') this.#databases.setVersion(ledger, 99);
    else if (how === 'damage') inode.data = Buffer.from('no database');
  }
}
