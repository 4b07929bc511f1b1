import type {Sqlite} from '../../disk/sqlite.ts';
import {nothingSpent, type SpendingBy, totalSpending} from './books.ts';
import type {Budget} from './budget.ts';
import {readMeta, toSaved, writeMeta} from './ledger-file.ts';

/** A session that takes credits of shared budgets, in blocks. */
interface SavedHolding {
  readonly holder: string;
  readonly scope: number;
  /** The run's credits, spent and maybe spent, without the session's own. */
  readonly before: number;
}

/** Keeps in the ledger's file by which the next session sees, after a kill, how much of its blocks this one spent. */
export class Holding {
  readonly #db: Sqlite;
  readonly #budget: Budget;
  readonly #scope: number;
  /** See {@link SavedHolding.before}. */
  before: number;

  /** `scope`: number of the endpoint and account. */
  constructor(db: Sqlite, budget: Budget, scope: number) {
    this.#db = db;
    this.#budget = budget;
    this.#scope = scope;
    this.before = budget.committed;
  }

  /** Gives back the unspent credits of a killed session, before this session takes its own. */
  takeOver(
    spending: ReadonlyMap<number, SpendingBy>,
    giveBack: ((holder: string, spent: number) => void) | undefined,
  ): void {
    const last = readMeta<SavedHolding>(this.#db, 'holding');
    if (last !== undefined) {
      const {spent, maybeSpent} = totalSpending(spending.get(last.scope) ?? nothingSpent());
      giveBack?.(last.holder, spent + maybeSpent - last.before);
    }
    this.save();
  }

  save(): void {
    const {holder} = this.#budget;
    if (holder === undefined) return;
    const holding: SavedHolding = {holder, scope: this.#scope, before: this.before};
    writeMeta(this.#db, 'holding', toSaved(holding));
  }
}
