import type {Price} from './money.ts';
import {exact, type RunRecord} from './run-record.ts';

export type Grouping = 'day' | 'job' | 'operation';

interface Spent {
  readonly calls: number;
  readonly spent: number;
  /** Credits that may have been charged without a usable answer. */
  readonly maybe_spent: number;
  /** Money spent, by currency, of runs whose account has a price. */
  readonly money: Readonly<Record<string, number>>;
}

export interface SpendGroup extends Spent {
  /** The day (UTC), the job (or the list, if the job has no name), or the operation. */
  readonly name: string;
  readonly runs: number;
}

/** The object that `spend --json` writes. */
export interface Spend {
  readonly since: string;
  readonly by: Grouping;
  readonly groups: readonly SpendGroup[];
  readonly total: Spent & {readonly runs: number};
}

const DAY_MS = 86_400_000;

/**
 * Sums up credits by day (every day from the first to the last), or by job or operation (the highest sum first).
 */
export function spendOf(records: readonly RunRecord[], since: string, by: Grouping): Spend {
  const groups = new Map<
    string,
    {group: {-readonly [Key in keyof SpendGroup]: SpendGroup[Key]}; runs: Set<string>}
  >();
  const groupOf = (name: string) => {
    const known = groups.get(name) ?? {
      group: {name, runs: 0, calls: 0, spent: 0, maybe_spent: 0, money: {}},
      runs: new Set(),
    };
    groups.set(name, known);
    return known;
  };
  if (by === 'day') for (const day of daysOf(records)) groupOf(day);
  for (const record of records) {
    for (const [name, {calls, spent, maybe_spent}] of partsOf(record, by)) {
      const {group, runs} = groupOf(name);
      runs.add(record.run_id);
      group.calls += calls;
      group.spent = exact(group.spent + spent);
      group.maybe_spent = exact(group.maybe_spent + maybe_spent);
      if (record.price !== undefined) group.money = withMoney(group.money, spent, record.price);
    }
  }
  const all = [...groups.values()].map(({group, runs}) => ({...group, runs: runs.size}));
  if (by !== 'day') all.sort((a, b) => b.spent + b.maybe_spent - a.spent - a.maybe_spent);
  const sum = (of: 'calls' | 'spent' | 'maybe_spent') =>
    exact(all.reduce((total, group) => total + group[of], 0));
  const total = {
    runs: new Set(records.map(({run_id}) => run_id)).size,
    calls: sum('calls'),
    spent: sum('spent'),
    maybe_spent: sum('maybe_spent'),
    money: records.reduce<Spent['money']>(
      (all, {credits, price}) => (price === undefined ? all : withMoney(all, credits.spent, price)),
      {},
    ),
  };
  return {since, by, groups: all, total};
}

/** Adds the price of credits to the sum of its currency. Rounds the sum, since binary fractions are inexact. */
function withMoney(
  money: Spent['money'],
  credits: number,
  {per_credit: each, currency}: Price,
): Spent['money'] {
  const sum = (money[currency] ?? 0) + credits * each;
  return {...money, [currency]: Math.round(sum * 1e6) / 1e6};
}

function partsOf(record: RunRecord, by: Grouping): (readonly [string, Omit<Spent, 'money'>])[] {
  const {calls, credits, ended_at, job, list} = record;
  const {spent, maybe_spent, by_operation} = credits;
  switch (by) {
    case 'day':
      return [[ended_at.slice(0, 10), {calls, spent, maybe_spent}]];
    case 'job':
      return [[job ?? list ?? '-', {calls, spent, maybe_spent}]];
    case 'operation':
      return Object.entries(by_operation);
    default:
      return by satisfies never;
  }
}

/** All days from the first to the last. Sorts first: the record of a killed session is added late, out of order. */
function daysOf(records: readonly RunRecord[]): string[] {
  const ended = records.map(record => record.ended_at.slice(0, 10)).sort();
  const last = Date.parse(ended.at(-1) ?? '');
  const days: string[] = [];
  for (let day = Date.parse(ended[0] ?? ''); day <= last; day += DAY_MS)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}
