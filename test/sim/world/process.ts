import type {Inode} from './disk.ts';

/** Thrown in a dead process wherever its code continues: nothing that it does has an effect any more. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** How a process comes to its end before its time, at its n-th step on disk or network. */
export interface Fate {
  readonly how: 'kill' | 'power' | 'term';
  readonly step: number;
  /** Tells if that step is still carried out, in part (a torn write), or not at all. */
  readonly moment: 'before' | 'torn' | 'after';
}

/** By the steady clock, and by the computer's in milliseconds since the epoch. */
export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

/** One process of the simulation: a command that runs, and dies at the latest when it has ended. */
export class Process {
  readonly name: string;
  /** Taken away where nothing is to come over it any more. */
  fate: Fate | undefined;
  /** Handles to release when it ends. */
  readonly handles = new Set<() => void>();
  /** Told when it is asked to end in good order. */
  onTerm: () => void = () => {};
  /** The ledger that it has opened last, and all of them by path. */
  ledger: Inode | undefined;
  readonly ledgers = new Map<string, Inode>();
  /** Chunks that it has given to Redis, of which it has not heard what became of them. */
  readonly unheard = new Set<string>();
  /** True if there were any when it last wrote its ledger. */
  leftOut = false;
  /** By which others know it, from its beginning on. */
  pid = 0;
  /** True once the disk took a write of it no more. */
  refused: 'ENOSPC' | 'EIO' | false = false;
  alive = true;
  killed = false;
  steps = 0;

  constructor(name: string, fate: Fate | undefined) {
    this.name = name;
    this.fate = fate;
  }

  /** Ends it as its own end does, or a kill: everything that it held is let go of. */
  end(): void {
    if (!this.alive) return;
    this.alive = false;
    for (const release of this.handles) release();
    this.handles.clear();
  }
}
