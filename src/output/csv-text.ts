import {randomUUID} from 'node:crypto';
import {type Options, stringify} from 'csv-stringify/sync';

/** Records as CSV: the text of each, without its line end. */
export type CsvTexts = (records: readonly (readonly string[])[]) => string[];

/**
 * Marks the end of each record, since cells may hold line ends. It is random, so no cell holds it, and never
 * overlaps itself.
 */
const MARK = `\0${randomUUID()}`;
const QUOTED = /["\r\n]/;

/**
 * Only what may need quotes passes csv-stringify, which makes 1 kB of objects of each cell, and passes it once: a record in
 * which nothing does is its cells, joined.
 */
export function csvTexts(given: Options & {readonly delimiter: string}): CsvTexts {
  const {delimiter} = given;
  const options = {...given, record_delimiter: MARK};
  const [first = ''] = delimiter;
  const needsQuotes = (cell: string) => cell.includes(first) || QUOTED.test(cell);
  return records => {
    const odd = new Map<string, string>();
    const plain = records.map(cells => {
      let isPlain = true;
      for (const cell of cells) {
        if (!needsQuotes(cell)) continue;
        odd.set(cell, cell);
        isPlain = false;
      }
      return isPlain ? cells.join(delimiter) : undefined;
    });
    if (odd.size === 0) return plain as string[];
    const cells = [...odd.keys()];
    const made = stringify(
      cells.map(cell => [cell]),
      options,
    ).split(MARK);
    for (const [index, cell] of cells.entries()) odd.set(cell, made[index] as string);
    const text = (cell: string) => odd.get(cell) ?? cell;
    return plain.map((whole, index) => whole ?? records[index]?.map(text).join(delimiter) ?? '');
  };
}

/** Texts that are kept for the next use: a map, a bounded or a weak one. */
interface Kept<Key> {
  get(key: Key): string | undefined;
  set(key: Key, text: string): unknown;
}

/** The texts of cells that come again, made once for as long as they are kept. */
export class KeptTexts<Item, Key> {
  readonly #texts: CsvTexts;
  readonly #kept: Kept<Key>;
  readonly #keyOf: (item: Item) => Key;
  readonly #cellsOf: (item: Item) => readonly string[];

  constructor(
    texts: CsvTexts,
    kept: Kept<Key>,
    keyOf: (item: Item) => Key,
    cellsOf: (item: Item) => readonly string[],
  ) {
    this.#texts = texts;
    this.#kept = kept;
    this.#keyOf = keyOf;
    this.#cellsOf = cellsOf;
  }

  /** In the order of the items. */
  of(items: readonly Item[]): string[] {
    const fresh = new Map<Key, Item>();
    const keys = items.map(this.#keyOf);
    const texts = keys.map((key, index) => {
      const kept = this.#kept.get(key);
      if (kept === undefined) fresh.set(key, items[index] as Item);
      return kept;
    });
    if (fresh.size === 0) return texts as string[];
    const made = this.#texts([...fresh.values()].map(this.#cellsOf));
    const byKey = new Map([...fresh.keys()].map((key, index) => [key, made[index] as string]));
    for (const [key, text] of byKey) this.#kept.set(key, text);
    return texts.map((kept, index) => kept ?? (byKey.get(keys[index] as Key) as string));
  }
}
