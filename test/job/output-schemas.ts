import {z} from 'zod';
import {intelligenceNames, operationNames, operations} from '../../src/operations/table.ts';
import {scoreChangesSchema, scoreExplanationSchema} from '../../src/report/changes.ts';
import {runRecordSchema, type Spend} from '../../src/report/run-record.ts';
import {priceSchema, summarySchema} from '../../src/report/summary.ts';

/**
 * Outputs of commands with `--json`: `docs/NAME.schema.json` has their schemas (`npm run schema`). They only gain
 * fields.
 */

const whole = z.int().min(0);
const credits = z.number().min(0);
const time = z.iso.datetime();

const listOf = <T extends z.core.$ZodLooseShape>(shape: T) => z.array(z.object(shape));

const plannedColumn = {operation: z.string(), column: z.string(), how: z.string()};
const faults = listOf({code: z.string(), count: whole, rows: z.array(whole)});

const planSchema = z.object({
  format: z.enum(['csv', 'ndjson']),
  columns: listOf(plannedColumn).describe(
    'Columns that a run uses, also for countries and for values sent with a token.',
  ),
  left_out: listOf(plannedColumn).describe('Columns that look like values to look up, but are left out.'),
  rows: whole,
  rejected: whole.describe("Records that can't be read."),
  lookups: z.partialRecord(
    z.enum(operationNames),
    z.object({
      values: whole,
      empty: whole,
      invalid: whole,
      repaired: whole.describe('Cells that a run would repair before the lookup.'),
      filtered: whole.describe('Cells of rows that are left out (where).'),
      distinct: whole,
      known: whole.describe('Distinct values with a fresh stored answer.'),
      calls: whole,
      conditional: whole.describe('Calls that depend on a condition (when).'),
    }),
  ),
  errors: faults,
  repairs: faults,
  credits: z.object({
    at_least: credits,
    all_sent_once: credits.describe('Credits if all conditions are true and no call is sent again.'),
    at_most: credits,
  }),
  shared: z
    .record(z.string(), z.object({rows: whole, largest: z.array(whole)}))
    .describe(
      'Facts of the whole list that rules read: rows with a shared value, and the ten highest counts.',
    ),
  price: priceSchema.optional().describe('Price of a credit, from the account file.'),
  account_left: credits.optional().describe("Credits that the account's limits leave, today or this month."),
  last: z
    .object({ended_at: time, rows: whole, calls: whole, credits, hit_rate: z.number().nullable()})
    .nullable()
    .describe('Cost of the same list the last time it was complete, if known.'),
  time_ms: whole.nullable().describe('Time at the rate limit. Null without one.'),
  rate_per_second: z.number().nullable(),
});

const runsSchema = z.object({since: time, runs: z.array(runRecordSchema)});

const doctorSchema = z.object({
  checks: listOf({
    name: z.string(),
    state: z.enum(['ok', 'warning', 'failed', 'skipped']).describe('Skipped: not tried.'),
    detail: z.string(),
    exitCode: whole.optional().describe('Exit code of a run with this failure.'),
  }),
});

const storeStatsSchema = z.object({
  directory: z.string(),
  bytes: whole.describe('Size of the file; 0 if it does not exist.'),
  answers: listOf({operation: z.string(), answers: whole, oldest: time, newest: time}),
});

const member = {
  id: z.string(),
  host: z.string(),
  pid: whole,
  version: z.string().describe('Version of bulk-enrich.'),
  startedAt: z.number().describe('Milliseconds since the epoch.'),
};

const fleetStatusSchema = z.object({
  protocol: z
    .string()
    .optional()
    .describe('Protocol and endpoint. Missing if there is no worker and no run.'),
  workers: listOf({
    ...{...member, concurrency: whole, inFlight: whole, chunks: whole, clockAheadMs: z.number()},
    calls: z.record(z.string(), whole).describe('Calls by outcome.'),
  }),
  unreadable: z.array(z.string()).describe('Ids of members that can’t be read, which are skipped.'),
  runs: listOf({
    ...{...member, job: z.string().optional(), runId: z.string(), rate: z.string(), rows: whole},
    out: whole.describe('Values that workers have or wait for.'),
    ...{calls: whole, spent: credits, maybeSpent: credits, limit: credits.nullable()},
  }),
  chunks: z.object({waiting: whole, active: whole}),
  closedMs: z.number().describe('Milliseconds until calls are sent again, after throttling.'),
});

const spent = {
  calls: whole,
  spent: z.number(),
  maybe_spent: z.number().describe('Credits that may have been charged without a usable answer.'),
  money: z.record(z.string(), z.number()).describe('Money spent by currency, if the account has a price.'),
};

const spendSchema = z.object({
  since: time,
  by: z.enum(['day', 'job', 'operation']),
  groups: listOf({
    name: z.string().describe('The day (UTC), the job (or list, if it has no name), or the operation.'),
    ...{runs: whole, ...spent},
  }),
  total: z.object({runs: whole, ...spent}),
}) satisfies z.ZodType<Spend>;

const lookupSchema = z.union(intelligenceNames.map(name => operations[name].data));

/** By the name of the file, with a title. */
export const outputSchemas = {
  summary: ['The summary of a run of bulk-enrich', summarySchema],
  plan: ['What bulk-enrich plan --json writes', planSchema],
  explain: ['A line of what bulk-enrich explain --json writes', scoreExplanationSchema],
  diff: ['What bulk-enrich diff --json and score --json write', scoreChangesSchema],
  runs: ['What bulk-enrich runs --json writes', runsSchema],
  spend: ['What bulk-enrich spend --json writes', spendSchema],
  doctor: ['What bulk-enrich doctor --json writes', doctorSchema],
  'store-stats': ['What bulk-enrich store stats --json writes', storeStatsSchema],
  'fleet-status': ['What bulk-enrich fleet status --json writes', fleetStatusSchema],
  lookup: ['What bulk-enrich lookup writes', lookupSchema],
} as const;
