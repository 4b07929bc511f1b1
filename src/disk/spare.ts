import {randomBytes} from 'node:crypto';
import {rmSync, statSync, writeFileSync} from 'node:fs';

/** Enough for the outcomes of about a hundred calls, each in a transaction of its own. */
const SPARE_BYTES = 1_048_576;
/** Size of the random block that fills the file: some file systems would compress equal bytes. */
const BLOCK_BYTES = 65_536;

/**
 * Reserves disk space with a file. When the disk is full, the removal of the file gives room for what must still be
 * written.
 */
export class Spare {
  readonly #path: string;
  #isHeld = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws the system's error if the disk has no room for the file. */
  hold(): void {
    if (this.#isHeld) return;
    const found = statSync(this.#path, {throwIfNoEntry: false});
    if (found?.size !== SPARE_BYTES) this.#write();
    this.#isHeld = true;
  }

  /** Frees the space. Returns false if no space was kept. */
  release(): boolean {
    this.#isHeld = false;
    try {
      rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }

  #write(): void {
    try {
      writeFileSync(this.#path, Buffer.alloc(SPARE_BYTES, randomBytes(BLOCK_BYTES)), {mode: 0o600});
    } catch (error) {
      rmSync(this.#path, {force: true});
      throw error;
    }
  }
}
