// biome-ignore-all format: written by `npm run schema` from summary.ts.

/** Summary of a run: docs/summary.schema.json says the same. */
export interface Summary {
  readonly schema_version: 2;
  readonly run_id: string;
  readonly job: string | null;
  readonly status: 'completed' | 'partial' | 'interrupted' | 'failed';
  readonly reason: string;
  readonly exit_code: number;
  readonly started_at: string;
  readonly finished_at: string;
  readonly duration_ms: number;
  /** Time at which the service asks to come back, or may answer again. */ readonly come_back_at?: string | undefined;
  readonly endpoint: {readonly kind: string; readonly base_url: string | null};
  /** Bytes and hash are null if nothing was read, or if a program gave the rows. */
  readonly input: {readonly paths: readonly string[]; readonly bytes: number | null; readonly sha256: string | null};
  readonly output: {
    readonly path: string;
    readonly bytes: number | null;
    readonly sha256: string | null;
    /** Between the fields of CSV. Null for NDJSON, and if the run could not begin. */ readonly delimiter: string | null;
  };
  readonly rejects: {readonly path: string | null; readonly bytes: number; readonly sha256: string} | null;
  /** Hash of all settings that shape the result. With the same hash and input, a complete run is not repeated. */ readonly settings_sha256: string;
  readonly rows: {
    readonly read: number;
    readonly written: number;
    readonly rejected: number;
    readonly ok: number;
    readonly with_errors: number;
    readonly blank_lines: number;
    /** Written rows that got empty fields at their end (pad_short_rows). */ readonly padded: number;
  };
  readonly lookups: Readonly<Record<string, {
    readonly values: number;
    readonly empty: number;
    readonly invalid: number;
    /** Cells that were repaired before the lookup. They are among the other counts. */ readonly repaired: number;
    /** Different values. All other counts are cells, except calls and retries. */ readonly distinct: number;
    readonly answered: number;
    readonly failed: number;
    readonly unknown: number;
    readonly skipped: number;
    /** Different values with a stored answer. */ readonly from_store: number;
    /** Cells with an answer past its age, because no call was possible (--stale). */ readonly stale: number;
    /** Cells whose value the service rejects. They are part of failed. */ readonly rejected: number;
    /** Values of the longest series of ten or more rejections without an answer between them. The cause may be the account. */
    readonly refused_in_a_row: number;
    /** Cells with the same value as an earlier cell, which made no call of their own. */ readonly deduplicated: number;
    readonly calls: number;
    readonly retries: number;
  }>>;
  readonly calls: {
    /** Calls of all sessions that were sent to the service. The other numbers are of the last session. */ readonly total: number;
    /** Calls in flight when a session or a worker ended, which may have been sent. Not in total. */ readonly unconfirmed: number;
    /** Attempts that never reached the service. */ readonly unsent: number;
    readonly by_status: Readonly<Record<string, number>>;
    readonly by_error: Readonly<Record<string, number>>;
    readonly retries: number;
    readonly latency_ms: {
      readonly p50: number | null;
      readonly p95: number | null;
      readonly p99: number | null;
      readonly max: number | null;
    };
    readonly unknown_fields: Readonly<Record<string, number>>;
    readonly wrong_types: Readonly<Record<string, number>>;
  };
  readonly credits: {
    readonly spent: number;
    /** Credits that may have been charged without a usable answer. */ readonly maybe_spent: number;
    readonly limit: number | null;
    /** The account, with its limits of day and month and their use by all its runs. */
    readonly account: {
      readonly label: string;
      readonly per_day?: {
        readonly limit: number;
        readonly used: number;
        /** Credits that the count lacked at the start, by the history and the answer store: they were added. */ readonly lacked?: number | undefined;
      } | undefined;
      readonly per_month?: {
        readonly limit: number;
        readonly used: number;
        /** Credits that the count lacked at the start, by the history and the answer store: they were added. */ readonly lacked?: number | undefined;
      } | undefined;
      /** Price of a credit, from the account file. */ readonly price?: {readonly per_credit: number; readonly currency: string} | undefined;
    };
    readonly saved: {
      readonly dedupe: number;
      readonly store: number;
      readonly prefilter: number;
      /** The part of prefilter that conditions of lookups (when) left out. */ readonly by_condition: number;
    };
    readonly by_operation: Readonly<Record<string, {readonly spent: number; readonly maybe_spent: number}>>;
  };
  /** Effects of an answer store that could not be used, for a while or to the end. */
  readonly store: {
    /** Reason why the answer store can't be used. */ readonly trouble: string | null;
    /** Values that could not be looked up in the store. */ readonly not_looked_up: number;
    /** Credits that may have been spent on them although the store had an answer. */ readonly perhaps_paid_again: number;
    /** Answers that could not be stored for the next run. */ readonly not_stored: number;
  } | null;
  readonly pace: {
    readonly rate_limit: number | null;
    readonly achieved: number;
    readonly pauses: number;
    readonly paused_ms: number;
  };
  readonly top: {readonly [Name in 'countries' | 'networks' | 'domains' | 'phone_countries']?: {
    readonly counted: number;
    /** Maximum of occurrences that may be missing from the count of a name. */ readonly missed_at_most: number;
    readonly names: readonly {readonly name: string; readonly count: number}[];
  }};
  /** Lists of equal length: the n-th entries belong together. */
  readonly timeline: {
    readonly ms: readonly number[];
    readonly calls: readonly number[];
    readonly rows: readonly number[];
    readonly latency_p50_ms: readonly (number | null)[];
    readonly latency_p95_ms: readonly (number | null)[];
    /** Calls in flight, on average. */ readonly in_flight: readonly number[];
  };
  readonly risk: {
    readonly scored: number;
    /** Rows without a score, because too much was missing. */ readonly unknown: number;
    readonly low: number;
    readonly medium: number;
    readonly high: number;
    /** The first hundred rows of high risk, by number. */ readonly high_rows: readonly number[];
    readonly mean: number | null;
    /** Rows by score: 0 to 9, 10 to 19, …, 90 to 100. */ readonly histogram: readonly number[];
    readonly reasons: Readonly<Record<string, number>>;
    /** Rows by missing signal. */ readonly missing: Readonly<Record<string, number>>;
    /** Lowest score of each level. Missing if no rules were read. */ readonly levels?: {readonly medium: number; readonly high: number} | undefined;
    /** True if the default rules were used. */ readonly default_rules?: boolean | undefined;
    /** The job's own rules, with counts of rows. */
    readonly rules: readonly ({
      readonly reason: string;
      readonly when: string;
      readonly add: number;
      /** True for a rule on trial, whose points are not added. */ readonly shadow?: boolean | undefined;
      readonly description?: string | undefined;
      readonly owner?: string | undefined;
      readonly held: number;
      /** Rows in which something that it reads was missing. */ readonly undecided: number;
      /** Rows with a value that it could not use, such as a text instead of a number. */ readonly wrong: number;
    })[];
    /** Rules that are probably wrong. */ readonly warnings: readonly string[];
  } | null;
  readonly fields: Readonly<Record<string, Readonly<Record<string, {
    /** Share of answers with this field. */ readonly present: number;
    /** Share of these in which it was true, for true-or-false fields. */ readonly true?: number | undefined;
  }>>>>;
  readonly errors: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[];
  /** Repairs of cells, such as phone.decimal_zero. */
  readonly repairs: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[];
  /** Columns that are looked up, with the prefix of their results; and the column of persons, if rules name one. */
  readonly columns: readonly {readonly operation: string; readonly column: string; readonly prefix: string}[];
  /** Facts of the whole list that rules read, such as mailbox. */
  readonly shared: Readonly<Record<string, {
    /** Rows with a value that several have. */ readonly rows: number;
    /** How many have each of the ten most shared values. */ readonly largest: readonly number[];
  }>>;
  /** Columns that are not looked up, though half of their first values or more may be of a kind. */
  readonly left_out: readonly {
    readonly operation: string;
    readonly column: string;
    /** Share of the first values that are of the kind, or may be. */ readonly share: number;
    /** Flags that look the column up. */ readonly flag: string;
  }[];
  readonly drift: readonly {
    /** Name of the figure, such as risk.mean, risk.high, rows or ip.is_vpn. */ readonly what: string;
    readonly now: number;
    /** Median of the earlier runs. */ readonly usual: number;
    readonly runs: number;
  }[];
  /** The fail_if expressions that held. */ readonly failed_if: readonly string[];
  readonly resumed: {readonly times: number};
}
