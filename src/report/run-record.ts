import {basename} from 'node:path';
import {z} from 'zod';
import {type LookupCounts, priceSchema, type Summary, summarySchema} from './summary.ts';

const time = z.iso.datetime();
const whole = z.int().min(0);
const spending = z.object({calls: whole, spent: z.number(), maybe_spent: z.number()});

/** The `reason` in the history of a run under way, and of a killed one. */
export const UNFINISHED_REASON = 'unfinished';

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
    ([name, own]) => [name, {calls: lookups[name]?.calls ?? 0, ...own}] as const,
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
    hit_rate: distinct === 0 ? null : Math.round((known / distinct) * 1e6) / 1e6,
    store_trouble: typeof store?.trouble === 'string',
    drift: summary.drift.map(({what}) => what),
  };
}

/** The account that paid, as in account files. */
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

/** Adds up these counts over all operations. */
export function lookupTotal({lookups}: Summary, ...names: (keyof LookupCounts)[]): number {
  const own = Object.values(lookups).flatMap(counts => names.map(name => counts[name]));
  return own.reduce((sum, count) => sum + count, 0);
}

/** The credits that a run saved. What conditions saved is a part of `prefilter`. */
export function savedTotal({saved}: Summary['credits']): number {
  return saved.dedupe + saved.store + saved.prefilter;
}
