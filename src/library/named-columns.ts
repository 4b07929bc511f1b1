import type {Mapping} from '../layout/mapping.ts';
import {holdsColumn, nothingIn, requireColumn} from '../lookup/targets.ts';

/** Number of rows after which a warning names the columns that no row had. */
const DOUBTFUL_AFTER = 1_000;

/**
 * Checks that rows have the columns that settings name. A later row may still have a column, so a column is
 * certainly missing only after the last row.
 */
export class ExpectedColumns {
  readonly #warn: (sentence: string) => void;
  #unseen: Mapping['mentioned'];
  readonly #keys = new Set<string>();
  #rows = 0;

  constructor({mentioned}: Mapping, warn: (sentence: string) => void) {
    this.#unseen = mentioned;
    this.#warn = warn;
  }

  see(row: unknown): void {
    if (this.#unseen.length === 0 || typeof row !== 'object' || row === null) return;
    this.#rows += 1;
    this.#unseen = this.#unseen.filter(([, column]) => !holdsColumn(row, column));
    if (this.#rows > DOUBTFUL_AFTER || this.#unseen.length === 0) return;
    for (const key of Object.keys(row)) this.#keys.add(key);
    if (this.#rows < DOUBTFUL_AFTER) return;
    for (const [setting, column] of this.#unseen) this.#warn(nothingIn(column, [...this.#keys], setting));
  }

  /** @throws {UsageError} for a column that settings name and that no row had. */
  demandSeen(): void {
    if (this.#rows === 0) return;
    for (const [setting, column] of this.#unseen) requireColumn(column, [...this.#keys], 'csv', setting);
  }
}
