import {Readable} from 'node:stream';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {types} from 'node:util';
import {describeMissingColumn, objectHasColumn, requireColumn} from '../columns/targets.ts';
import {UsageError} from '../errors.ts';
import {createObjectSource, makeObjectRecord, readableKeys} from '../input/objects.ts';
import type {InputRecord} from '../input/row.ts';
import type {RecordSource} from '../input/source.ts';
import {type EnrichedObject, RowsError} from '../run/io.ts';
import type {ColumnMapping} from '../run/layout/column-mapping.ts';
import type {Stopper} from '../run/stop.ts';
import {refuseOwnEnrichment} from './enriched.ts';

/** An async source gives one row at a time. */
const GROUP_ROWS = 256;

/** A program's rows, as the source of a run. */
export class ProgramRowsSource {
  /** Limits the time for rows in one turn of the event loop. The consumer of results uses the same object. */
  readonly turns = new Turns();
  readonly #rows: unknown;
  readonly #list: readonly unknown[] | undefined;
  readonly #isAsync: boolean;
  readonly #iterator: Iterator<unknown> | AsyncIterator<unknown>;
  #first: unknown[] = [];
  #ended = false;
  #failed: {readonly error: unknown} | undefined;
  #columns: ExpectedColumns | undefined;
  /** Rows that were read and have no results yet. */
  readonly #pending = new Set<unknown>();

  /** @throws {UsageError} if a program without types gives something else than rows, such as a promise of them. */
  constructor(rows: Iterable<unknown> | AsyncIterable<unknown>) {
    demandIterable(rows);
    this.#rows = rows;
    this.#list = Array.isArray(rows) ? rows : undefined;
    this.#isAsync = Symbol.asyncIterator in rows;
    this.#iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  }

  /** Reads rows until there are `count`, they end, or `stopper` stops. The run searches them for columns. */
  async readAhead(count: number, stopper: Stopper): Promise<void> {
    while (this.#first.length < count && !this.#ended && stopper.reason === undefined)
      this.#first.push(...((await stopper.unlessStopped(this.#nextGroup())) ?? []));
  }

  get source(): RecordSource {
    return {
      ...createObjectSource(this.#first, this.#list),
      batches: () => this.#batches(),
      close: async () => this.close(),
    };
  }

  get list(): RecordSource {
    return createObjectSource([], this.#list);
  }

  /**
   * Looks at a list whole, before the first call.
   * @throws {UsageError} for a column that no row of a list has, or a `Map` in the list
   */
  expect(mapping: ColumnMapping, warn: (sentence: string) => void): void {
    const columns = new ExpectedColumns(
      mapping,
      warn,
      this.#list === undefined ? MAX_ROWS_WITHOUT : undefined,
    );
    for (const [index, row] of this.#list?.entries() ?? []) columns.see(row, index);
    if (this.#list === undefined) this.#columns = columns;
    else columns.demandSeen();
  }

  /** Notes that a row gets its results, and returns it. Its object may come again. */
  release(row: EnrichedObject): EnrichedObject {
    this.#pending.delete('type' in row ? row.given : row.row.value);
    return row;
  }

  /** @throws {RowsError} for a column that settings name and that no row had. */
  demandColumns(): void {
    if (this.#failed !== undefined) return;
    try {
      this.#columns?.demandSeen();
    } catch (error) {
      throw new RowsError(error);
    }
  }

  /** Releases the rows, even while the next one is waited for. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    // The iterator of a stream would end it only after its next row.
    if (this.#rows instanceof Readable) this.#rows.destroy();
    // Does not wait for the iterator's end, which may never come. Its errors no longer matter.
    Promise.resolve()
      .then(() => this.#iterator.return?.())
      .catch(() => {});
  }

  /** @throws {RowsError} after the rows before the one that failed. */
  async *#batches(): AsyncGenerator<readonly InputRecord[]> {
    let count = 0;
    while (this.#first.length > 0 || !this.#ended) {
      const group = this.#first.length > 0 ? this.#first : await this.#nextGroup();
      this.#first = [];
      const records: InputRecord[] = [];
      try {
        for (const row of group) {
          refuseOwnEnrichment(row, count);
          this.#columns?.see(row, count);
          this.#notePending(row, count);
          records.push(makeObjectRecord(row, ++count));
        }
      } catch (error) {
        this.#failed = {error};
      }
      yield records;
      if (this.#failed !== undefined) break;
    }
    if (this.#failed !== undefined) throw new RowsError(this.#failed.error);
  }

  /** @throws {UsageError} for an object that has no results yet from the time before: it would have another row's. */
  #notePending(row: unknown, index: number): void {
    if (typeof row !== 'object' || row === null) return;
    if (this.#pending.has(row))
      throw new UsageError(
        'settings',
        `rows: the row at index ${index} is the same object as an earlier one that has no results yet. Give each row an object of its own, such as {...row}. Nothing of that row was looked up.`,
      );
    this.#pending.add(row);
  }

  /** The next rows; none after the last. An error of the source ends the rows: see `#failed`. */
  async #nextGroup(): Promise<readonly unknown[]> {
    if (this.turns.isOver) await this.turns.next();
    const group: unknown[] = [];
    const maxRows = this.#isAsync ? 1 : GROUP_ROWS;
    try {
      while (!this.#ended && group.length < maxRows && (group.length === 0 || !this.turns.isOver)) {
        const next = this.#iterator.next();
        const result: unknown = next instanceof Promise || this.#isAsync ? await next : next;
        const {done, value} = demandResult(result);
        if (done) this.#ended = true;
        else group.push(value);
      }
    } catch (error) {
      this.#ended = true;
      this.#failed = {error};
    }
    return group;
  }
}

/** @throws {UsageError} for an iterator that gives no results: its rows would never end. */
function demandResult(result: unknown): Partial<IteratorResult<unknown>> {
  if (typeof result === 'object' && result !== null) return result;
  throw new UsageError(
    'settings',
    `rows: their iterator's next() gave ${result === null ? 'null' : typeof result}, not an object {done, value}.`,
  );
}

function demandIterable(rows: unknown): void {
  let what = rows === null ? 'null' : typeof rows;
  if (typeof rows === 'object' && rows !== null) {
    if (Symbol.iterator in rows || Symbol.asyncIterator in rows) return;
    const isList = Array.isArray(Object.values(rows)[0]);
    what = 'then' in rows ? 'a promise: await it first' : `an object${isList ? ': pass its list' : ''}`;
  }
  throw new UsageError('settings', `rows: expected an array or another iterable of objects, found ${what}.`);
}

/** A turn takes rows for at most this time. It may last twice as long, since it also plans the rows. */
const LONGEST_TURN_MS = 10;

/**
 * A list whose answers are all known never waits for I/O: without turns of the event loop, it would block the
 * program's timers, requests and signals until its end.
 */
class Turns {
  #began = performance.now();

  /** True if this turn has lasted long enough. The caller should then await {@link next}. */
  get isOver(): boolean {
    return performance.now() - this.#began >= LONGEST_TURN_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

/** Number of rows without a column after which a run ends, unless its rows are a list. */
const MAX_ROWS_WITHOUT = 100;
const MAX_ROWS_WITH_KEYS = 1_000;

/**
 * A later row may still have a column. So the first row without it causes a warning, and `most` rows without it, or
 * the last row, an error. Without `most`, only the last row does.
 */
class ExpectedColumns {
  readonly #warn: (sentence: string) => void;
  readonly #most: number | undefined;
  /** The columns that no row had, each with its setting and the number of rows without it. */
  #unseen: {readonly setting: string; readonly column: string; rows: number}[];
  readonly #keys = new Set<string>();
  #rows = 0;

  constructor({mentioned}: ColumnMapping, warn: (sentence: string) => void, most: number | undefined) {
    this.#unseen = mentioned.map(([setting, column]) => ({setting, column, rows: 0}));
    this.#warn = warn;
    this.#most = most;
  }

  /** @throws {UsageError} for a `Map`, or if too many rows lack a column. */
  see(row: unknown, index: number): void {
    // Without a trap of a proxy, whose error comes with its row.
    if (types.isMap(row))
      throw new UsageError(
        'settings',
        `rows: the row at index ${index} is a Map, which has no columns. Give an object, such as Object.fromEntries(row). Nothing of that row was looked up.`,
      );
    if (this.#unseen.length === 0 || typeof row !== 'object' || row === null) return;
    const hasColumn = this.#unseen.map(({column}) => objectHasColumn(row, column));
    const lacking = this.#unseen.filter((_, at) => hasColumn[at] === false);
    this.#unseen = this.#unseen.filter((_, at) => hasColumn[at] !== true);
    if (lacking.length > 0 && this.#rows++ < MAX_ROWS_WITH_KEYS)
      for (const key of readableKeys(row)) this.#keys.add(key);
    for (const column of lacking) {
      column.rows += 1;
      if (column.rows === 1 && this.#most !== undefined)
        this.#warn(describeMissingColumn(column.column, [...this.#keys], column.setting));
      if (column.rows === this.#most) this.demandSeen(column.rows);
    }
  }

  /** @throws {UsageError} for a column that at least so many rows lacked, and none had. */
  demandSeen(least = 1): void {
    for (const {setting, column, rows} of this.#unseen)
      if (rows >= least) requireColumn(column, [...this.#keys], 'csv', setting);
  }
}
