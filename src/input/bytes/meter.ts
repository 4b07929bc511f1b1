import {createHash, type Hash} from 'node:crypto';
import {InputError} from '../input-error.ts';
import type {InputPosition} from '../row.ts';

/** Number and hash of the bytes that were read before a file. */
export interface Mark {
  readonly bytes: number;
  readonly hash: Hash;
}

/**
 * Hashes the raw bytes of all inputs in reading order. A resume starts with a checkpoint: the number and hash of
 * the bytes that the interrupted run had read. After that number of bytes, the meter compares the hashes.
 */
export class Meter {
  readonly #hash = createHash('sha256');
  #checkpoint: InputPosition | undefined;
  #position: InputPosition | undefined;
  #bytes = 0;

  constructor(checkpoint?: InputPosition) {
    this.#checkpoint = checkpoint;
    this.#compare();
  }

  /** True once the bytes up to the checkpoint have its hash. Always true without a checkpoint. */
  get verified(): boolean {
    return this.#checkpoint === undefined;
  }

  get position(): InputPosition {
    this.#position ??= {bytes: this.#bytes, sha256: this.#hash.copy().digest('hex')};
    return this.#position;
  }

  /**
   * Hashes the next bytes.
   *
   * @throws {InputError} `input_changed` if the bytes up to the checkpoint have another hash than the checkpoint.
   */
  read(chunk: Buffer): void {
    const left = this.#checkpoint === undefined ? 0 : this.#checkpoint.bytes - this.#bytes;
    if (left > 0 && left < chunk.length) {
      this.#add(chunk.subarray(0, left));
      this.#add(chunk.subarray(left));
    } else {
      this.#add(chunk);
    }
  }

  /**
   * Ends the input.
   *
   * @throws {InputError} `input_changed` if the input ends before the checkpoint.
   */
  end(): void {
    if (this.#checkpoint === undefined) return;
    throw new InputError(
      'input_changed',
      `The input has ${this.#bytes} bytes now; it had at least ${this.#checkpoint.bytes} when the run was interrupted. ${ADVICE}`,
    );
  }

  /** Returns the place in the raw bytes at which the next file begins. */
  mark(): Mark {
    return {bytes: this.#bytes, hash: this.#hash.copy()};
  }

  /** @throws {InputError} `input_changed` if a second reading of a file (`again`) differs from the first. */
  async compare({bytes, hash}: Mark, again: AsyncIterable<Buffer>): Promise<void> {
    let left = this.#bytes - bytes;
    for await (const block of again) {
      hash.update(block.subarray(0, left));
      left -= Math.min(left, block.length);
      if (left === 0) break;
    }
    if (hash.digest('hex') === this.position.sha256) return;
    throw new InputError(
      'input_changed',
      'The input changed while it was read. Wait until it is complete, or put it in place by renaming it. Then start over with --restart: answers already paid for are kept.',
    );
  }

  #add(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#position = undefined;
    this.#compare();
  }

  #compare(): void {
    if (this.#checkpoint === undefined || this.#bytes !== this.#checkpoint.bytes) return;
    if (this.position.sha256 !== this.#checkpoint.sha256) {
      throw new InputError(
        'input_changed',
        `The first ${this.#bytes} bytes of the input have changed since the run was interrupted. ${ADVICE}`,
      );
    }
    this.#checkpoint = undefined;
  }
}

const ADVICE = 'Give the same input as before, or start over with --restart.';
