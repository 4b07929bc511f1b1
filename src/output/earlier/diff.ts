import {createCellReader, requireColumn} from '../../columns/targets.ts';
import type {Sqlite} from '../../disk/sqlite.ts';
import {openTemporaryDatabase, orThrowTemporaryUnwritable} from '../../disk/temporary.ts';
import {UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {FileRow} from '../../input/row.ts';
import {hashKey} from '../../ledger/lookup-outcome.ts';
import {BitSet, DistinctKeys} from '../../ledger/run/distinct-keys.ts';
import type {Changes} from '../../report/changes.ts';
import {ChangeCounts} from './change-counts.ts';
import {type EnrichedFile, openEnrichedFile} from './enriched-file.ts';
import {rewriteOutput, writeWholeFile} from './whole-file.ts';

/** Two outputs to compare, and the file for new and changed rows. */
export interface DiffRequest {
  readonly old: string;
  readonly new: string;
  readonly key?: readonly string[] | undefined;
  readonly to?: string | undefined;
}

/** Compares two outputs. @throws as {@link openEnrichedFile} and {@link compareFiles}; {@link OutputError}. */
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
  const header = format.kind === 'csv' ? (format.header ?? format.columns) : [];
  const copied = (row: FileRow) => (row.type === 'csv' ? row.fields : row.raw.trim());
  async function* texts() {
    yield* rewriteOutput(file, header, row => (isNews(row.record) ? copied(row) : undefined));
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

interface Comparison {
  readonly changes: Changes;
  /** True if the new file's row with this number needs attention: it is new, changed or without a key. */
  isNews(number: number): boolean;
}

/**
 * Matches rows by the columns of `key`; without one, by all input columns that both have. Reads both files at the same
 * pace, since rows mostly keep their place.
 *
 * @throws {UsageError} if a key column is missing or no column can be the key; {@link InputError} for unreadable rows.
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
    for (const pair of pairs.remaining()) settle(pair);
    const countsOf = (what: 'rows' | 'withoutKey' | 'repeated') => ({
      old: readers.old[what],
      new: readers.new[what],
    });
    const changes = counts.changes({
      key: [...columns],
      rows: countsOf('rows'),
      without_key: countsOf('withoutKey'),
      repeated: countsOf('repeated'),
    });
    refuseWithoutKeys(changes, {old, new: fresh});
    return {changes, isNews: number => news.has(number)};
  } finally {
    pairs.close();
    for (const reader of Object.values(readers)) reader.close();
  }
}

function sharedColumns(old: EnrichedFile, fresh: EnrichedFile): readonly string[] {
  const shared = fresh.input.columns.filter(name => old.input.columns.includes(name));
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

/** A row to match: its number in its file, and its results. */
interface ComparedRow {
  readonly number: number;
  readonly cells: readonly string[];
}

type ComparedSide = 'old' | 'new';

/** An old row and a new row with the same key; or a row without a partner. */
interface RowPair {
  readonly old?: ComparedRow | undefined;
  readonly new?: ComparedRow | undefined;
}

/** Maximum rows that wait for their partner in memory. */
const MOST_WAITING = 20_000;
const READ_AT_ONCE = 500;

/**
 * Matches rows of two files by their keys. Lists mostly keep their order, so few rows wait for their partner at a
 * time. If too many wait, they and all that follow go to a third file, on disk, until both files are read.
 */
export class RowMatcher {
  readonly #most: number;
  /** The rows that wait, by key. Until a file has some, those of one key are of one side. */
  readonly #waiting = new Map<string, (ComparedRow & {readonly side: ComparedSide})[]>();
  #count = 0;
  #file: Sqlite | undefined;

  constructor(most = MOST_WAITING) {
    this.#most = most;
  }

  /** Pairs the row with its waiting partner. If no partner waits, the row waits itself, and the result is undefined. */
  match(side: ComparedSide, key: string, row: ComparedRow): RowPair | undefined {
    const waiting = this.#waiting.get(key) ?? [];
    const [partner] = waiting;
    // Rows with one key are matched in order, so no row passes those in the file.
    if (this.#file === undefined && partner !== undefined && partner.side !== side) {
      waiting.shift();
      if (waiting.length === 0) this.#waiting.delete(key);
      this.#count -= 1;
      return {[side]: row, [partner.side]: partner};
    }
    waiting.push({...row, side});
    this.#waiting.set(key, waiting);
    this.#count += 1;
    if (this.#count > this.#most) orThrowTemporaryUnwritable(() => this.#spill());
    return undefined;
  }

  /** Yields what is left once both files are read: pairs of which a row is in the file, and rows without a partner. */
  *remaining(): Generator<RowPair> {
    if (this.#file !== undefined) yield* orThrowTemporaryUnwritable(() => pairsIn(this.#spill()));
    for (const rows of this.#waiting.values()) for (const row of rows) yield {[row.side]: row};
  }

  close(): void {
    this.#file?.close();
  }

  #spill(): Sqlite {
    this.#file ??= openTemporaryDatabase(
      'CREATE TABLE waiting (key TEXT NOT NULL, is_new INTEGER NOT NULL, number INTEGER NOT NULL, cells TEXT NOT NULL)',
    );
    const file = this.#file;
    const insert = file.prepare('INSERT INTO waiting VALUES (?, ?, ?, ?)');
    file.transaction(() => {
      for (const [key, rows] of this.#waiting)
        for (const {side, number, cells} of rows)
          insert.run(key, Number(side === 'new'), number, JSON.stringify(cells));
    });
    this.#waiting.clear();
    this.#count = 0;
    return file;
  }
}

/** The rows by key: of one key, first the old ones, then the new ones, each in their file's order. */
function* pairsIn(file: Sqlite): Generator<RowPair> {
  file.exec('CREATE INDEX by_key ON waiting (key, is_new, number)');
  const page = file.query(
    ['key', 'is_new', 'number', 'cells'],
    `FROM waiting WHERE (key, is_new, number) > (?, ?, ?) ORDER BY key, is_new, number LIMIT ${READ_AT_ONCE}`,
  );
  let old: ComparedRow[] = [];
  let last: [key: string, isNew: number, number: number] = ['', -1, 0];
  for (let isLast = false; !isLast; ) {
    const rows = page.all(...last);
    isLast = rows.length < READ_AT_ONCE;
    for (const {key, is_new: isNew, number, cells} of rows) {
      if (key !== last[0]) {
        for (const gone of old) yield {old: gone};
        old = [];
      }
      last = [String(key), Number(isNew), Number(number)];
      const row = {number: last[2], cells: JSON.parse(String(cells)) as string[]};
      if (last[1] === 0) old.push(row);
      else yield {old: old.shift(), new: row};
    }
  }
  for (const gone of old) yield {old: gone};
}
