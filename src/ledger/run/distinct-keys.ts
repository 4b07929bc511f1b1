import type {Sqlite} from '../../disk/sqlite.ts';
import {openTemporaryDatabase, orThrowTemporaryUnwritable} from '../../disk/temporary.ts';
import {KEY_LENGTH} from '../lookup-outcome.ts';

/** Maximum slots in memory: 64 MiB. Filled to {@link FULL} they hold six million keys; others go to a file. */
const MOST_SLOTS = 2 ** 23;
const FIRST_SLOTS = 2 ** 14;
const FULL = 0.75;

/**
 * Distinguishes new keys from repeated keys in bounded memory. Memory holds 64 bits of each key: the chance that
 * any two of six million collide is one in a million.
 */
export class DistinctKeys {
  readonly #mostSlots: number;
  readonly #bytes = Buffer.allocUnsafeSlow(KEY_LENGTH);
  readonly #words = new Int32Array(this.#bytes.buffer, 0, 2);
  /** Each slot has the first two words (of 32 bits) of a key. Both words are zero in a free slot. */
  #slots = new Int32Array(2 * FIRST_SLOTS);
  #used = 0;
  #file: Sqlite | undefined;

  constructor(mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
  }

  /** Returns the lookups whose key is new, and remembers their keys. */
  fresh<Keyed extends {readonly key: string}>(lookups: readonly Keyed[]): Keyed[] {
    const beyond: Keyed[] = [];
    const fresh = lookups.filter(lookup => {
      const added = this.#add(lookup.key);
      if (added === undefined) beyond.push(lookup);
      return added === true;
    });
    if (beyond.length === 0) return fresh;
    this.#file ??= openTemporaryDatabase('CREATE TABLE seen (key TEXT PRIMARY KEY) WITHOUT ROWID');
    const file = this.#file;
    return [...fresh, ...orThrowTemporaryUnwritable(() => addTo(file, beyond))];
  }

  close(): void {
    this.#file?.close();
  }

  /** True if the key was added, false if it was known, undefined if it is unknown and the table is full. */
  #add(key: string): boolean | undefined {
    this.#bytes.write(key, 'base64url');
    const [first = 0, second = 0] = this.#words;
    const at = slotOf(this.#slots, first, second);
    if (this.#slots[at] === first && this.#slots[at + 1] === second) return false;
    if (this.#used >= FULL * this.#mostSlots) return undefined;
    this.#slots[at] = first;
    this.#slots[at + 1] = second;
    this.#used += 1;
    if (2 * this.#used >= FULL * this.#slots.length && this.#slots.length < 2 * this.#mostSlots) this.#grow();
    return true;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    for (let from = 0; from < before.length; from += 2) {
      const [first = 0, second = 0] = [before[from], before[from + 1]];
      if (first === 0 && second === 0) continue;
      const at = slotOf(this.#slots, first, second);
      this.#slots[at] = first;
      this.#slots[at + 1] = second;
    }
  }
}

/** Index of the slot with these words; if no slot has them, index of a free slot. */
function slotOf(slots: Int32Array, first: number, second: number): number {
  const mask = slots.length - 1;
  let at = (first << 1) & mask;
  while ((slots[at] !== 0 || slots[at + 1] !== 0) && (slots[at] !== first || slots[at + 1] !== second))
    at = (at + 2) & mask;
  return at;
}

function addTo<Keyed extends {readonly key: string}>(file: Sqlite, lookups: readonly Keyed[]): Keyed[] {
  const add = file.prepare('INSERT OR IGNORE INTO seen VALUES (?)');
  return file.transaction(() => lookups.filter(({key}) => add.run(key) > 0));
}

/** A set of whole numbers, a bit for each number up to the largest. */
export class BitSet {
  #bytes = new Uint8Array(4_096);

  add(number: number): void {
    const at = Math.floor(number / 8);
    if (at >= this.#bytes.length) {
      const longer = new Uint8Array(2 * at);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (number % 8));
  }

  has(number: number): boolean {
    return ((this.#bytes[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }
}
