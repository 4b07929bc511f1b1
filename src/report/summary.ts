import {z} from 'zod';
import {recordOf, topKinds} from '../operations/operation.ts';
import {type Operation, operationNames} from '../operations/table.ts';

// The one declaration of a run's summary. Its type and `docs/summary.schema.json` (`npm run schema`), the names for
// `fail_if` and the reports come from it. As long as `schema_version` is 2, fields are added but never removed.

export const whole = z.int().min(0);
const credits = z.number().min(0);
const spending = z.object({spent: credits, maybe_spent: credits});
const perPeriod = z.object({
  limit: credits,
  used: credits,
  lacked: credits.optional().describe('Credits that the count lacked at the start, which were added.'),
});
const share = z.number().min(0).max(1);
export const time = z.iso.datetime();
export const counts = z.record(z.string(), whole);

/** Price of a credit, from the account's file. */
export const priceSchema = z.object({per_credit: z.number().min(0), currency: z.string()});

function counted<Name extends string>(...names: Name[]) {
  return recordOf(names, () => whole);
}

const lookup = z
  .object({
    ...counted('values', 'empty', 'invalid', 'answered', 'failed', 'unknown', 'skipped', 'calls', 'retries'),
    repaired: whole.describe('Cells that were repaired before the lookup. They are among the other counts.'),
    distinct: whole.describe('Different values. All other counts are cells, except calls and retries.'),
    from_store: whole.describe('Different values with a stored answer.'),
    stale: whole.describe('Cells with an answer past its age, because no call was possible (--stale).'),
    rejected: whole.describe('Cells whose value the service rejects. They are part of failed.'),
    refused_in_a_row: whole.describe(
      'Longest series of ten or more rejections. The account may be the cause.',
    ),
    deduplicated: whole.describe('Cells with the value of an earlier cell, which made no call of their own.'),
  })
  .describe('values = empty + invalid + answered + failed + unknown + skipped');

/** A code (of an error or a repair), how often it occurs, and the numbers of the first rows that have it. */
const coded = z.object({
  code: z.string(),
  count: whole,
  rows: z.array(whole),
  service: z
    .boolean()
    .optional()
    .describe("True if it is the service's word, which may be a code of this program too."),
});

const leftOut = z.object({
  operation: z.string(),
  column: z.string(),
  share: share.describe('Share of the first values that are of the kind, or may be.'),
  flag: z.string().describe('Flags that look the column up.'),
});

const shared = z.object({
  rows: whole.describe('Rows with a value that several have.'),
  largest: z.array(whole).describe('How many have each of the ten most shared values.'),
});

const about = {
  schema_version: z.literal(2),
  run_id: z.string(),
  job: z.string().nullable(),
  date: z.string().optional().describe('The day that {date} in its paths stands for.'),
  status: z.enum(['completed', 'partial', 'interrupted', 'failed']),
  reason: z.string(),
  exit_code: whole,
  started_at: time,
  finished_at: time,
  duration_ms: z.number(),
  come_back_at: time.optional().describe('Time at which the service asks to come back, or may answer again.'),
  endpoint: z.object({kind: z.string(), base_url: z.string().nullable()}),
  input: z
    .object({paths: z.array(z.string()), bytes: whole.nullable(), sha256: z.string().nullable()})
    .describe('Bytes and hash are null if nothing was read, or if a program gave the rows.'),
  output: z.object({
    path: z.string(),
    bytes: whole.nullable(),
    sha256: z.string().nullable(),
    delimiter: z
      .string()
      .nullable()
      .describe('Between the fields of CSV. Null for NDJSON, and if the run could not begin.'),
  }),
  rejects: z.object({path: z.string().nullable(), bytes: whole, sha256: z.string()}).nullable(),
  settings_sha256: z
    .string()
    .describe('Hash of all settings that shape the result. With this hash and input, a run is not repeated.'),
};

const rows = z.object({
  ...counted('read', 'written', 'rejected', 'ok', 'with_errors', 'blank_lines'),
  lines_beside_header: whole
    .optional()
    .describe(
      'Lines above the header, such as titles, and below it that describe its columns: not in the output.',
    ),
  padded: whole.describe('Written rows that got empty fields at their end (pad_short_rows).'),
});

const milliseconds = z.number().nullable();
const calls = z.object({
  total: whole.describe(
    'Calls of all sessions, like unconfirmed, unsent, by_status and by_error. The others are of the last session.',
  ),
  unconfirmed: whole.describe('Calls in flight when a session or worker ended, perhaps sent. Not in total.'),
  unsent: whole.describe('Attempts that never reached the service.'),
  retries: whole,
  latency_ms: z.object({p50: milliseconds, p95: milliseconds, p99: milliseconds, max: milliseconds}),
  by_status: counts,
  by_error: counts,
  unknown_fields: counts,
  wrong_types: counts,
  other_forms: whole.optional().describe('Answers that name their value in another form than was sent.'),
  oddities: z
    .array(z.string())
    .optional()
    .describe('Sentences on new answers that are unlike earlier ones, or of no use.'),
});

const account = z
  .object({
    label: z.string(),
    per_day: perPeriod.optional(),
    per_month: perPeriod.optional(),
    price: priceSchema.optional().describe('Price of a credit, from the account file.'),
  })
  .describe('The account, with its limits of day and month and their use by all its runs.');

const saved = z.object({
  dedupe: credits,
  store: credits,
  prefilter: credits,
  by_condition: credits.describe('The part of prefilter that conditions of lookups (when) left out.'),
});

const store = z
  .object({
    trouble: z.string().nullable().describe("Reason why the answer store can't be used."),
    not_looked_up: whole.describe('Values that could not be looked up in the store.'),
    perhaps_paid_again: credits.describe('Credits perhaps spent although the store had an answer.'),
    not_stored: whole.describe('Answers that could not be stored for the next run.'),
  })
  .nullable()
  .describe('Effects of an answer store that could not be used, for a while or to the end.');

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
  shadow: z.boolean().optional().describe('True for a rule on trial, whose points are not added.'),
  description: z.string().optional(),
  owner: z.string().optional(),
  held: whole,
  undecided: whole.describe('Rows in which something that it reads was missing.'),
  wrong: whole.describe('Rows with a value that it could not use, such as a text instead of a number.'),
});

const risk = z.object({
  ...counted('scored', 'low', 'medium', 'high'),
  unknown: whole.describe('Rows without a score, because too much was missing.'),
  high_rows: z.array(whole).describe('The first hundred rows of high risk, by number.'),
  mean: z.number().nullable(),
  histogram: z.array(whole).describe('Rows by score: 0 to 9, 10 to 19, …, 90 to 100.'),
  reasons: counts,
  missing: counts.describe('Rows by missing signal.'),
  levels: z
    .object({medium: whole, high: whole})
    .optional()
    .describe('Lowest score of each level. Missing if no rules were read.'),
  default_rules: z.boolean().optional().describe('True if the default rules were used.'),
  rules: z.array(rule).describe("The job's own rules, with counts of rows."),
  warnings: z.array(z.string()).describe('Rules that are probably wrong.'),
});

const top = z.object({
  counted: whole,
  missed_at_most: whole.describe('Maximum of occurrences that may be missing from the count of a name.'),
  names: z.array(z.object({name: z.string(), count: whole})),
});

const timeline = z
  .object({
    ms: z.array(z.number()),
    calls: z.array(whole),
    rows: z.array(whole),
    latency_p50_ms: z.array(milliseconds),
    latency_p95_ms: z.array(milliseconds),
    in_flight: z.array(whole).describe('Calls in flight, on average.'),
  })
  .describe('Lists of equal length: the n-th entries belong together.');

const fieldShares = z.object({
  present: share.describe('Share of answers with this field.'),
  true: share.optional().describe('Share of these in which it was true, for true-or-false fields.'),
});
const anyFields = z.record(z.string(), fieldShares);

const drift = z.object({
  what: z.string().describe('Name of the figure, such as risk.mean, rows, ip.is_vpn or earlier_list.'),
  now: z.number(),
  usual: z.number().describe('Median of the earlier runs.'),
  runs: whole,
});

/** The schema of counts. Its keys are `names`; any keys if `names` is undefined. */
function countsBy(names: readonly string[] | undefined): typeof counts {
  return names === undefined ? counts : (z.partialRecord(z.enum(names), whole) as unknown as typeof counts);
}

/** The summary's schema for these operations, with only these answer fields and risk reasons, or with any. */
export function createSummarySchema(
  operations: readonly Operation[],
  fieldsOf?: (operation: Operation) => readonly {readonly name: string}[],
  reasons?: readonly string[],
) {
  const byOperation = <T extends z.ZodType>(schemaOf: (operation: Operation) => T) =>
    z.object(Object.fromEntries(operations.map(name => [name, schemaOf(name).optional()]))) as z.ZodType<
      Readonly<Record<string, z.output<T>>>
    >;
  const shares = (operation: Operation) => {
    const names = fieldsOf?.(operation).map(({name}) => [name, fieldShares] as const);
    return names === undefined
      ? anyFields
      : (z.object(Object.fromEntries(names)) as unknown as typeof anyFields);
  };
  const fields = byOperation(shares);
  return z.object({
    ...about,
    rows,
    lookups: byOperation(() => lookup),
    calls,
    credits: z.object({
      spent: credits,
      maybe_spent: credits.describe('Credits that may have been charged without a usable answer.'),
      limit: credits.nullable(),
      account,
      saved,
      by_operation: byOperation(() => spending),
    }),
    store,
    pace,
    top: z.partialRecord(z.enum(topKinds), top),
    timeline,
    risk: risk.extend({reasons: countsBy(reasons)}).nullable(),
    fields,
    new_answers: byOperation(() => whole)
      .optional()
      .describe('Answers that calls of the run brought.'),
    new_fields: fields.optional().describe('As fields, of these new answers.'),
    errors: z.array(coded),
    repairs: z.array(coded).describe('Repairs of cells, such as phone.decimal_zero.'),
    columns: z
      .array(z.object({operation: z.string(), column: z.string(), prefix: z.string()}))
      .describe(
        'Columns that are looked up, with the prefix of their results; and the column of persons, if rules name one.',
      ),
    shared: z
      .record(z.string(), shared)
      .describe('Facts of the whole list that rules read, such as mailbox.'),
    left_out: z
      .array(leftOut)
      .describe(
        'Columns that are not looked up, though half of their first values or more may be of a kind.',
      ),
    drift: z.array(drift),
    failed_if: z.array(z.string()).describe('The fail_if expressions that held.'),
    unfinished_days: z
      .array(z.string())
      .optional()
      .describe('Days before today whose runs are unfinished, for an output with {date}.'),
    resumed: z.object({times: whole}),
  });
}

export const summarySchema = createSummarySchema(operationNames);

type DeepReadonly<T> = T extends object ? {readonly [Name in keyof T]: DeepReadonly<T[Name]>} : T;

export type Summary = DeepReadonly<z.output<typeof summarySchema>>;
export type LookupCounts = Summary['lookups'][string];
export type RiskCounts = NonNullable<Summary['risk']>;
export type TimelineSummary = Summary['timeline'];
export type Drift = Summary['drift'][number];
export type Price = z.output<typeof priceSchema>;
