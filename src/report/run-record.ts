import {basename} from 'node:path';
import {z} from 'zod';
import {type LookupCounts, priceSchema, type Summary, summarySchema, time, whole} from './summary.ts';

const spending = z.object({calls: whole, spent: z.number(), maybe_spent: z.number()});

/** The `reason` in the history of a run under way, and of a killed one. */
export const UNFINISHED_REASON = 'unfinished';
/** The `reason` of a run whose only lack is that runs of earlier days are unfinished. */
export const UNFINISHED_DAYS = 'unfinished_days';

/** A run, as `runs` shows it: made of its summary in the history. */
export const runRecordSchema = summarySchema
  .pick({run_id: true, started_at: true, job: true, status: true})
  .extend({
    ended_at: time.describe('For a run that is under way, or was killed: the time of its last minute.'),
    list: z.string().nullable().describe('Name of the first input, without its directory.'),
    account: z.object({endpoint: z.string(), label: z.string()}),
    price: priceSchema.optional().describe('Price of a credit at that time, if the account has one.'),
    reason: z
      .string()
      .describe(`Reason as in the summary; ${UNFINISHED_REASON} for a run that is under way, or was killed.`),
    exit_code: whole.nullable().describe(`Null if the reason is ${UNFINISHED_REASON}.`),
    rows: whole,
    calls: whole,
    credits: z.object({
      spent: z.number(),
      maybe_spent: z.number(),
      by_operation: z.record(z.string(), spending),
    }),
    saved: z.number().min(0),
    hit_rate: z.number().min(0).max(1).nullable().describe('Share of distinct values with a stored answer.'),
    store_trouble: z.boolean().describe('True if the answer store could not be used.'),
    drift: z.array(z.string()).describe('Names of the figures that jumped against the last runs.'),
  });

export type RunRecord = z.output<typeof runRecordSchema>;

export function makeRunRecord(summary: Summary): RunRecord {
  const {run_id, started_at, job, status, reason, rows, lookups, calls, credits, store} = summary;
  const distinct = lookupTotal(summary, 'distinct');
  const known = lookupTotal(summary, 'from_store');
  const {spent, maybe_spent, account} = credits;
  const byOperation = Object.entries(credits.by_operation).map(
    ([name, paid]) => [name, {calls: lookups[name]?.calls ?? 0, ...paid}] as const,
  );
  const [list = ''] = summary.input.paths;
  return {
    run_id,
    started_at,
    ended_at: summary.finished_at,
    job,
    list: list === '-' ? null : basename(list) || null,
    account: accountOfSummary(summary),
    ...(account.price && {price: account.price}),
    status,
    reason,
    exit_code: reason === UNFINISHED_REASON ? null : summary.exit_code,
    rows: rows.written,
    calls: calls.total,
    credits: {spent, maybe_spent, by_operation: Object.fromEntries(byOperation)},
    saved: roundCredits(savedTotal(credits)),
    hit_rate: distinct === 0 ? null : roundQuotient(known / distinct),
    store_trouble: typeof store?.trouble === 'string',
    drift: summary.drift.map(({what}) => what),
  };
}

export function accountOfSummary({endpoint, credits}: Summary): RunRecord['account'] {
  return {
    endpoint: endpoint.kind === 'embedded' ? 'embedded' : (endpoint.base_url ?? ''),
    label: credits.account.label,
  };
}

/** The summary for the history, with only the file name of each path. */
export function stripDirectories(summary: Summary): Summary {
  const {input, output, rejects} = summary;
  return {
    ...summary,
    input: {...input, paths: input.paths.map(path => basename(path))},
    output: {...output, path: basename(output.path)},
    rejects: rejects && {...rejects, path: rejects.path && basename(rejects.path)},
  };
}

/** Rounds a sum of credits to three decimals, as many as credits have. */
export function roundCredits(credits: number): number {
  return Math.round(credits * 1_000) / 1_000;
}

/** Rounds to six decimals, which removes the floating-point tail of a quotient. */
export function roundQuotient(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

export function lookupTotal({lookups}: Summary, ...names: (keyof LookupCounts)[]): number {
  const counted = Object.values(lookups).flatMap(counts => names.map(name => counts[name]));
  return counted.reduce((sum, count) => sum + count, 0);
}

/** The credits that a run saved. What conditions saved is a part of `prefilter`. */
export function savedTotal({saved}: Summary['credits']): number {
  return saved.dedupe + saved.store + saved.prefilter;
}

export type Grouping = 'day' | 'job' | 'operation';

const DAY_MS = 86_400_000;
const NOTHING = {
  ...{runs: 0, calls: 0, spent: 0},
  /** Credits that may have been charged without a usable answer. */
  maybe_spent: 0,
  /** Money spent, by currency, of runs whose account has a price. */
  money: {} as Readonly<Record<string, number>>,
};
type Spent = typeof NOTHING;

/** The object that `spend --json` writes. */
export type Spend = ReturnType<typeof sumSpending>;

/** Sums up runs, which are in the order of their ends: by every day from the first on, or the highest sum first. */
export function sumSpending(records: readonly RunRecord[], since: string, by: Grouping) {
  const sums = new Map(by === 'day' ? daysOf(records).map(day => [day, NOTHING]) : []);
  for (const record of records)
    for (const [name, part] of partsOf(record, by)) sums.set(name, sumOf(sums.get(name) ?? NOTHING, part));
  /** `name`: by `day` the day (UTC), by `job` the job's name, or else the list's, by `operation` its name. */
  const groups = [...sums].map(([name, sum]) => ({name, ...sum}));
  if (by !== 'day') groups.sort((a, b) => b.spent + b.maybe_spent - a.spent - a.maybe_spent);
  return {since, by, groups, total: records.map(record => spentBy(record)).reduce(sumOf, NOTHING)};
}

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
      return Object.entries(record.credits.by_operation).map(([name, part]) => [name, spentBy(record, part)]);
    default:
      return by satisfies never;
  }
}

/** Adds up two sums. Rounds credits and money, since binary fractions are inexact. */
function sumOf(sum: Spent, part: Spent): Spent {
  const money = {...sum.money};
  for (const [currency, amount] of Object.entries(part.money))
    money[currency] = roundQuotient((money[currency] ?? 0) + amount);
  return {
    runs: sum.runs + part.runs,
    calls: sum.calls + part.calls,
    spent: roundCredits(sum.spent + part.spent),
    maybe_spent: roundCredits(sum.maybe_spent + part.maybe_spent),
    money,
  };
}

function daysOf(records: readonly RunRecord[]): string[] {
  const last = Date.parse(records.at(-1)?.ended_at ?? '');
  const days: string[] = [];
  for (let day = Date.parse(records[0]?.ended_at.slice(0, 10) ?? ''); day <= last; day += DAY_MS)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}
