import {existsSync} from 'node:fs';
import {createCellReader, requireColumn} from '../../columns/targets.ts';
import {identifyFile, isSameFile} from '../../disk/path.ts';
import {UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {FileRow} from '../../input/row.ts';
import {compressionOf} from '../../job/file-names.ts';
import {hashKey} from '../../ledger/lookup-outcome.ts';
import {BitSet, DistinctKeys} from '../../ledger/run/distinct-keys.ts';
import type {Changes} from '../../report/changes.ts';
import {ChangeCounts} from './change-counts.ts';
import {type EnrichedFile, openEnrichedFile} from './enriched-file.ts';
import {type ComparedRow, type ComparedSide, RowMatcher, type RowPair} from './pairs.ts';
import {fieldsOfCsvRow, rawJsonOfRow, rewriteOutput, writeWholeFile} from './whole-file.ts';

/** Two outputs to compare, and the file for new and changed rows. */
export interface DiffRequest {
  readonly old: string;
  readonly new: string;
  readonly key?: readonly string[] | undefined;
  readonly to?: string | undefined;
}

/**
 * Compares two outputs.
 *
 * @throws as {@link openEnrichedFile} and {@link compareFiles}; {@link OutputError}.
 */
export async function diffOutputs({old, new: fresh, key, to}: DiffRequest): Promise<Changes> {
  const before = await openEnrichedFile(old);
  try {
    const after = await openEnrichedFile(fresh);
    try {
      const comparison = await compareFiles(before, after, key);
      if (to !== undefined) await writeNews(to, after, comparison);
      return comparison.changes;
    } finally {
      await after.close();
    }
  } finally {
    await before.close();
  }
}

/** Writes the new and changed rows. Reads the new file again, so that they need no memory and keep their order. */
async function writeNews(to: string, compared: EnrichedFile, {isNews}: Comparison): Promise<void> {
  const file = await openEnrichedFile(compared.path);
  const {format} = file.source;
  async function* texts() {
    yield* rewriteOutput<FileRow>(file, {
      header: format.kind === 'csv' ? (format.header ?? format.columns) : [],
      rowsFor: rows => rows.filter(({record}) => isNews(record)),
      fieldsOf: row => fieldsOfCsvRow(row),
      lineOf: rawJsonOfRow,
    });
    if (file.source.position.sha256 !== compared.source.position.sha256)
      throw new InputError(
        'input_changed',
        `${file.path} was changed while it was compared. Run the same command again.`,
      );
  }
  try {
    await writeWholeFile(to, texts());
  } finally {
    await file.close();
  }
}

/** @throws {UsageError} if `to` can't be the name of a new file. With `force`, an existing file may be replaced. */
export function checkNewFilePath(to: string | undefined, read: readonly string[], force: boolean): void {
  if (to === undefined) return;
  if (to === '-' || to === '') throw new UsageError('no_file', `-o ${to || "''"}: name a file.`);
  const same = read.find(path => isSameFile(identifyFile(path), identifyFile(to)));
  if (same !== undefined)
    throw new UsageError('same_file', `-o ${to} is ${same}, which is read. Name another file.`);
  if (compressionOf(to) !== undefined)
    throw new UsageError(
      'output_compressed',
      `-o ${to}: this file can't be compressed. Name it without that ending.`,
    );
  if (!force && existsSync(to))
    throw new UsageError('output_exists', `${to} exists. Replace it with --force, or name another with -o.`);
}

interface Comparison {
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
async function compareFiles(
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
  readonly row: ComparedRow;
}

/** Reads a file's rows with their keys, and counts repeated keys. */
class KeyedReader {
  rows = 0;
  withoutKey = 0;
  repeated = 0;
  ended = false;
  readonly #file: EnrichedFile;
  readonly #batches: AsyncGenerator<readonly FileRow[]>;
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
    const {done, value = []} = (await this.#batches.next()) as {done?: boolean; value?: readonly FileRow[]};
    this.ended = done === true;
    const texts = value.map(row => this.#keyOf(row));
    const keyed = texts.flatMap(text => (text === undefined ? [] : [{key: hashKey(text)}]));
    this.rows += value.length;
    this.withoutKey += value.length - keyed.length;
    this.repeated += keyed.length - this.#distinct.fresh(keyed).length;
    return value.map((row, at) => ({
      text: texts[at],
      row: {number: row.record, cells: this.#file.cellsOf(row)},
    }));
  }

  #keyOf(row: FileRow): string | undefined {
    const cells = this.#cells.map(cell => cell(row) ?? '');
    return cells.every(text => text === '') ? undefined : cells.join('\0');
  }

  close(): void {
    this.#distinct.close();
  }
}
