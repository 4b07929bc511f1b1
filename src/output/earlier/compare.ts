import {hash} from 'node:crypto';
import {cellReader, requireColumn} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {TextRow} from '../../input/row.ts';
import {KEY_LENGTH} from '../../ledger/lookup.ts';
import {DistinctKeys} from '../../ledger/run/distinct-keys.ts';
import type {Changes} from '../../report/changes.ts';
import {ChangeCounts} from './change-counts.ts';
import type {EnrichedFile} from './enriched-file.ts';
import {type KeyedRow, type Pair, Pairs, type Side} from './pairs.ts';

export interface Comparison {
  readonly changes: Changes;
  /** True if the new file's row with this number needs attention: it is new, changed or without a key. */
  isNews(number: number): boolean;
}

/**
 * Compares two outputs. Matches their rows by the columns of `key`; without a key, by all input columns that
 * both have. Reads both files at the same pace, since rows mostly keep their place.
 *
 * @throws {UsageError} if a key column is missing or no column can be the key; {@link InputError}
 * for unreadable rows.
 */
export async function compareFiles(
  old: EnrichedFile,
  fresh: EnrichedFile,
  key: readonly string[] = [],
): Promise<Comparison> {
  const columns = key.length > 0 ? key : sharedColumns(old, fresh);
  const counts = new ChangeCounts(old, fresh);
  const pairs = new Pairs();
  const readers = {old: new KeyedReader(old, columns), new: new KeyedReader(fresh, columns)};
  const news = new Marks();
  const settle = ({old: before, new: now}: Pair) => {
    if (before === undefined || now === undefined) counts.rows[now === undefined ? 'gone' : 'new'] += 1;
    const isNews = now !== undefined && (before === undefined || counts.compare(before.cells, now.cells));
    if (isNews) news.add(now.number);
  };
  try {
    for (const side of inTurn(readers)) {
      const {rows, fresh: first} = await readers[side].next();
      for (const one of rows) {
        const {text, row} = one;
        if (text === undefined) {
          if (side === 'new') news.add(row.number);
          continue;
        }
        const pair = pairs.match(side, text, row, !first.has(one));
        if (pair !== undefined) settle(pair);
      }
    }
    for (const pair of pairs.rest()) settle(pair);
    const of = (what: 'rows' | 'withoutKey' | 'repeated') => ({
      old: readers.old[what],
      new: readers.new[what],
    });
    const changes = {
      key: [...columns],
      rows: of('rows'),
      ...counts.rows,
      without_key: of('withoutKey'),
      repeated: of('repeated'),
      ...counts.counts,
    };
    refuseWithoutKeys(changes, {old, new: fresh});
    return {changes, isNews: number => news.has(number)};
  } finally {
    pairs.close();
    for (const reader of Object.values(readers)) reader.close();
  }
}

/** Yields the file to read next: the one with fewer rows read, until both have ended. */
function* inTurn(readers: Readonly<Record<Side, KeyedReader>>): Generator<Side> {
  const {old, new: fresh} = readers;
  while (!old.ended || !fresh.ended)
    yield fresh.ended || (!old.ended && old.rows <= fresh.rows) ? 'old' : 'new';
}

function sharedColumns(old: EnrichedFile, fresh: EnrichedFile): readonly string[] {
  const shared = fresh.own.columns.filter(name => old.own.columns.includes(name));
  if (shared.length > 0) return shared;
  throw new UsageError(
    'unknown_column',
    `${old.path} and ${fresh.path} have no column in common to match rows by. Name a column that is the same in both: --key COLUMN.`,
  );
}

/** Refuses a key that is empty in all rows of a file: in NDJSON, a misspelt key column can't be noticed earlier. */
function refuseWithoutKeys(
  {key, rows, without_key: without}: Changes,
  files: Readonly<Record<Side, EnrichedFile>>,
): void {
  for (const side of ['old', 'new'] as const)
    if (rows[side] > 0 && rows[side] === without[side])
      throw new UsageError(
        'unknown_column',
        `--key: no row of ${files[side].path} has anything in ${key.join(', ')}.`,
      );
}

interface KeyedText {
  /** The row's key: its cells in the columns of the key, joined; undefined if all of them are empty. */
  readonly text: string | undefined;
  /** Hash of `text`; empty if `text` is undefined. */
  readonly key: string;
  readonly row: KeyedRow;
}

/** Reads a file's rows with their keys, and counts repeated keys. */
class KeyedReader {
  rows = 0;
  withoutKey = 0;
  repeated = 0;
  ended = false;
  readonly #file: EnrichedFile;
  readonly #batches: AsyncGenerator<readonly TextRow[]>;
  readonly #cells: readonly ReturnType<typeof cellReader>[];
  readonly #distinct = new DistinctKeys();

  constructor(file: EnrichedFile, columns: readonly string[]) {
    const {columns: names, kind} = file.source.format;
    for (const name of columns) requireColumn(name, names, kind, '--key');
    this.#file = file;
    this.#batches = file.batches();
    this.#cells = columns.map(name => cellReader(name, names));
  }

  async next(): Promise<{readonly rows: readonly KeyedText[]; readonly fresh: ReadonlySet<KeyedText>}> {
    const next = await this.#batches.next();
    this.ended = next.done !== false;
    const batch: readonly TextRow[] = next.done === false ? next.value : [];
    const rows = batch.map((row): KeyedText => {
      const text = this.#keyOf(row);
      const key = text === undefined ? '' : hash('sha256', text, 'base64url').slice(0, KEY_LENGTH);
      return {text, key, row: {number: row.record, cells: this.#file.cellsOf(row)}};
    });
    const keyed = rows.filter(({text}) => text !== undefined);
    const fresh = new Set(this.#distinct.fresh(keyed));
    this.rows += rows.length;
    this.withoutKey += rows.length - keyed.length;
    this.repeated += keyed.length - fresh.size;
    return {rows, fresh};
  }

  #keyOf(row: TextRow): string | undefined {
    const [first = '', ...others] = this.#cells.map(cell => cell(row) ?? '');
    if (others.length === 0) return first === '' ? undefined : first;
    return first === '' && others.every(text => text === '') ? undefined : [first, ...others].join('\0');
  }

  close(): void {
    this.#distinct.close();
  }
}

/** A set of row numbers, one bit each. */
class Marks {
  #bytes = new Uint8Array(4_096);

  add(number: number): void {
    while (number >= 8 * this.#bytes.length) {
      const longer = new Uint8Array(2 * this.#bytes.length);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[number >> 3] = (this.#bytes[number >> 3] ?? 0) | (1 << (number & 7));
  }

  has(number: number): boolean {
    return ((this.#bytes[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}
