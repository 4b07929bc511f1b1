/**
 * Number of the filter's bits: 1 MiB. At ten million keys, 70% of the bits are set, so 70% of new keys still
 * need a search in the file.
 */
const PLACES = 2 ** 23;
/** Number of a key's characters that are used. A key is a hash, so a few characters suffice. */
const SAMPLE = 8;

/** Recognizes most keys that were never added, in fixed memory. */
export class KeyFilter {
  readonly #bits = new Uint8Array(PLACES / 8);

  /** `isFull`: keys exist that were not added to this filter. So {@link mayHave} returns true for every key. */
  constructor(isFull: boolean) {
    if (isFull) this.#bits.fill(0xff);
  }

  add(key: string): void {
    const place = placeOf(key);
    this.#bits[place >>> 3] = (this.#bits[place >>> 3] ?? 0) | (1 << (place & 7));
  }

  /** False only if the key was never added. */
  mayHave(key: string): boolean {
    const place = placeOf(key);
    return ((this.#bits[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }
}

/** Index of a key's bit: the FNV-1a hash of the key's first characters, folded. */
function placeOf(key: string): number {
  let mixed = 0x811c9dc5;
  const end = Math.min(key.length, SAMPLE);
  for (let at = 0; at < end; at++) mixed = Math.imul(mixed ^ key.charCodeAt(at), 0x01000193);
  return (mixed ^ (mixed >>> 23)) & (PLACES - 1);
}
