import type {Row} from '../world/contents.ts';
import type {Inode} from '../world/disk.ts';
import type {Moment, Process} from '../world/process.ts';

/** How a store is kept from growing. */
export interface Upkeep {
  /** The ages that processes have noted in it, and when. */
  readonly uses: {readonly process: Process | undefined; readonly noted: Moment}[];
  /** When processes have noted the date in it. */
  readonly dated: Moment[];
  /** Answers that went, and when they had come, in milliseconds since the epoch. */
  readonly removals: {readonly cameAt: number; readonly removed: Moment}[];
}

interface Store extends Upkeep {
  /** When answers came, by key and scope. */
  readonly dates: Map<string, number>;
}

/** The content of each answer store, as its rows were written and removed. */
export class StoredAnswers {
  readonly #stores = new Map<Inode, Store>();

  /** A row that was committed somewhere. */
  written(file: Inode, sql: string, values: readonly unknown[]): void {
    if (!sql.startsWith('INSERT INTO answer')) return;
    const [key, scope, , at, , , agreed, notAfter] = values;
    const {dates} = this.#storeIn(file);
    const name = `${key} ${scope}`;
    const before = dates.get(name);
    // The newest stays, but for one of a day to come on which no runs have agreed.
    const latest = Math.max(Number(agreed), Number(notAfter));
    if (before !== undefined && before > Number(at) && before <= latest) return;
    dates.set(name, Number(at));
  }

  used(file: Inode, process: Process | undefined, noted: Moment): void {
    this.#storeIn(file).uses.push({process, noted});
  }

  dated(file: Inode, noted: Moment): void {
    this.#storeIn(file).dated.push(noted);
  }

  /** All but these rows are gone. */
  removed(file: Inode, left: readonly Row[], removed: Moment): void {
    const {dates, removals} = this.#storeIn(file);
    const names = new Set(left.map(({key, scope}) => `${key} ${scope}`));
    for (const [name, cameAt] of dates) {
      if (names.has(name)) continue;
      dates.delete(name);
      removals.push({cameAt, removed});
    }
  }

  /** As it is now: what is written later is not in it. */
  copyOf(file: Inode | undefined): ReadonlyMap<string, number> {
    return new Map(file && this.#stores.get(file)?.dates);
  }

  upkeepOf(file: Inode | undefined): Upkeep {
    return file === undefined ? {uses: [], dated: [], removals: []} : this.#storeIn(file);
  }

  #storeIn(file: Inode): Store {
    const store = this.#stores.get(file) ?? {dates: new Map(), uses: [], dated: [], removals: []};
    this.#stores.set(file, store);
    return store;
  }
}
