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

/** One process of the simulation: a program that runs a job, and dies at the latest when it has ended. */
export class Process {
  readonly name: string;
  fate: Fate | undefined;
  /** Handles to release when it ends. */
  readonly handles = new Set<() => void>();
  /** Told when it is asked to end in good order. */
  onTerm: () => void = () => {};
  /** The file of the ledger that it opened last: the same for all sessions of one run. */
  ledger: Inode | undefined;
  /** By which others know it, from its beginning on. */
  pid = 0;
  /** The error by which the disk refused a write of it, if it ever did. */
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
