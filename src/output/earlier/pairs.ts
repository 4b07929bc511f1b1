import {openTemporary} from '../../disk/sqlite.ts';
import {inTemporary} from '../../disk/temporary.ts';

/** A row to match: its number in its file, and its results. */
export interface KeyedRow {
  readonly number: number;
  readonly cells: readonly string[];
}

export type Side = 'old' | 'new';

/** An old row and a new row with the same key; or a row without a partner. */
export interface Pair {
  readonly old?: KeyedRow | undefined;
  readonly new?: KeyedRow | undefined;
}

/** Maximum rows that wait for their partner in memory. If there are more, all of them go to a file. */
const MOST_WAITING = 20_000;
const READ_AT_ONCE = 500;

/**
 * Matches rows of two files by their keys. Lists mostly keep their order, so few rows wait for their partner at a
 * time. If too many wait, they go to a third file, on disk, until both files are read.
 */
export class Pairs {
  readonly #most: number;
  #waiting = noneWaiting();
  /** Rows that must wait until both files are read: `#file` may have earlier rows with their keys. */
  #late = noneWaiting();
  #count = 0;
  #file: WaitingFile | undefined;

  constructor(most = MOST_WAITING) {
    this.#most = most;
  }

  /**
   * Pairs the row with its waiting partner. If no partner waits, the row waits itself, and the result is
   * undefined. `isRepeat`: true if an earlier row of the same side had this key.
   */
  match(side: Side, key: string, row: KeyedRow, isRepeat: boolean): Pair | undefined {
    const other = side === 'old' ? 'new' : 'old';
    // An earlier row with this key may be in `#file`, and must be matched first. So this row is matched only
    // at the end, like the rows there.
    const isLate = isRepeat && this.#file !== undefined;
    const partners = isLate ? undefined : this.#waiting[other].get(key);
    const partner = partners?.shift();
    if (partner !== undefined) {
      if (partners?.length === 0) this.#waiting[other].delete(key);
      this.#count -= 1;
      return {[side]: row, [other]: partner};
    }
    const waiting = isLate ? this.#late : this.#waiting;
    const others = waiting[side].get(key);
    if (others === undefined) waiting[side].set(key, [row]);
    else others.push(row);
    this.#count += 1;
    if (this.#count > this.#most) this.#spill();
    return undefined;
  }

  /** Yields the rest once both files are read: late pairs from the file on disk, and rows without a partner. */
  *rest(): Generator<Pair> {
    if (this.#file === undefined) {
      for (const side of ['old', 'new'] as const)
        for (const rows of this.#waiting[side].values()) for (const row of rows) yield {[side]: row};
      return;
    }
    this.#spill();
    yield* this.#file.pairs();
  }

  close(): void {
    this.#file?.close();
  }

  #spill(): void {
    inTemporary(() => {
      this.#file ??= new WaitingFile();
      this.#file.add(this.#waiting);
      this.#file.add(this.#late);
    });
    this.#waiting = noneWaiting();
    this.#late = noneWaiting();
    this.#count = 0;
  }
}

type WaitingRows = Record<Side, Map<string, KeyedRow[]>>;

function noneWaiting(): WaitingRows {
  return {old: new Map(), new: new Map()};
}

/** Waiting rows on disk. */
class WaitingFile {
  readonly #db = openTemporary(
    'CREATE TABLE waiting (key TEXT NOT NULL, is_new INTEGER NOT NULL, number INTEGER NOT NULL, cells TEXT NOT NULL)',
  );

  add(waiting: WaitingRows): void {
    const insert = this.#db.prepare('INSERT INTO waiting VALUES (?, ?, ?, ?)');
    this.#db.transaction(() => {
      for (const side of ['old', 'new'] as const)
        for (const [key, rows] of waiting[side])
          for (const {number, cells} of rows)
            insert.run(key, side === 'new' ? 1 : 0, number, JSON.stringify(cells));
    });
  }

  *pairs(): Generator<Pair> {
    let key: unknown;
    let old: KeyedRow[] = [];
    for (const {key: next, isNew, ...row} of this.#inOrder()) {
      if (next !== key) for (const one of old) yield {old: one};
      if (next !== key) [key, old] = [next, []];
      if (!isNew) old.push(row);
      else yield {old: old.shift(), new: row};
    }
    for (const one of old) yield {old: one};
  }

  /**
   * The rows by key. Among rows of one key the old ones come first, then the new ones, each in their file's order.
   */
  *#inOrder(): Generator<KeyedRow & {readonly key: string; readonly isNew: boolean}> {
    this.#db.exec('CREATE INDEX by_key ON waiting (key, is_new, number)');
    const page = this.#db.query(
      ['key', 'is_new', 'number', 'cells'],
      `FROM waiting WHERE (key, is_new, number) > (?, ?, ?) ORDER BY key, is_new, number LIMIT ${READ_AT_ONCE}`,
    );
    for (let last: [string, number, number] = ['', -1, 0]; ; ) {
      const rows = page.all(...last);
      for (const {key, is_new: isNew, number, cells} of rows) {
        last = [String(key), Number(isNew), Number(number)];
        yield {
          key: last[0],
          isNew: last[1] === 1,
          number: last[2],
          cells: JSON.parse(String(cells)) as string[],
        };
      }
      if (rows.length < READ_AT_ONCE) return;
    }
  }

  close(): void {
    this.#db.close();
  }
}
