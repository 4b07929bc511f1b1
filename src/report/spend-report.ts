import {type RunRecord, roundCredits} from './run-record.ts';

export type Grouping = 'day' | 'job' | 'operation';

interface Spent {
  readonly runs: number;
  readonly calls: number;
  readonly spent: number;
  /** Credits that may have been charged without a usable answer. */
  readonly maybe_spent: number;
  /** Money spent, by currency, of runs whose account has a price. */
  readonly money: Readonly<Record<string, number>>;
}

/** The object that `spend --json` writes. */
export interface Spend {
  readonly since: string;
  readonly by: Grouping;
  /** `name`: by `day` the day (UTC), by `job` the job's name, or else the list's, by `operation` its name. */
  readonly groups: readonly (Spent & {readonly name: string})[];
  readonly total: Spent;
}

const DAY_MS = 86_400_000;
const NOTHING: Spent = {runs: 0, calls: 0, spent: 0, maybe_spent: 0, money: {}};

/**
 * Sums up the credits of runs, in the order of their ends, by day (every day from the first to the last), or by job or
 * operation (the highest sum first).
 */
export function sumSpending(records: readonly RunRecord[], since: string, by: Grouping): Spend {
  const sums = new Map(by === 'day' ? daysOf(records).map(day => [day, NOTHING]) : []);
  for (const record of records)
    for (const [name, part] of partsOf(record, by)) sums.set(name, sumOf(sums.get(name) ?? NOTHING, part));
  const groups = [...sums].map(([name, sum]) => ({name, ...sum}));
  if (by !== 'day') groups.sort((a, b) => b.spent + b.maybe_spent - a.spent - a.maybe_spent);
  return {since, by, groups, total: records.map(record => spentBy(record)).reduce(sumOf, NOTHING)};
}

/** The spending of a run: all of it, or the `part` of an operation. */
function spentBy(
  {calls, credits, price}: RunRecord,
  part: Pick<Spent, 'calls' | 'spent' | 'maybe_spent'> = {calls, ...credits},
): Spent {
  const {spent, maybe_spent} = part;
  const money = price === undefined ? {} : {[price.currency]: spent * price.per_credit};
  return {runs: 1, calls: part.calls, spent, maybe_spent, money};
}

function partsOf(record: RunRecord, by: Grouping): (readonly [group: string, part: Spent])[] {
  switch (by) {
    case 'day':
      return [[record.ended_at.slice(0, 10), spentBy(record)]];
    case 'job':
      return [[record.job ?? record.list ?? '-', spentBy(record)]];
    case 'operation':
      return Object.entries(record.credits.by_operation).map(([name, own]) => [name, spentBy(record, own)]);
    default:
      return by satisfies never;
  }
}

/** Adds up two sums. Rounds credits and money, since binary fractions are inexact. */
function sumOf(one: Spent, other: Spent): Spent {
  const money = {...one.money};
  for (const [currency, amount] of Object.entries(other.money))
    money[currency] = Math.round(((money[currency] ?? 0) + amount) * 1e6) / 1e6;
  return {
    runs: one.runs + other.runs,
    calls: one.calls + other.calls,
    spent: roundCredits(one.spent + other.spent),
    maybe_spent: roundCredits(one.maybe_spent + other.maybe_spent),
    money,
  };
}

/** All days from the first to the last. */
function daysOf(records: readonly RunRecord[]): string[] {
  const last = Date.parse(records.at(-1)?.ended_at ?? '');
  const days: string[] = [];
  for (let day = Date.parse(records[0]?.ended_at.slice(0, 10) ?? ''); day <= last; day += DAY_MS)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}
