/** Column types of a packed file. The file has little-endian numbers, which a big-endian machine would misread. */
export type PackedColumn = Uint8Array | Uint32Array | Float64Array;

const kinds = {u8: Uint8Array, u32: Uint32Array, f64: Float64Array} as const;

type ElementKind = keyof typeof kinds;

interface Entry {
  name: string;
  kind: ElementKind;
  offset: number;
  length: number;
}

/** Rounds up to a multiple of 8 bytes: only there can a typed array of 64-bit numbers begin without a copy. */
const align = (offset: number): number => Math.ceil(offset / 8) * 8;

const kindOf = (column: PackedColumn): ElementKind =>
  column instanceof Uint8Array ? 'u8' : column instanceof Uint32Array ? 'u32' : 'f64';

/** Puts named columns into one file: the header's length, the header as JSON, then each column. */
export function encode(columns: Record<string, PackedColumn>): Buffer {
  let end = 0;
  const entries: Entry[] = Object.entries(columns).map(([name, column]) => {
    const offset = align(end);
    end = offset + column.byteLength;
    return {name, kind: kindOf(column), offset, length: column.length};
  });
  const header = Buffer.from(JSON.stringify(entries));
  const base = align(4 + header.length);
  const file = Buffer.alloc(base + end);
  file.writeUInt32LE(header.length, 0);
  header.copy(file, 4);
  for (const {name, offset} of entries) {
    const column = columns[name] as PackedColumn;
    file.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), base + offset);
  }
  return file;
}

/** A packed file's columns, as views on its bytes. */
export class PackedFile {
  readonly #bytes: Uint8Array;
  readonly #entries: Entry[];
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
