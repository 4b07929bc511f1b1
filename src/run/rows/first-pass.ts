import type {InputRecord} from '../../input/row.ts';
import {openRecordSource, type RecordSource} from '../../input/source.ts';
import {createLookupPricer} from '../../job/settings/cost.ts';
import {isUsable} from '../../ledger/answers/validity.ts';
import {CreditTurns, lastAsked} from '../../ledger/run/budget.ts';
import type {LookupOptions, ValueTurns} from '../../lookup/call.ts';
import type {ListFacts} from '../../score/list-facts.ts';
import {CallCount} from '../counts/call-count.ts';
import {pipeSettings, type RunIo, runPhase} from '../io.ts';
import type {Layout} from '../layout/layout.ts';
import type {RunContext} from '../stop.ts';

export async function openInput({job, io, stopper}: RunContext): Promise<RecordSource> {
  const {settings, inputs: paths, fromFile} = job;
  return (
    io.program?.source ??
    (await openRecordSource({...settings, paths, decides: !fromFile, ...pipeSettings(io, stopper)}))
  );
}

const COUNTED_NOT =
  'The list comes only once, so it was not counted who shares a mailbox: rules that read shared.… do not hold. To count it, give a file or an array.';

/**
 * Reads the whole list once before the first call, if rules read facts of it, or if only some of its values have their
 * turn (`count`). Returns these.
 */
export async function countList(
  run: RunContext,
  {source, layout: {facts}}: {readonly source: RecordSource; readonly layout: Layout},
  count?: TurnCount,
): Promise<ValueTurns | undefined> {
  const {job, io, state, stopper} = run;
  const uncounted = facts?.isCurrent() === false ? facts : undefined;
  if (source.isOnce && uncounted !== undefined) io.warn(COUNTED_NOT);
  if (source.isOnce || (uncounted ?? count) === undefined) return undefined;
  const list = io.program?.list ?? (await openInput(run));
  if (uncounted !== undefined)
    uncounted.directory = state.temporary === undefined ? state.directory : undefined;
  const {limit} = job.settings;
  const caller = {...io, isWanted: () => stopper.reason === undefined};
  try {
    await readWholeList(list, {limit, facts: uncounted}, caller, count?.see);
    return count?.share();
  } finally {
    count?.close();
    await list.close();
  }
}

/**
 * Reads a whole list before the first call, and counts the facts that rules read of it. `see` counts what else `plan`
 * and the question about the cost need. Reading ends once the caller does not want the counts; they are incomplete then.
 */
export async function readWholeList(
  source: RecordSource,
  {limit, facts}: {readonly limit: number | undefined; readonly facts: ListFacts | undefined},
  {phase, isWanted}: {readonly phase?: RunIo['phase']; readonly isWanted?: () => boolean},
  see?: (records: readonly InputRecord[]) => Promise<void>,
): Promise<void> {
  const {bytesTotal: all} = source;
  const shareRead = () => (all === undefined ? undefined : source.position.bytes / Math.max(1, all));
  const reached = () => ({share: shareRead(), rows: source.recordsRead});
  await runPhase(phase, 'counting', reached, async () => {
    for await (const records of limitRows(source, limit)) {
      if (isWanted?.() === false) return;
      await see?.(records);
      for (const record of records) if (record.type !== 'reject') facts?.add(record);
    }
    facts?.count(() => !source.isChanged);
  });
}

/** Yields the source's batches up to the record with the number `limit`. Reads no batch after that. */
export async function* limitRows(
  source: RecordSource,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly InputRecord[]> {
  for await (const records of source.batches()) {
    const isLast = (records.at(-1)?.record ?? 0) >= limit;
    yield isLast ? records.filter(({record}) => record <= limit) : records;
    if (isLast) return;
  }
}

/** A pass over the list that finds out which of its values have their turn. */
interface TurnCount {
  readonly see: (records: readonly InputRecord[]) => Promise<void>;
  readonly share: () => ValueTurns;
  readonly close: () => void;
}

/** Undefined if all values have their turn, in the order of the list: no run has asked for any, or credits have no limit. */
export function countTurns(
  {job}: RunContext,
  {targets, planRow}: Layout['mapping'],
  {ledger, store}: Pick<LookupOptions, 'ledger' | 'store'>,
): TurnCount | undefined {
  if (
    !job.settings.publishOn.includes('budget') ||
    !Number.isFinite(ledger.budget.left()) ||
    !store.hasAskedTimes()
  )
    return undefined;
  const turns: ValueTurns = {fresh: new CreditTurns(), renewals: new CreditTurns()};
  const costOf = createLookupPricer(job);
  const calls = new CallCount(store, costOf, (lookups, stored) => {
    const keys = lookups.map(({key}) => key);
    const [known, askedAt] = [ledger.find(keys), store.askedAt(keys)];
    for (const lookup of lookups) {
      const entry = known.get(lookup.key);
      if (entry?.outcome !== undefined) continue;
      const kind = isUsable(stored?.get(lookup.key)) ? turns.renewals : turns.fresh;
      kind.add(lastAsked(entry, askedAt.get(lookup.key)), costOf(lookup));
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
