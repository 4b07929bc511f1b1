import type {InputRecord} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import {createLookupPricer} from '../../job/settings/cost.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import {isUsable} from '../../ledger/answers/validity.ts';
import {CreditTurns, lastAsked} from '../../ledger/run/credit-turns.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {ValueTurns} from '../../lookup/call.ts';
import {CallCount} from '../counts/call-count.ts';
import type {ColumnMapping} from '../layout/column-mapping.ts';

/** A pass over the list that finds out which of its values have their turn. */
export interface TurnCount {
  readonly see: (records: readonly InputRecord[]) => Promise<void>;
  /** Shares the run's credits among the values that were seen. */
  readonly share: () => ValueTurns;
  readonly close: () => void;
}

/** True if the job takes several nights for a list that its credits do not suffice for. */
export function takesTurns({settings}: Job): boolean {
  return settings.publishOn.includes('budget');
}

/** Undefined if all values have their turn, in the order of the list: no run has asked for any, or credits have no limit. */
export function countTurns(
  job: Job,
  {targets, planRow}: ColumnMapping,
  ledger: Ledger,
  store: AnswerStore,
): TurnCount | undefined {
  if (!takesTurns(job) || !Number.isFinite(ledger.budget.left()) || !store.hasAskedTimes()) return undefined;
  const turns: ValueTurns = {fresh: new CreditTurns(), renewals: new CreditTurns()};
  const costOf = createLookupPricer(job);
  const calls = new CallCount(store, costOf, (lookups, stored) => {
    const keys = lookups.map(({key}) => key);
    const [known, askedAt] = [ledger.find(keys), store.askedAt(keys)];
    for (const lookup of lookups) {
      const entry = known.get(lookup.key);
      if (entry?.outcome !== undefined) continue;
      const own = isUsable(stored?.get(lookup.key)) ? turns.renewals : turns.fresh;
      own.add(lastAsked(entry, askedAt.get(lookup.key)), costOf(lookup));
    }
  });
  const lookupsIn = (record: InputRecord) => {
    try {
      const cells = record.type === 'reject' ? [] : planRow(record);
      return cells.flatMap((cell, index) =>
        cell.status === 'ask' && targets[index]?.when === undefined ? [cell.lookup] : [],
      );
    } catch {
      // A getter of a program's row threw: the run reports it once it takes the row.
      return [];
    }
  };
  return {
    async see(records) {
      await store.ready();
      calls.add(records.flatMap(lookupsIn));
    },
    share() {
      const left = turns.fresh.share(ledger.budget.left());
      turns.renewals.share(Math.min(left, ledger.budget.left(true)));
      return turns;
    },
    close: () => calls.close(),
  };
}
