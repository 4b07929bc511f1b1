import {files, lastNotAbove, PackedFile, readPacked} from '../packed-data.ts';

/** An autonomous system: its number and holder. */
export interface AutonomousSystem {
  number: number;
  /** The holder's name in the data set; may be empty. */
  holder: string;
}

/** Finds the autonomous system that announces an IPv4 address. */
export class AsnTable {
  readonly #start: Uint32Array;
  readonly #end: Uint32Array;
  readonly #asn: Uint32Array;
  readonly #holder: Uint32Array;
  readonly #nameEnd: Uint32Array;
  readonly #name: Buffer;

  constructor(directory: string) {
    const packed = new PackedFile(readPacked(directory, files.asn));
    ({start: this.#start, end: this.#end} = ranges(packed));
    this.#asn = packed.column('asn', 'u32');
    this.#holder = sums(packed.column('holderGap', 'u32'));
    this.#nameEnd = sums(packed.column('nameLength', 'u32'));
    const names = packed.column('name', 'u8');
    this.#name = Buffer.from(names.buffer, names.byteOffset, names.length);
  }

  /** @param address an IPv4 address as a number */
  find(address: number): AutonomousSystem | undefined {
    const index = lastNotAbove(this.#start, address);
    if (index < 0 || address > (this.#end[index] as number)) return undefined;
    const number = this.#asn[index] as number;
    return {number, holder: this.holder(number)};
  }

  /** Every range, in order of addresses, with its autonomous system. */
  *ranges(): Iterable<{start: number; end: number; system: AutonomousSystem}> {
    for (const [index, start] of this.#start.entries()) {
      const number = this.#asn[index] as number;
      yield {start, end: this.#end[index] as number, system: {number, holder: this.holder(number)}};
    }
  }

  /** The holder's name; empty if unknown. */
  holder(number: number): string {
    const index = lastNotAbove(this.#holder, number);
    if (index < 0 || this.#holder[index] !== number) return '';
    return this.#name.toString('utf8', index === 0 ? 0 : this.#nameEnd[index - 1], this.#nameEnd[index]);
  }
}

/**
 * Restores packed ranges. A range is packed as its distance from the end of the range before it, and its length:
 * distances compress to a fifth of the size of addresses. If two ranges overlap, the distance is negative and
 * stored modulo 2^32. The addition then wraps modulo 2^32 too, since `start` is a Uint32Array.
 */
function ranges(packed: PackedFile): {start: Uint32Array; end: Uint32Array} {
  const gap = packed.column('gap', 'u32');
  const length = packed.column('length', 'u32');
  const start = new Uint32Array(gap.length);
  const end = new Uint32Array(gap.length);
  let next = 0;
  for (let index = 0; index < gap.length; index++) {
    start[index] = next + (gap[index] as number);
    next = (start[index] as number) + (length[index] as number);
    end[index] = next - 1;
  }
  return {start, end};
}

function sums(distances: Uint32Array): Uint32Array {
  let sum = 0;
  return distances.map(distance => {
    sum += distance;
    return sum;
  });
}

/** Finds the country in which an IPv4 address is registered. */
export class CountryTable {
  readonly #start: Uint32Array;
  readonly #country: Uint8Array;
  readonly #codes: string[];

  constructor(directory: string) {
    const packed = new PackedFile(readPacked(directory, files.country));
    this.#start = sums(packed.column('gap', 'u32'));
    this.#country = packed.column('country', 'u8');
    this.#codes = new TextDecoder().decode(packed.column('code', 'u8')).split(',');
  }

  /** @returns an ISO 3166 code; undefined if the country is unknown */
  find(address: number): string | undefined {
    const index = this.#country[lastNotAbove(this.#start, address)] ?? 0;
    return this.#codes[index] || undefined;
  }
}
