import {basename} from 'node:path';
import {z} from 'zod';
import type {Summary} from './summary.ts';

const time = z.iso.datetime();
const whole = z.int().min(0);
const spending = z.object({calls: whole, spent: z.number(), maybe_spent: z.number()});

/**
 * One line of the history: how one command ended that had a summary. A run that was cut off and went on has a line for
 * each time; their calls and credits are those that came since the line before, so that all lines add up.
 */
export const runRecordSchema = z.object({
  run_id: z.string().describe('The same for all lines of one run.'),
  started_at: time,
  ended_at: time,
  job: z.string().nullable(),
  list: z.string().nullable().describe("The first input's name, without its directory."),
  account: z.object({endpoint: z.string(), label: z.string()}),
  status: z.enum(['completed', 'partial', 'interrupted', 'failed']),
  reason: z.string(),
  exit_code: whole,
  rows: whole.describe('Rows written so far, by the whole run.'),
  calls: whole,
  credits: z.object({
    spent: z.number(),
    maybe_spent: z.number().describe('Less than 0 where what was in doubt is not any more.'),
    by_operation: z.record(z.string(), spending),
  }),
  saved: z.number().min(0).describe('Credits that the whole run did not spend, as it knew better.'),
  hit_rate: z.number().min(0).max(1).nullable().describe('Share of the distinct values that the store knew.'),
  store_trouble: z.boolean().describe('Whether the answer store could not be used.'),
  drift: z.array(z.string()).describe('What jumped against the last runs.'),
});

export type RunRecord = z.output<typeof runRecordSchema>;

/** The line of a run, by its summary. */
export function recordOf(summary: Summary, endpoint: string): RunRecord {
  const {rows, lookups, credits, session, store} = summary;
  const operations = Object.entries(session.by_operation);
  const sum = (of: (each: (typeof operations)[number][1]) => number) =>
    exact(operations.reduce((total, [, each]) => total + of(each), 0));
  const values = Object.values(lookups);
  const distinct = values.reduce((total, each) => total + each.distinct, 0);
  const known = values.reduce((total, each) => total + each.from_cache, 0);
  const {dedupe, cache, prefilter} = credits.saved;
  return {
    run_id: summary.run_id,
    started_at: summary.started_at,
    ended_at: summary.finished_at,
    job: summary.job,
    list: listOf(summary),
    account: {endpoint, label: credits.account.label},
    status: summary.status,
    reason: summary.reason,
    exit_code: summary.exit_code,
    rows: rows.written,
    calls: sum(each => each.calls),
    credits: {
      spent: sum(each => each.spent),
      maybe_spent: sum(each => each.maybe_spent),
      by_operation: session.by_operation,
    },
    saved: exact(dedupe + cache + prefilter),
    hit_rate: distinct === 0 ? null : Math.round((known / distinct) * 1e6) / 1e6,
    store_trouble: typeof store?.trouble === 'string',
    drift: summary.drift.map(({what}) => what),
  };
}

function listOf({input: {paths}}: Summary): string | null {
  const [first] = paths;
  return first === undefined || first === '-' ? null : basename(first);
}

/** The summary as it is kept: of its paths, only the last names. */
export function withoutPaths(summary: Summary): Summary {
  const {input, output, rejects} = summary;
  return {
    ...summary,
    input: {...input, paths: input.paths.map(path => basename(path))},
    output: {...output, path: basename(output.path)},
    rejects: rejects && {...rejects, path: rejects.path && basename(rejects.path)},
  };
}

/** Credits have three decimals; sums of them have no more. */
export function exact(credits: number): number {
  return Math.round(credits * 1_000) / 1_000;
}
