import type {Price} from './money.ts';
import {exact, type RunRecord} from './run-record.ts';

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

interface SpendGroup extends Spent {
  /** By `day`: the day (UTC). By `job`: the job's name, or else the list's. By `operation`: its name. */
  readonly name: string;
}

/** The object that `spend --json` writes. */
export interface Spend {
  readonly since: string;
  readonly by: Grouping;
  readonly groups: readonly SpendGroup[];
  readonly total: Spent;
}

const DAY_MS = 86_400_000;

/**
 * Sums up the credits of runs, in the order of their ends, by day (every day from the first to the last), or by job or operation (the highest sum first).
 */
export function spendOf(records: readonly RunRecord[], since: string, by: Grouping): Spend {
  const parts = new Map<string, Contribution[]>(by === 'day' ? daysOf(records).map(day => [day, []]) : []);
  for (const record of records)
    for (const [name, part] of partsOf(record, by)) {
      const known = parts.get(name);
      if (known === undefined) parts.set(name, [part]);
      else known.push(part);
    }
  const groups = [...parts].map(([name, own]) => ({name, ...sumOf(own)}));
  if (by !== 'day') groups.sort((a, b) => b.spent + b.maybe_spent - a.spent - a.maybe_spent);
  return {since, by, groups, total: sumOf(records.map(wholeOf))};
}

/** The part of a run's record that counts in one group: in a day, a job or an operation. */
interface Contribution {
  readonly price: RunRecord['price'];
  readonly calls: number;
  readonly spent: number;
  readonly maybe_spent: number;
}

function wholeOf({price, calls, credits: {spent, maybe_spent}}: RunRecord): Contribution {
  return {price, calls, spent, maybe_spent};
}

function partsOf(record: RunRecord, by: Grouping): (readonly [group: string, part: Contribution])[] {
  const whole = wholeOf(record);
  switch (by) {
    case 'day':
      return [[record.ended_at.slice(0, 10), whole]];
    case 'job':
      return [[record.job ?? record.list ?? '-', whole]];
    case 'operation':
      return Object.entries(record.credits.by_operation).map(([name, own]) => [name, {...whole, ...own}]);
    default:
      return by satisfies never;
  }
}

function sumOf(parts: readonly Contribution[]): Spent {
  const sum = (of: 'calls' | 'spent' | 'maybe_spent') =>
    exact(parts.reduce((total, part) => total + part[of], 0));
  const money: Record<string, number> = {};
  for (const {spent, price} of parts) if (price !== undefined) addMoney(money, spent, price);
  return {
    runs: parts.length,
    calls: sum('calls'),
    spent: sum('spent'),
    maybe_spent: sum('maybe_spent'),
    money,
  };
}

/** Adds the price of credits to the sum of its currency. Rounds the sum, since binary fractions are inexact. */
function addMoney(money: Record<string, number>, credits: number, {per_credit: each, currency}: Price): void {
  money[currency] = Math.round(((money[currency] ?? 0) + credits * each) * 1e6) / 1e6;
}

/** All days from the first to the last. */
function daysOf(records: readonly RunRecord[]): string[] {
  const last = Date.parse(records.at(-1)?.ended_at ?? '');
  const days: string[] = [];
  for (let day = Date.parse(records[0]?.ended_at.slice(0, 10) ?? ''); day <= last; day += DAY_MS)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}
