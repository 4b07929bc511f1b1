import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {lastNotAbove, PackedFile} from './container.ts';
import {files} from './data-dir.ts';

/** An autonomous system: its number and who holds it. */
export interface AutonomousSystem {
  number: number;
  /** As the data set names it; empty where it has no name. */
  holder: string;
}

/** Which autonomous system announces an IPv4 address. */
export class AsnTable {
  readonly #start: Uint32Array;
  readonly #end: Uint32Array;
  readonly #asn: Uint32Array;
  readonly #holder: Uint32Array;
  readonly #nameOffset: Uint32Array;
  readonly #name: Buffer;

  constructor(directory: string) {
    const packed = new PackedFile(readFileSync(join(directory, files.asn)));
    this.#start = packed.u32('start');
    this.#end = packed.u32('end');
    this.#asn = packed.u32('asn');
    this.#holder = packed.u32('holder');
    this.#nameOffset = packed.u32('nameOffset');
    const names = packed.u8('name');
    this.#name = Buffer.from(names.buffer, names.byteOffset, names.length);
  }

  /** @param address an IPv4 address as a number */
  find(address: number): AutonomousSystem | undefined {
    const index = lastNotAbove(this.#start, address);
    if (index < 0 || address > (this.#end[index] as number)) return undefined;
    const number = this.#asn[index] as number;
    return {number, holder: this.holder(number)};
  }

  /** The holder's name, empty where it is not known. */
  holder(number: number): string {
    const index = lastNotAbove(this.#holder, number);
    if (index < 0 || this.#holder[index] !== number) return '';
    return this.#name.toString('utf8', this.#nameOffset[index], this.#nameOffset[index + 1]);
  }
}

/** Which country an IPv4 address is registered in. */
export class CountryTable {
  readonly #start: Uint32Array;
  readonly #country: Uint8Array;
  readonly #codes: string[];

  constructor(directory: string) {
    const packed = new PackedFile(readFileSync(join(directory, files.country)));
    this.#start = packed.u32('start');
    this.#country = packed.u8('country');
    this.#codes = new TextDecoder().decode(packed.u8('code')).split(',');
  }

  /** @returns an ISO 3166 code, or undefined where none is known */
  find(address: number): string | undefined {
    const index = this.#country[lastNotAbove(this.#start, address)] ?? 0;
    return this.#codes[index] || undefined;
  }
}
