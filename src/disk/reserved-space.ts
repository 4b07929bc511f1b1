import {randomBytes} from 'node:crypto';
import {rmSync, statSync, writeFileSync} from 'node:fs';

/** Size of the file: the outcomes of about a hundred calls need that much, each in a transaction of its own. */
const SPARE_BYTES = 1_048_576;
/** The file repeats a random block of this size, since some file systems would compress equal bytes. */
const BLOCK_BYTES = 65_536;

/**
 * Reserves disk space with a file. When the disk is full, `release` removes the file, so that a run can
 * still store the answers that it has paid for.
 */
export class SpareFile {
  readonly #path: string;
  #isHeld = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the file. Throws the system's error if the disk has no room for it. */
  hold(): void {
    if (this.#isHeld) return;
    try {
      if (statSync(this.#path, {throwIfNoEntry: false})?.size !== SPARE_BYTES)
        writeFileSync(this.#path, Buffer.alloc(SPARE_BYTES, randomBytes(BLOCK_BYTES)), {mode: 0o600});
      this.#isHeld = true;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Removes the file. Returns false if there was no file to remove. */
  release(): boolean {
    this.#isHeld = false;
    try {
      rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
