import {z} from 'zod';
import {throttledBy} from '../operations/operation.ts';
import {defaultAges, defaultCosts, operationNames, operations, perIntelligence} from '../operations/table.ts';
import {type Beside, besideToken} from '../operations/verify.ts';
import {
  ages,
  columns,
  costs,
  countOrShare,
  durationFrom,
  list,
  rates,
  redisUrl,
  scoreRules,
  share,
  whole,
} from './values.ts';

/**
 * Every setting of a run: its name, one sentence, its unit and its default. Flags, job files, their JSON Schema,
 * `--help` and the README's table all come from here.
 */

/** What the command line and the docs need to know of a setting beside its schema. */
export interface SettingMeta {
  readonly description: string;
  readonly group: string;
  /** How the flag's value is named in `--help`; none for a switch. */
  readonly value?: string;
  /** The flag may be given several times. */
  readonly repeatable?: boolean;
  /** The flag is written `--no-…` and turns the setting off. */
  readonly negated?: boolean;
  /** Only job files and the library have it. */
  readonly flagless?: boolean;
  /** How the default is said where it isn't a plain value. */
  readonly defaultText?: string;
}

function setting<T extends z.ZodType>(schema: T, meta: SettingMeta): T {
  return schema.meta({...meta});
}

const SERVICE = 'Service';
const COLUMNS = 'Columns';
const ROWS = 'Rows';
const FORMAT = 'Format';
const CALLS = 'Calls';
const LIMITS = 'Limits';
const STORE = 'Answer store';
const STATE = 'State';
const RESULTS = 'Results';

const ENDPOINT = 'expected embedded, live, or a base URL such as https://api.example.com';
const charge = z.enum(['free', 'maybe', 'spent']);

const column = (description: string) =>
  setting(z.string().optional(), {group: COLUMNS, value: 'COL', description});
const besideSettings = Object.fromEntries(
  Object.values(besideToken).map(({setting: name, what}) => [
    name,
    column(`Column of ${what}, sent with the token.`),
  ]),
) as Record<(typeof besideToken)[Beside]['setting'], ReturnType<typeof column>>;

const shape = {
  endpoint: setting(
    z
      .union(
        [
          z.enum(['embedded', 'live']),
          z.url({error: ENDPOINT}),
          z.strictObject({base_url: z.url({error: ENDPOINT}), action_id: z.string().optional()}),
        ],
        {error: ENDPOINT},
      )
      .optional(),
    {
      group: SERVICE,
      value: 'NAME|URL',
      description: 'The service to ask: embedded, live (from the environment), or a base URL.',
      defaultText: 'from the environment',
    },
  ),

  ...perIntelligence(name =>
    setting(columns.optional(), {
      group: COLUMNS,
      value: 'COL[=PREFIX]',
      repeatable: true,
      description: operations[name].about,
    }),
  ),
  token: column(operations.verify.about),
  actionId: setting(z.string().optional(), {
    group: COLUMNS,
    value: 'ID',
    description: 'Action identifier of the verdicts.',
    defaultText: 'BULK_ENRICH_ACTION_ID',
  }),
  ...besideSettings,
  only: setting(
    list(',')
      .pipe(z.array(z.enum(operationNames)))
      .optional(),
    {group: COLUMNS, value: 'OPS', description: 'Only these operations, such as ip,email.'},
  ),
  country: column('Column of ISO country codes, for phone numbers in national form.'),
  defaultCountry: setting(
    z
      .string()
      .regex(/^[A-Za-z]{2}$/, 'expected a two-letter country code such as US')
      .transform(code => code.toUpperCase())
      .optional(),
    {
      group: COLUMNS,
      value: 'CC',
      description: 'Country of phone numbers in national form where no column says it.',
    },
  ),
  fields: setting(list(',').optional(), {
    group: COLUMNS,
    value: 'FIELDS',
    description: 'Only these answer fields, such as ip.country,email.trust_score.',
  }),
  header: setting(z.boolean().default(true), {
    group: COLUMNS,
    negated: true,
    description: 'The first row is data; columns are column_1, column_2, …',
  }),

  where: setting(z.string().min(1).optional(), {
    group: ROWS,
    value: 'EXPR',
    description: 'Only rows where this holds are asked about, such as row.country == "US".',
  }),
  limit: setting(whole(1).optional(), {
    group: ROWS,
    value: 'N',
    description: 'Only the first N records are read.',
  }),
  sample: setting(whole(1).optional(), {
    group: ROWS,
    value: 'N',
    description: 'Ask about N rows chosen at random, say what all would cost, and write no output.',
  }),

  inputFormat: setting(z.enum(['csv', 'tsv', 'ndjson']).optional(), {
    group: FORMAT,
    value: 'FORMAT',
    description: "The input's format: csv, tsv or ndjson.",
    defaultText: 'by content',
  }),
  outputFormat: setting(z.enum(['csv', 'tsv', 'ndjson']).optional(), {
    group: FORMAT,
    value: 'FORMAT',
    description: "The output's format: csv, tsv or ndjson.",
    defaultText: 'by its name, else as the input',
  }),
  flatten: setting(z.boolean().default(false), {
    group: FORMAT,
    description:
      'Nothing nested: in CSV a column for each inner field (user.name), in NDJSON answers as fields of the row (ip_country).',
  }),
  delimiter: setting(
    z
      .string()
      .transform(text => (text === '\\t' || text === 'tab' ? '\t' : text))
      .pipe(z.string().length(1, 'expected one character, or tab'))
      .optional(),
    {
      group: FORMAT,
      value: 'CHAR',
      description: 'The delimiter of the input and the output.',
      defaultText: 'by content',
    },
  ),
  bom: setting(z.boolean().optional(), {
    group: FORMAT,
    description: 'Begin the output with a byte order mark.',
    defaultText: 'as the input',
  }),
  encoding: setting(z.enum(['auto', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252']).default('auto'), {
    group: FORMAT,
    value: 'NAME',
    description: 'Encoding of the input: auto (UTF-8, or UTF-16 by its mark), windows-1252, …',
  }),
  maxRecordSize: setting(whole(1024, 268_435_456).default(1_048_576), {
    group: FORMAT,
    value: 'BYTES',
    description: 'A record larger than this is rejected; from 1024 to 268435456.',
  }),
  escapeFormulas: setting(z.enum(['answers', 'all', 'none']).default('answers'), {
    group: FORMAT,
    value: 'WHICH',
    description: "Columns made safe against spreadsheet formulas: answers, all (the input's too) or none.",
  }),

  rate: setting(rates.optional(), {
    group: CALLS,
    value: 'RATE',
    description:
      'Most calls a second (/s), minute (/m) or hour (/h), from one a day to 1000000 in the unit, or unlimited; also ip=50/s,email=10/s.',
    defaultText: '20/s live, unlimited embedded',
  }),
  concurrency: setting(whole(1, 10_000).optional(), {
    group: CALLS,
    value: 'N',
    description: 'Most calls in flight, from 1 to 10000.',
    defaultText: "16; in a fleet, its workers'",
  }),
  timeout: setting(durationFrom('100ms', '1h').prefault('30s'), {
    group: CALLS,
    value: 'TIME',
    description: 'Longest time for one call, from 100ms to 1h.',
  }),
  maxAttempts: setting(whole(1, 1_000).default(6), {
    group: CALLS,
    value: 'N',
    description: 'Most attempts for one value, from 1 to 1000, outages and throttling not counted.',
  }),
  maxResends: setting(whole(0, 1_000).default(2), {
    group: CALLS,
    value: 'N',
    description: 'Most times a call is sent again that may have been charged already, from 0 to 1000.',
  }),
  resend: setting(z.enum(['always', 'never']).default('always'), {
    group: CALLS,
    value: 'WHEN',
    description: 'Whether a call whose outcome is unknown is sent again: always or never.',
  }),
  maxOutage: setting(durationFrom('0s', '30d').prefault('15m'), {
    group: CALLS,
    value: 'TIME',
    description: 'Longest outage or Retry-After to wait for, from 0s to 30d; then exit 5.',
  }),
  throttledCharge: setting(charge.default('free'), {
    group: CALLS,
    value: 'HOW',
    description: `What a throttled call (${throttledBy}) costs: free, maybe or spent.`,
  }),
  rejectedCharge: setting(charge.default('maybe'), {
    group: CALLS,
    value: 'HOW',
    description: 'What a rejected call (other 4xx) costs: free, maybe or spent.',
  }),
  fleet: setting(redisUrl.optional(), {
    group: CALLS,
    value: 'URL',
    description: 'Workers on other machines make the calls, by way of this Redis; none: this process does.',
    defaultText: 'BULK_ENRICH_REDIS_URL',
  }),
  cost: setting(costs.prefault(defaultCosts), {
    group: CALLS,
    value: 'CREDITS',
    description: 'Credits of one call; also ip=1,phone=2.',
  }),

  maxCredits: setting(whole(0).optional(), {
    group: LIMITS,
    value: 'N',
    description: 'Most credits for this run, resumes and restarts included.',
  }),
  maxCreditsPerDay: setting(whole(0).optional(), {
    group: LIMITS,
    value: 'N',
    flagless: true,
    description: "Most credits for this job in one day (UTC), kept in the user's state directory.",
  }),
  onBudget: setting(z.enum(['stop', 'publish']).default('stop'), {
    group: LIMITS,
    value: 'WHAT',
    description: 'At the credit limit: stop (exit 7, go on later) or publish what there is (exit 3).',
  }),
  maxDuration: setting(durationFrom('100ms', '365d').optional(), {
    group: LIMITS,
    value: 'TIME',
    description: 'Stop after this time, from 100ms to 365d, with state saved; exit 5.',
  }),
  maxErrors: setting(countOrShare.optional(), {
    group: LIMITS,
    value: 'N|N%',
    description: 'More failed lookups than this: stop with state saved; exit 4.',
  }),
  maxRejects: setting(countOrShare.optional(), {
    group: LIMITS,
    value: 'N|N%',
    description: 'More unreadable rows than this: stop; exit 8.',
  }),
  failIf: setting(list().optional(), {
    group: LIMITS,
    value: 'EXPR',
    repeatable: true,
    description: 'Exit 4, with the output published, if this holds of the summary, such as risk.high > 500.',
  }),

  cache: setting(
    z.union([z.string(), z.boolean()], {error: 'expected a directory, or false'}).default(true),
    {
      group: STORE,
      value: 'DIR',
      description: 'Directory of the answer store.',
      defaultText: "the user's cache directory",
    },
  ),
  maxAge: setting(ages.prefault(defaultAges), {
    group: STORE,
    value: 'AGE',
    description: 'How old a stored answer may be, from 0s to 36500d; also ip=1d,phone=90d.',
  }),
  account: setting(
    z
      .string()
      .regex(/^[\w.@-]{1,64}$/, 'expected 1 to 64 letters, digits, or . _ @ -')
      .default('default'),
    {group: STORE, value: 'LABEL', description: "Keeps one account's stored answers apart from another's."},
  ),

  requireStore: setting(z.boolean().default(false), {
    group: STORE,
    description: "Stop before the first call (exit 9) where the answer store can't be used.",
  }),

  state: setting(z.string().optional(), {
    group: STATE,
    value: 'DIR',
    description: 'Directory of the run’s state.',
    defaultText: 'OUT.run',
  }),
  date: setting(z.iso.date('expected a day such as 2026-01-31').optional(), {
    group: STATE,
    value: 'DAY',
    description: 'The day that {date} in paths stands for.',
    defaultText: 'today, UTC',
  }),
  restart: setting(z.boolean().default(false), {
    group: STATE,
    description: 'Start over, keeping every answer already paid for, and the count of what was spent.',
  }),
  freshBudget: setting(z.boolean().default(false), {
    group: STATE,
    description:
      'A run that starts over has all of --max-credits again: what was spent before is not counted.',
  }),
  force: setting(z.boolean().default(false), {group: STATE, description: 'Replace an existing output.'}),
  onStaleState: setting(z.enum(['stop', 'restart']).optional(), {
    group: STATE,
    value: 'WHAT',
    description: 'State that does not fit: stop (exit 10 or 8) or restart.',
    defaultText: 'stop; restart in a job file',
  }),

  score: setting(
    z
      .union([z.string().min(1), scoreRules], {error: 'expected default, none, a file, or rules'})
      .default('default'),
    {
      group: RESULTS,
      value: 'RULES',
      description: 'Rules of the risk score: default, none, or a YAML file.',
    },
  ),
  summary: setting(z.string().optional(), {
    group: RESULTS,
    value: 'FILE',
    description: 'Where the summary goes.',
    defaultText: 'OUT.summary.json',
  }),
  rejects: setting(z.string().optional(), {
    group: RESULTS,
    value: 'FILE',
    description: 'Where unreadable rows go.',
    defaultText: 'OUT.rejects.ndjson',
  }),
  report: setting(
    z
      .string()
      .regex(/\.(html?|md|markdown)$/i, 'expected a file that ends in .html or .md')
      .optional(),
    {group: RESULTS, value: 'FILE', description: 'A report to look at: one HTML page, or Markdown (.md).'},
  ),
  metrics: setting(z.string().optional(), {
    group: RESULTS,
    value: 'FILE',
    description: "Prometheus text, for the node exporter's textfile collector (.prom).",
  }),
  pingUrl: setting(
    z.url({protocol: /^https?$/, error: 'expected a URL with http:// or https://'}).optional(),
    {
      group: RESULTS,
      value: 'URL',
      description: 'Health check that is told of the start (URL/start), success (URL) or failure (URL/CODE).',
    },
  ),
  drift: setting(z.enum(['warn', 'fail', 'off']).default('warn'), {
    group: RESULTS,
    value: 'WHAT',
    description:
      "When a named job's results differ from its last runs': warn, fail (exit 4, with output) or off.",
  }),
  driftThreshold: setting(share.prefault('10%'), {
    group: RESULTS,
    value: 'SHARE',
    description: 'How far a share or the mean score may move before it counts as drift.',
  }),
  progress: setting(z.enum(['auto', 'bar', 'plain', 'none']).default('auto'), {
    group: RESULTS,
    value: 'HOW',
    description: 'How the progress is shown: auto, bar, plain or none.',
  }),
  logLevel: setting(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('warn'), {
    group: RESULTS,
    value: 'LEVEL',
    description: 'Log lines (NDJSON on stderr) from this level up.',
  }),
  quiet: setting(z.boolean().default(false), {group: RESULTS, description: 'Nothing on stderr but errors.'}),
};

/** The settings as a caller writes them: texts as in flags, or the types of a job file. */
export const settingsSchema = z.strictObject(shape);

/** What only a job has: a name, its inputs and its output. */
export const jobSchema = z.strictObject({
  name: z
    .string()
    .regex(/^\w[\w.-]{0,63}$/, 'expected 1 to 64 letters, digits, or . _ -, no . or - first')
    .optional()
    .meta({description: 'Name of the job, for its summary, its daily budget and its history.'}),
  input: list().meta({description: 'The input file, or several of them.'}),
  output: z.string().optional().meta({description: 'The output file.'}),
  ...shape,
});

export type SettingName = keyof typeof shape;
export type Settings = z.output<typeof settingsSchema>;
export type JobSettings = z.output<typeof jobSchema>;
export type JobInput = z.input<typeof jobSchema>;

interface JsonChoices {
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonChoices[];
}

/** Every setting with what the command line and the docs say of it, in order. */
export function describeSettings(): readonly (SettingMeta & {
  readonly name: SettingName;
  readonly default: unknown;
  /** The words that it takes, where those are few. */
  readonly choices: readonly string[];
})[] {
  return Object.entries(shape).map(([name, schema]) => {
    const parsed = schema.safeParse(undefined);
    const json = z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'}) as JsonChoices;
    return {
      ...(schema.meta() as unknown as SettingMeta),
      name: name as SettingName,
      default: json.default ?? (parsed.success ? parsed.data : undefined),
      choices: json.enum ?? json.anyOf?.find(one => one.enum !== undefined)?.enum ?? [],
    };
  });
}

/** `maxCredits` → `max-credits` (flags), or with `_` (job files). */
export function spelled(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}
