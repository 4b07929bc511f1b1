import {hash} from 'node:crypto';
import {createCellReader, requireColumn} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {TextRow} from '../../input/row.ts';
import {KEY_LENGTH} from '../../ledger/lookup-outcome.ts';
import {BitSet, DistinctKeys} from '../../ledger/run/distinct-keys.ts';
import type {Changes} from '../../report/changes.ts';
import {ChangeCounts} from './change-counts.ts';
import type {EnrichedFile} from './enriched-file.ts';
import {type ComparedSide, type KeyedRow, RowMatcher, type RowPair} from './pairs.ts';

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
  const counts = new ChangeCounts(old.results.names, fresh.results.names);
  const pairs = new RowMatcher();
  const readers = {old: new KeyedReader(old, columns), new: new KeyedReader(fresh, columns)};
  const news = new BitSet();
  const settle = ({old: before, new: now}: RowPair) => {
    if (before === undefined || now === undefined) counts.rows[now === undefined ? 'gone' : 'new'] += 1;
    const isNews = now !== undefined && (before === undefined || counts.compare(before.cells, now.cells));
    if (isNews) news.add(now.number);
  };
  try {
    while (!readers.old.ended || !readers.new.ended) {
      const isOldNext = readers.new.ended || (!readers.old.ended && readers.old.rows <= readers.new.rows);
      const side = isOldNext ? 'old' : 'new';
      for (const {text, row} of await readers[side].next()) {
        const pair = text === undefined ? undefined : pairs.match(side, text, row);
        if (pair !== undefined) settle(pair);
        if (text === undefined && side === 'new') news.add(row.number);
      }
    }
    for (const pair of pairs.rest()) settle(pair);
    const of = (what: 'rows' | 'withoutKey' | 'repeated') => ({
      old: readers.old[what],
      new: readers.new[what],
    });
    const changes = {
      ...{key: [...columns], rows: of('rows'), ...counts.rows},
      ...{without_key: of('withoutKey'), repeated: of('repeated'), ...counts.counts},
    };
    refuseWithoutKeys(changes, {old, new: fresh});
    return {changes, isNews: number => news.has(number)};
  } finally {
    pairs.close();
    for (const reader of Object.values(readers)) reader.close();
  }
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
  files: Readonly<Record<ComparedSide, EnrichedFile>>,
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
  readonly #cells: readonly ReturnType<typeof createCellReader>[];
  readonly #distinct = new DistinctKeys();

  constructor(file: EnrichedFile, columns: readonly string[]) {
    const {columns: names, kind} = file.source.format;
    for (const name of columns) requireColumn(name, names, kind, '--key');
    this.#file = file;
    this.#batches = file.batches();
    this.#cells = columns.map(name => createCellReader(name, names));
  }

  /** The next rows; none at the end. */
  async next(): Promise<readonly KeyedText[]> {
    const {done, value = []} = (await this.#batches.next()) as {done?: boolean; value?: readonly TextRow[]};
    this.ended = done === true;
    const texts = value.map(row => this.#keyOf(row));
    const keyed = texts.flatMap(text => (text === undefined ? [] : [{key: hashOf(text)}]));
    this.rows += value.length;
    this.withoutKey += value.length - keyed.length;
    this.repeated += keyed.length - this.#distinct.fresh(keyed).length;
    return value.map((row, at) => ({
      text: texts[at],
      row: {number: row.record, cells: this.#file.cellsOf(row)},
    }));
  }

  #keyOf(row: TextRow): string | undefined {
    const cells = this.#cells.map(cell => cell(row) ?? '');
    return cells.every(text => text === '') ? undefined : cells.join('\0');
  }

  close(): void {
    this.#distinct.close();
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, KEY_LENGTH);
}
