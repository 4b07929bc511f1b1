import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {temporaryDirectory} from '../disk/temporary.ts';
import {openSource} from '../input/source.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {inCredits} from '../job/money.ts';
import {DistinctKeys} from '../ledger/distinct-keys.ts';
import type {Lookup} from '../ledger/lookup.ts';
import type {AnswerStore} from '../ledger/store.ts';
import {perSecond} from '../lookup/pace/rate-controller.ts';
import {isStored, type Operation, operationNames} from '../operations/table.ts';
import {type Counters, countError, listErrors} from '../run/books/counters.ts';
import {scopeOf} from '../run/identity.ts';
import {layOut, operationsOf} from '../run/layout/layout.ts';
import {costOf, type Mapping} from '../run/layout/mapping.ts';
import {notBefore, openAnswerStore} from '../run/open/answer-store.ts';
import {lanesOf} from '../run/open/lanes.ts';
import {withoutUnusable} from '../run/open/unusable-directories.ts';
import {limited} from '../run/rows/which-records.ts';

const nothingFound = {
  values: 0,
  empty: 0,
  invalid: 0,
  /** Cells of rows that are not worth asking about (`where`). */
  filtered: 0,
  distinct: 0,
  /** Distinct values that the store has a fresh answer for. */
  known: 0,
  /** Calls at most: of those, `conditional` are made only where their condition holds. */
  calls: 0,
  conditional: 0,
};
type Found = typeof nothingFound;

/** What a run would do. */
export type PlanReport = Awaited<ReturnType<typeof makePlan>>;

export interface PlanIo {
  readonly env: Env;
  readonly stdin: NodeJS.ReadableStream;
  readonly now: () => number;
  readonly warn: (sentence: string) => void;
}

/** Reads the whole input as a run would, and counts instead of asking. Nothing is sent, nothing is kept. */
export async function makePlan(given: Job, io: PlanIo) {
  const job = withoutUnusable(given, io);
  const source = await openSource({...job.settings, paths: job.inputs, stdin: io.stdin});
  const directory = temporaryDirectory();
  const store = openAnswerStore(job, scopeOf(job), notBefore(job, io.now()), io);
  const seen = new DistinctKeys(join(directory, 'keys.db'));
  const seenFirm = new DistinctKeys(join(directory, 'firm-keys.db'));
  try {
    const {mapping, format} = layOut(job, source, io.now());
    for (const doubt of mapping.doubts) io.warn(doubt);
    const found = emptyFound(mapping);
    /** The same without the lookups that are asked only where their condition holds. */
    const firm = emptyFound(mapping);
    const conditional = mapping.targets.some(({when}) => when !== undefined);
    const costOfCall = costOf(job);
    const errors: Counters['errors'] = {};
    /** In thousandths of a credit. */
    let cost = 0;
    let firmCost = 0;
    let rows = 0;
    let rejected = 0;
    for await (const {records} of limited(source, job.settings.limit)) {
      await store.ready();
      const asked: Asked[] = [];
      for (const record of records) {
        if (record.type === 'reject') {
          rejected += 1;
          countError(errors, `rejected.${record.reason}`, record.record);
        } else {
          rows += 1;
          countRow(mapping, record.record, mapping.planRow(record), found, asked, errors);
        }
      }
      const lookups = (some: readonly Asked[]) => some.map(({lookup}) => lookup);
      cost += countDistinct(seen.fresh(lookups(asked)), store, found, costOfCall);
      if (conditional)
        firmCost += countDistinct(
          seenFirm.fresh(lookups(asked.filter(({isFirm}) => isFirm))),
          store,
          firm,
          costOfCall,
        );
    }
    if (conditional)
      for (const [name, counts] of found) counts.conditional = counts.calls - (firm.get(name)?.calls ?? 0);
    return {
      format: format.kind,
      columns: mapping.targets.map(({operation, column}) => ({
        operation,
        column,
        how: howFound(mapping, operation, column),
      })),
      left_out: mapping.guesses
        .filter(guess => !mapping.targets.some(target => target.column === guess.column))
        .map(guess => ({
          operation: guess.operation,
          column: guess.column,
          how:
            guess.operation === 'country'
              ? 'countries of the phone numbers'
              : howFound(mapping, guess.operation, guess.column),
        })),
      rows,
      rejected,
      lookups: Object.fromEntries(found),
      errors: listErrors(errors),
      credits: {
        at_least: inCredits(conditional ? firmCost : cost),
        /** Where every condition holds, and no call has to be sent again. */
        all_sent_once: inCredits(cost),
        at_most: inCredits(cost * (1 + (job.settings.resend === 'always' ? job.settings.maxResends : 0))),
      },
      ...timeAt(job, found),
    };
  } finally {
    seen.close();
    seenFirm.close();
    store.close();
    await source.close();
    rmSync(directory, {recursive: true, force: true});
  }
}

/** What a row asks; firmly where no condition stands before it. */
interface Asked {
  readonly lookup: Lookup;
  readonly isFirm: boolean;
}

function emptyFound({targets}: Mapping): Map<Operation, Found> {
  return new Map(operationsOf(targets).map(name => [name, {...nothingFound}]));
}

function countRow(
  mapping: Mapping,
  row: number,
  planned: ReturnType<Mapping['planRow']>,
  found: ReadonlyMap<Operation, Found>,
  asked: Asked[],
  errors: Counters['errors'],
): void {
  for (const [index, plan] of planned.entries()) {
    const operation = mapping.targets[index]?.operation as Operation;
    const counts = found.get(operation);
    if (counts === undefined) continue;
    counts.values += 1;
    if (plan.status === 'ask')
      asked.push({lookup: plan.lookup, isFirm: mapping.targets[index]?.when === undefined});
    else if (plan.status === 'skipped') counts.filtered += 1;
    else if (plan.status === 'empty' || plan.status === 'invalid') counts[plan.status] += 1;
    if (plan.status === 'invalid') countError(errors, `${operation}.${plan.error}`, row);
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns what the new ones among these would cost, in thousandths of a credit. */
function countDistinct(
  fresh: readonly Lookup[],
  store: AnswerStore,
  found: ReadonlyMap<Operation, Found>,
  costOfCall: (lookup: Lookup) => number,
): number {
  let cost = 0;
  for (const operation of operationNames) {
    const some = fresh.filter(lookup => lookup.operation === operation);
    const counts = found.get(operation);
    if (some.length === 0 || counts === undefined) continue;
    const keys = some.map(lookup => lookup.key);
    const known = isStored(operation) ? (store.find(keys, operation) ?? NONE) : NONE;
    counts.distinct += some.length;
    counts.known += known.size;
    counts.calls += some.length - known.size;
    for (const lookup of some) if (!known.has(lookup.key)) cost += costOfCall(lookup);
  }
  return cost;
}

function howFound({guesses}: Mapping, operation: string, column: string): string {
  const guess = guesses.find(candidate => candidate.column === column && candidate.operation === operation);
  if (guess === undefined) return 'named';
  const share =
    guess.share === undefined
      ? 'no values in the sample'
      : `${Math.round(guess.share * 100)}% of its values fit`;
  return `${guess.confidence}: ${guess.byHeader ? 'by its header, ' : ''}${share}`;
}

function timeAt(
  job: Job,
  found: ReadonlyMap<Operation, Found>,
): {time_ms: number | null; rate_per_second: number | null} {
  const lanes = lanesOf(job, [...found.keys()]);
  const times = lanes.map(
    ({operations, rate}) =>
      operations.reduce((sum, name) => sum + (found.get(name)?.calls ?? 0), 0) / perSecond(rate),
  );
  const rates = lanes.map(({rate}) => perSecond(rate)).filter(rate => Number.isFinite(rate));
  if (rates.length === 0) return {time_ms: null, rate_per_second: null};
  return {
    time_ms: Math.round(Math.max(...times) * 1_000),
    rate_per_second: rates.reduce((sum, rate) => sum + rate, 0),
  };
}
