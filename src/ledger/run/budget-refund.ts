import type {Sqlite} from '../../disk/sqlite.ts';
import {readMeta, toChecksummedJson, writeMeta} from './ledger-file.ts';
import {type SpendingBy, totalSpending, zeroSpending} from './spending.ts';

/** A session that takes credits of shared budgets, in blocks. */
interface Holding {
  readonly holder: string;
  /** Number of its endpoint and account. */
  readonly scope: number;
  /** The run's credits, spent and maybe spent, when it began. */
  readonly before: number;
}

/** Returns unspent credits of the killed session `holder` to budgets. `spent`: the credits that it spent. */
export type GiveBack = (holder: string, spent: number) => void;

/** Gives back the unspent credits of a killed session. `spending`: the run's, by endpoint and account. */
export function refundHolding(
  db: Sqlite,
  spending: ReadonlyMap<number, SpendingBy>,
  giveBack: GiveBack,
): void {
  const last = readMeta<Holding>(db, 'holding');
  if (last === undefined) return;
  const {spent, maybeSpent} = totalSpending(spending.get(last.scope) ?? zeroSpending());
  giveBack(last.holder, spent + maybeSpent - last.before);
}

/** Saves by which the next session sees, after a kill, how much of its blocks this one spent. */
export function saveHolding(db: Sqlite, holding: Holding): void {
  writeMeta(db, 'holding', toChecksummedJson(holding));
}
