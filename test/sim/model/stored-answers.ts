import type {Inode} from '../world/disk.ts';

/** What each answer store holds, as its rows were written. */
export class StoredAnswers {
  readonly #dates = new Map<Inode, Map<string, number>>();

  /** A row that was committed somewhere. */
  written(file: Inode, sql: string, values: readonly unknown[]): void {
    if (!sql.startsWith('INSERT INTO answer')) return;
    const [key, scope, , at] = values;
    const dates = this.#dates.get(file) ?? new Map<string, number>();
    this.#dates.set(file, dates);
    dates.set(`${key} ${scope}`, Number(at));
  }

  /** When an answer came that is stored there. */
  dateOf(file: Inode | undefined, key: string, scope: string): number | undefined {
    return file && this.#dates.get(file)?.get(`${key} ${scope}`);
  }

  /** As it is now: what is written later is not in it. */
  copyOf(file: Inode | undefined): ReadonlyMap<string, number> {
    return new Map(file && this.#dates.get(file));
  }
}
