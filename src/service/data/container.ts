/** Column types of a packed file. The file has little-endian numbers, which a big-endian machine would misread. */
const kinds = {u8: Uint8Array, u32: Uint32Array, f64: Float64Array} as const;

type ElementKind = keyof typeof kinds;

/** A column in the header of a packed file. */
export interface PackedEntry {
  name: string;
  kind: ElementKind;
  offset: number;
  length: number;
}

/** Rounds up to a multiple of 8 bytes: only there can a typed array of 64-bit numbers begin without a copy. */
export const align = (offset: number): number => Math.ceil(offset / 8) * 8;

/** A packed file's columns, as views on its bytes. */
export class PackedFile {
  readonly #bytes: Uint8Array;
  readonly #entries: PackedEntry[];
  readonly #base: number;

  constructor(file: Buffer) {
    this.#bytes = file.byteOffset % 8 === 0 ? file : new Uint8Array(file);
    const length = file.readUInt32LE(0);
    this.#entries = JSON.parse(file.toString('utf8', 4, 4 + length));
    this.#base = align(4 + length);
  }

  /** @throws an error if the file has no column of this name and kind */
  column<K extends ElementKind>(name: string, kind: K): InstanceType<(typeof kinds)[K]> {
    const entry = this.#entries.find(each => each.name === name);
    if (entry?.kind !== kind) throw new Error(`packed data has no column ${name} of kind ${kind}`);
    const offset = this.#bytes.byteOffset + this.#base + entry.offset;
    return new kinds[kind](this.#bytes.buffer as ArrayBuffer, offset, entry.length) as InstanceType<
      (typeof kinds)[K]
    >;
  }
}

/** The index of the last number in `sorted` that is at most `value`; -1 if all are greater. */
export function lastNotAbove(sorted: Uint32Array | Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
