import {randomUUID} from 'node:crypto';
import {type Options, stringify} from 'csv-stringify/sync';

/** Turns records into CSV: the text of each, without its line end. */
export type CsvTexts = (records: readonly (readonly string[])[]) => string[];

/**
 * Marks the end of each record in the text of csv-stringify, since cells may hold line ends. The mark is random, so
 * no cell holds it.
 */
const MARK = `\0${randomUUID()}`;
const QUOTED = /["\r\n]/;

/**
 * Makes a writer of CSV. Only cells that may need quotes go through csv-stringify, which makes 1 kB of objects for
 * each cell. All other cells are joined directly.
 */
export function csvTexts(given: Options & {readonly delimiter: string}): CsvTexts {
  const {delimiter} = given;
  const options = {...given, record_delimiter: MARK};
  const [first = ''] = delimiter;
  return records => {
    const odd = new Map<string, string>();
    const plain = records.map(cells => {
      let isPlain = true;
      for (const cell of cells) {
        if (!cell.includes(first) && !QUOTED.test(cell)) continue;
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
