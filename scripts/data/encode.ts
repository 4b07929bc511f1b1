import {align, type PackedEntry} from '../../src/service/data/packed-data.ts';

export type PackedColumn = Uint8Array | Uint32Array | Float64Array;

const kindOf = (column: PackedColumn): PackedEntry['kind'] =>
  column instanceof Uint8Array ? 'u8' : column instanceof Uint32Array ? 'u32' : 'f64';

/** Puts named columns into one file: the header's length, the header as JSON, then each column. */
export function encode(columns: Record<string, PackedColumn>): Buffer {
  let end = 0;
  const entries: PackedEntry[] = Object.entries(columns).map(([name, column]) => {
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
