import {type Options, parse} from 'csv-parse/sync';
import {stopOf} from './csv-stop.ts';

/** A record's fields, and how many lines of the file it takes. */
export interface BlockRecord {
  readonly fields: readonly string[];
  readonly lines: number;
}

/**
 * Maximum of `#failures`, the count of failed blocks in a row. After a failure, 2 ** `#failures` - 1 blocks
 * are read record by record: at most 63.
 */
const MOST_FAILURES = 6;

/**
 * Parses whole blocks of lines at once. If that fails, the caller must read the block record by record. The next
 * blocks are then not even tried, since odd records come in groups: 1 block after a first failure, then 3, 7, 15
 * and so on.
 */
export class WholeBlocks {
  readonly #options: Options;
  readonly #eol: number;
  #failures = 0;
  /** Number of blocks to leave untried before the next try. */
  #leftOut = 0;

  constructor(options: Options, eol: number) {
    this.#options = options;
    this.#eol = eol;
  }

  /** The block's records; undefined if the block must be read record by record. */
  read(block: Buffer, fieldCount: number): readonly BlockRecord[] | undefined {
    if (this.#leftOut-- > 0) return undefined;
    const records = recordsOf(block, this.#options, fieldCount, this.#eol);
    this.#failures = records === undefined ? Math.min(this.#failures + 1, MOST_FAILURES) : 0;
    this.#leftOut = 2 ** this.#failures - 1;
    return records;
  }
}

/**
 * Reads all records of a block of whole lines at once. This takes a third of the time, since csv-parse need not
 * report where each record ends. Returns undefined if the caller must know that: if the block has a blank line, or
 * a record that is unreadable, has another number of fields than the header, or continues after the block.
 */
export function recordsOf(
  block: Buffer,
  options: Options,
  fieldCount: number,
  eol: number,
): readonly BlockRecord[] | undefined {
  let all: string[][];
  try {
    all = parse(block, options) as string[][];
  } catch (error) {
    stopOf(error);
    return undefined;
  }
  if (all.some(fields => fields.length !== fieldCount)) return undefined;
  const total = countLines(block, eol);
  // Each record takes at least one line. So if there are as many lines as records, no line is blank, and no
  // record takes two.
  if (all.length === total) return all.map(fields => ({fields, lines: 1}));
  const end = String.fromCharCode(eol);
  const records = all.map(fields => ({fields, lines: linesOf(fields, end)}));
  return records.reduce((sum, {lines}) => sum + lines, 0) === total ? records : undefined;
}

function linesOf(fields: readonly string[], end: string): number {
  return fields.reduce((sum, field) => (field.includes(end) ? sum + field.split(end).length - 1 : sum), 1);
}

/** Number of lines. The last line counts even without a line end. */
export function countLines(bytes: Buffer, eol: number): number {
  let ends = 0;
  for (let at = bytes.indexOf(eol); at !== -1; at = bytes.indexOf(eol, at + 1)) ends++;
  return bytes.at(-1) === eol ? ends : ends + 1;
}
