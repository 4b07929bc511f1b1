import {z} from 'zod';
import {topKinds} from '../operations/operation.ts';
import {type Operation, operationNames} from '../operations/table.ts';
import {changesSchema} from './changes.ts';
import {priceSchema} from './money.ts';

/**
 * The summary of a run, as the contract has it: its one declaration. From it come its type, `docs/summary.schema.json`
 * (`npm run schema`), the names that `fail_if` may use, and what reports read. `schema_version` 2 only gains fields.
 */

const whole = z.int().min(0);
const credits = z.number().min(0);
const spending = z.object({spent: credits, maybe_spent: credits});
const perPeriod = z.object({limit: credits, used: credits});
const share = z.number().min(0).max(1);
const time = z.iso.datetime();
const counts = z.record(z.string(), whole);

const lookup = z
  .object({
    values: whole,
    empty: whole,
    invalid: whole,
    repaired: whole.describe(
      'Of the others: cells whose wrapping was taken off before they were asked about.',
    ),
    distinct: whole.describe('Values, where the others count cells.'),
    answered: whole,
    failed: whole,
    unknown: whole,
    skipped: whole,
    from_store: whole.describe('Values that the answer store knew.'),
    stale: whole.describe('Cells whose answer is past its age, as the service could not be asked (--stale).'),
    rejected: whole.describe('Of failed: cells whose value the service rejects.'),
    refused_in_a_row: whole.describe(
      'Values of the longest streak of ten or more that were refused with nothing answered in between: that may be the account.',
    ),
    deduplicated: whole.describe('Cells that another cell had already paid for.'),
    calls: whole,
    retries: whole,
  })
  .describe('values = empty + invalid + answered + failed + unknown + skipped');

/** By code: how often, and the first rows. */
const coded = z.object({code: z.string(), count: whole, rows: z.array(whole)});

/** Which run it was, when, and over which files. */
const about = {
  schema_version: z.literal(2),
  run_id: z.string(),
  job: z.string().nullable(),
  status: z.enum(['completed', 'partial', 'interrupted', 'failed']),
  reason: z.string(),
  exit_code: whole,
  started_at: time,
  finished_at: time,
  duration_ms: z.number(),
  come_back_at: time.optional().describe('When the service asks to come back, or may be there again.'),
  endpoint: z.object({kind: z.string(), base_url: z.string().nullable()}),
  input: z.object({paths: z.array(z.string()), bytes: whole, sha256: z.string()}),
  output: z.object({path: z.string(), bytes: whole.nullable(), sha256: z.string().nullable()}),
  rejects: z.object({path: z.string().nullable(), bytes: whole, sha256: z.string()}).nullable(),
  settings_sha256: z
    .string()
    .describe('Of all that shapes the result: the same command over the same input has nothing left to do.'),
};

const rows = z.object({
  read: whole,
  written: whole,
  rejected: whole,
  ok: whole,
  with_errors: whole,
  blank_lines: whole,
  padded: whole.describe('Of those written: rows that got empty fields at their end (pad_short_rows).'),
});

const calls = z.object({
  total: whole.describe('What the service was sent.'),
  unconfirmed: whole.describe(
    'Beside them: calls under way when a session or a worker ended, which may have been made.',
  ),
  unsent: whole.describe('Attempts that provably never reached it.'),
  by_status: counts,
  by_error: counts,
  retries: whole,
  latency_ms: z.object({
    p50: z.number().nullable(),
    p95: z.number().nullable(),
    p99: z.number().nullable(),
    max: z.number().nullable(),
  }),
  unknown_fields: counts,
  wrong_types: counts,
});

const account = z
  .object({
    label: z.string(),
    per_day: perPeriod.optional(),
    per_month: perPeriod.optional(),
    price: priceSchema.optional().describe('What a credit costs, by the file of the account.'),
  })
  .describe('The account, and its limits of day and month, where it has them: used by all its runs.');

const earlier = z
  .object({
    counted: spending.describe('Counted in spent, maybe_spent and the limit.'),
    not_counted: spending.describe('Given up with a fresh budget.'),
    unknown: z.boolean().describe('Whether there was spending that nobody knows, as its ledger was damaged.'),
  })
  .describe('What attempts cost that were started over.');

const saved = z.object({
  dedupe: credits,
  store: credits,
  prefilter: credits,
  by_condition: credits.describe('Of prefilter: what the conditions of lookups (when) left out.'),
});

const store = z
  .object({
    trouble: z.string().nullable().describe('Why the answer store can not be used.'),
    not_looked_up: whole.describe('Values that were asked for without knowing whether the store has them.'),
    perhaps_paid_again: credits.describe('The credits of those.'),
    not_stored: whole.describe('Answers of this run that the next one does not know.'),
  })
  .nullable()
  .describe('What it cost that the answer store could not be used, for a while or to the end.');

const pace = z.object({
  rate_limit: z.number().nullable(),
  achieved: z.number(),
  pauses: whole,
  paused_ms: z.number(),
});

const rule = z.object({
  reason: z.string(),
  when: z.string(),
  add: z.int(),
  shadow: z.boolean().optional().describe('True for a rule that is tried out: its points are not added.'),
  description: z.string().optional(),
  owner: z.string().optional(),
  held: whole,
  undecided: whole.describe('Rows in which something that it reads was not there.'),
  wrong: whole.describe('Rows in which all was there and could not be worked with.'),
});

const risk = z.object({
  scored: whole,
  unknown: whole.describe('Rows that could not be scored, as too much was missing.'),
  low: whole,
  medium: whole,
  high: whole,
  high_rows: z.array(whole).describe('The first hundred rows of high risk, by number.'),
  mean: z.number().nullable(),
  histogram: z.array(whole).describe('Rows by score: 0 to 9, 10 to 19, …, 90 to 100.'),
  reasons: counts,
  missing: counts.describe('Rows by signal that was not there.'),
  levels: z
    .object({medium: whole, high: whole})
    .optional()
    .describe('The lowest scores of these levels; left out where no rules were read.'),
  default_rules: z.boolean().optional().describe('True if the default rules were among those scored by.'),
  rules: z.array(rule).describe("The job's own rules, with the rows by what became of each."),
  warnings: z.array(z.string()).describe("Rules that can't be meant as they stand."),
});

const top = z.object({
  counted: whole,
  missed_at_most: whole.describe('At most so many occurrences of one name may be missing from its count.'),
  names: z.array(z.object({name: z.string(), count: whole})),
});

const timeline = z
  .object({
    ms: z.array(z.number()),
    calls: z.array(whole),
    rows: z.array(whole),
    latency_p50_ms: z.array(z.number().nullable()),
    latency_p95_ms: z.array(z.number().nullable()),
    in_flight: z.array(whole).describe('Calls in flight, on average.'),
  })
  .describe('One list for each thing measured; the n-th entries belong together.');

const fieldShares = z.object({
  present: share.describe('The share of answers that had it.'),
  true: share.optional().describe('Of a flag: the share of those in which it was true.'),
});

const anyFields = z.record(z.string(), fieldShares);

const drift = z.object({
  what: z.string().describe('What jumped, such as risk.mean, risk.high, rows or ip.is_vpn.'),
  now: z.number(),
  usual: z.number().describe('The median of the runs that it was compared with.'),
  runs: whole,
});

/** The answer fields of an operation that shares are counted of. */
type FieldsOf = (operation: Operation) => readonly {readonly name: string}[];

/** Counts by these names; by any without. */
function countsBy(names: readonly string[] | undefined): typeof counts {
  return names === undefined ? counts : (z.partialRecord(z.enum(names), whole) as unknown as typeof counts);
}

/**
 * The summary of a run that looks at these operations and scores for these reasons; without `fieldsOf`, fields of any
 * name may be there, as reasons without `reasons`.
 */
export function summaryOf(
  operations: readonly Operation[],
  fieldsOf?: FieldsOf,
  reasons?: readonly string[],
) {
  const byOperation = <T extends z.ZodType>(schemaOf: (operation: Operation) => T) =>
    z.object(Object.fromEntries(operations.map(name => [name, schemaOf(name).optional()]))) as z.ZodType<
      Readonly<Record<string, z.output<T>>>
    >;
  const shares = (operation: Operation) =>
    fieldsOf === undefined
      ? anyFields
      : z.object(Object.fromEntries(fieldsOf(operation).map(({name}) => [name, fieldShares])));
  return z.object({
    ...about,
    rows,
    lookups: byOperation(() => lookup),
    calls,
    credits: z.object({
      spent: credits,
      maybe_spent: credits.describe('What may have been charged without a usable answer.'),
      limit: credits.nullable(),
      earlier,
      account,
      saved,
      by_operation: byOperation(() => spending),
    }),
    session: z
      .object({
        id: z.string().describe('By which the history knows it.'),
        by_operation: byOperation(() => z.object({calls: whole, spent: z.number(), maybe_spent: z.number()})),
      })
      .describe(
        'What this session of the run spent: what the history counts. Less than 0 is what was in doubt at the end of an earlier one, and is not any more.',
      ),
    store,
    pace,
    top: z.partialRecord(z.enum(topKinds), top),
    timeline,
    risk: risk.extend({reasons: countsBy(reasons)}).nullable(),
    fields: byOperation(shares) as z.ZodType<Readonly<Record<string, z.output<typeof anyFields>>>>,
    errors: z.array(coded),
    repairs: z
      .array(coded)
      .describe('What was taken off cells before they were asked about, such as phone.decimal_zero.'),
    changes: changesSchema
      .extend({compared_with: z.string().nullable().describe('Null where the job had no output yet.')})
      .optional()
      .describe("How the output differs from the job's last one (changes)."),
    drift: z.array(drift),
    failed_if: z.array(z.string()).describe('The fail_if expressions that held.'),
    resumed: z.object({times: whole, from_row: whole.nullable()}),
  });
}

export const summarySchema = summaryOf(operationNames);

export type Summary = z.output<typeof summarySchema>;
export type LookupCounts = z.output<typeof lookup>;
export type RuleCount = z.output<typeof rule>;
export type RiskCounts = z.output<typeof risk>;
export type TopNames = z.output<typeof top>;
export type PerPeriod = z.output<typeof perPeriod>;
export type TimelineSummary = z.output<typeof timeline>;
export type Drift = z.output<typeof drift>;
