import {lastNotAbove, PackedFile} from '../container.ts';
import {files, readPacked} from '../data-dir.ts';

interface CarrierFile {
  names: string[];
  prefixes: Record<string, Record<string, number>>;
}

/** Finds the carrier to which a number's range was first allocated. A ported number has another carrier. */
export class CarrierTable {
  readonly #names: string[];
  readonly #prefixes: Map<string, Map<string, number>>;

  constructor(directory: string) {
    const packed: CarrierFile = JSON.parse(readPacked(directory, files.carriers).toString());
    this.#names = packed.names;
    this.#prefixes = new Map(
      Object.entries(packed.prefixes).map(([code, table]) => [code, new Map(Object.entries(table))]),
    );
  }

  /** The longest matching prefix wins, as in libphonenumber's carrier mapper. */
  find(callingCode: string, nationalNumber: string): string | undefined {
    const table = this.#prefixes.get(callingCode);
    if (table === undefined) return undefined;
    for (let length = nationalNumber.length; length > 0; length--) {
      const index = table.get(nationalNumber.slice(0, length));
      if (index !== undefined) return this.#names[index] || undefined;
    }
    return undefined;
  }
}

/** Numbers of public SMS inboxes. */
export class DisposablePhones {
  readonly #numbers: Float64Array;

  constructor(directory: string) {
    this.#numbers = new PackedFile(readPacked(directory, files.disposablePhones)).column('number', 'f64');
  }

  /** @param e164 with its leading `+` */
  has(e164: string): boolean {
    const number = Number(e164.slice(1));
    return this.#numbers[lastNotAbove(this.#numbers, number)] === number;
  }
}
