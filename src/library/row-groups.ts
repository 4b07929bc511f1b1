import {setImmediate as nextTurn} from 'node:timers/promises';
import {UsageError} from '../errors.ts';
import type {Stopper} from '../run/stop.ts';

/**
 * A program's rows in groups. A list gives as many rows as one turn of the event loop can take, at most 256.
 * An async source gives one row at a time.
 */
export interface RowGroups {
  /** Limits the time for rows in one turn of the event loop. The consumer of results uses the same object. */
  readonly turns: Turns;
  /**
   * Returns the next rows; undefined after the last.
   *
   * @throws the source's error, but only in a call after all rows before the error were returned.
   */
  next(): Promise<readonly unknown[] | undefined>;
  /** Releases the source of the rows, even while `next` waits for it. */
  close(): void;
}

const AT_ONCE = 256;

/** @throws {UsageError} if a program without types gives something else than rows, such as a promise of them. */
export function rowGroups(rows: Iterable<unknown> | AsyncIterable<unknown>): RowGroups {
  refuseOthers(rows);
  const turns = new Turns();
  return Symbol.asyncIterator in rows ? oneByOne(rows, turns) : byGroups(rows, turns);
}

function refuseOthers(rows: unknown): void {
  if (typeof rows === 'object' && rows !== null) {
    if (Symbol.iterator in rows || Symbol.asyncIterator in rows) return;
    const hint =
      'then' in rows ? ': await it first' : Array.isArray(Object.values(rows)[0]) ? ': pass its list' : '';
    const what = 'then' in rows ? 'a promise' : 'an object';
    throw new UsageError(
      'settings',
      `rows: expected an array or another iterable of objects, found ${what}${hint}.`,
    );
  }
  const what = rows === null ? 'null' : typeof rows;
  throw new UsageError('settings', `rows: expected an array or another iterable of objects, found ${what}.`);
}

function oneByOne(rows: AsyncIterable<unknown>, turns: Turns): RowGroups {
  const iterator = rows[Symbol.asyncIterator]();
  let ended = false;
  return {
    turns,
    async next() {
      if (turns.isOver) await turns.next();
      try {
        const {done, value} = ended ? {done: true, value: undefined} : await iterator.next();
        if (done !== true) return [value];
        ended = true;
        return undefined;
      } catch (error) {
        ended = true;
        throw error;
      }
    },
    close() {
      if (ended) return;
      ended = true;
      release(iterator);
    },
  };
}

function byGroups(rows: Iterable<unknown>, turns: Turns): RowGroups {
  const iterator = rows[Symbol.iterator]();
  let ended = false;
  let failed: {readonly error: unknown} | undefined;
  return {
    turns,
    async next() {
      if (turns.isOver) await turns.next();
      const group: unknown[] = [];
      while (!ended && group.length < AT_ONCE && (group.length === 0 || !turns.isOver)) {
        try {
          const {done, value} = iterator.next();
          if (done === true) ended = true;
          else group.push(value);
        } catch (error) {
          ended = true;
          failed = {error};
        }
      }
      if (group.length > 0) return group;
      if (failed !== undefined) throw failed.error;
      return undefined;
    },
    close() {
      if (ended) return;
      ended = true;
      release(iterator);
    },
  };
}

/** Does not wait for the iterator's end, which may never come. Its errors no longer matter. */
function release(iterator: Iterator<unknown> | AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(() => iterator.return?.())
    .catch(() => {});
}

/**
 * Reads groups until it has at least `count` rows, the rows end, or `stopper` stops. `first` has the rows
 * that were read. `all` delivers these rows again, then the rest.
 */
export async function readAhead(
  groups: RowGroups,
  count: number,
  stopper: Stopper,
): Promise<{readonly first: readonly unknown[]; readonly all: RowGroups}> {
  const first: unknown[] = [];
  let failed: {readonly error: unknown} | undefined;
  try {
    while (first.length < count && stopper.reason === undefined) {
      const group = await stopper.unlessStopped(groups.next());
      if (group === undefined) break;
      first.push(...group);
    }
  } catch (error) {
    failed = {error};
  }
  let isBegun = false;
  const next = async () => {
    if (!isBegun && first.length > 0) {
      isBegun = true;
      return first;
    }
    if (failed !== undefined) throw failed.error;
    return groups.next();
  };
  return {first, all: {turns: groups.turns, next, close: () => groups.close()}};
}

/** A turn takes rows for at most this time. It may last twice as long, since it also plans the rows. */
const LONGEST_TURN_MS = 10;

/**
 * Divides work into turns of the event loop. Otherwise, a list whose answers are all known would block the
 * program's timers, requests and signals until its end, since it never waits for I/O.
 */
class Turns {
  #began = performance.now();

  /** True if this turn has lasted long enough. The caller should then await {@link next}. */
  get isOver(): boolean {
    return performance.now() - this.#began >= LONGEST_TURN_MS;
  }

  /** Resolves in the next turn of the event loop. */
  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
