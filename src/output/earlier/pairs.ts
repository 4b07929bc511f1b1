import type {Sqlite} from '../../disk/sqlite.ts';
import {openTemporaryDatabase, orThrowTemporaryUnwritable} from '../../disk/temporary.ts';

/** A row to match: its number in its file, and its results. */
export interface ComparedRow {
  readonly number: number;
  readonly cells: readonly string[];
}

export type ComparedSide = 'old' | 'new';

/** An old row and a new row with the same key; or a row without a partner. */
export interface RowPair {
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
  readonly #waiting = {old: new Map<string, ComparedRow[]>(), new: new Map<string, ComparedRow[]>()};
  #count = 0;
  #file: Sqlite | undefined;

  constructor(most = MOST_WAITING) {
    this.#most = most;
  }

  /** Pairs the row with its waiting partner. If no partner waits, the row waits itself, and the result is undefined. */
  match(side: ComparedSide, key: string, row: ComparedRow): RowPair | undefined {
    const other = side === 'old' ? 'new' : 'old';
    // Rows with one key are matched in order, so no row passes those in the file.
    const partners = this.#file === undefined ? this.#waiting[other].get(key) : undefined;
    const partner = partners?.shift();
    if (partner !== undefined) {
      if (partners?.length === 0) this.#waiting[other].delete(key);
      this.#count -= 1;
      return {[side]: row, [other]: partner};
    }
    const own = this.#waiting[side].get(key);
    if (own === undefined) this.#waiting[side].set(key, [row]);
    else own.push(row);
    this.#count += 1;
    if (this.#count > this.#most) orThrowTemporaryUnwritable(() => this.#spill());
    return undefined;
  }

  /** Yields the rest once both files are read: pairs of which a row is in the file, and rows without a partner. */
  *rest(): Generator<RowPair> {
    if (this.#file !== undefined) yield* orThrowTemporaryUnwritable(() => pairsIn(this.#spill()));
    for (const side of ['old', 'new'] as const)
      for (const rows of this.#waiting[side].values()) for (const row of rows) yield {[side]: row};
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
      for (const side of ['old', 'new'] as const)
        for (const [key, rows] of this.#waiting[side])
          for (const {number, cells} of rows)
            insert.run(key, Number(side === 'new'), number, JSON.stringify(cells));
    });
    this.#waiting.old.clear();
    this.#waiting.new.clear();
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
        for (const one of old) yield {old: one};
        old = [];
      }
      last = [String(key), Number(isNew), Number(number)];
      const row = {number: last[2], cells: JSON.parse(String(cells)) as string[]};
      if (last[1] === 0) old.push(row);
      else yield {old: old.shift(), new: row};
    }
  }
  for (const one of old) yield {old: one};
}
