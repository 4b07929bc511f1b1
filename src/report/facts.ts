/** What reports read of a run's summary. The summary has more; what is optional here may be missing in one that was interrupted early, or that is of an older version. */
export interface ReportSummary {
  readonly run_id: string;
  readonly job: string | null;
  readonly status: 'completed' | 'partial' | 'interrupted' | 'failed';
  readonly reason: string;
  readonly exit_code: number;
  readonly started_at: string;
  readonly finished_at: string;
  readonly duration_ms: number;
  readonly come_back_at?: string | undefined;
  readonly endpoint: {readonly kind: string; readonly base_url: string | null};
  readonly input: {readonly paths: readonly string[]; readonly bytes: number; readonly sha256: string};
  readonly output: {readonly path: string; readonly bytes: number | null; readonly sha256: string | null};
  readonly rows: {
    readonly read: number;
    readonly written: number;
    readonly rejected: number;
    readonly ok: number;
    readonly with_errors: number;
    readonly blank_lines: number;
  };
  readonly lookups: Readonly<Record<string, LookupFacts>>;
  readonly calls: {
    readonly total: number;
    readonly unsent: number;
    readonly by_status: Counts;
    readonly by_error: Counts;
    readonly retries: number;
    readonly latency_ms: Readonly<Record<'p50' | 'p95' | 'p99' | 'max', number | null>>;
  };
  readonly credits: {
    readonly spent: number;
    readonly maybe_spent: number;
    readonly limit: number | null;
    readonly saved: {
      readonly dedupe: number;
      readonly cache: number;
      readonly prefilter: number;
      readonly by_condition: number;
    };
    readonly by_operation: Readonly<Record<string, {readonly spent: number; readonly maybe_spent: number}>>;
  };
  readonly pace: {
    readonly rate_limit: number | null;
    readonly achieved: number;
    readonly pauses: number;
    readonly paused_ms: number;
  };
  readonly errors: readonly {
    readonly code: string;
    readonly count: number;
    readonly rows: readonly number[];
  }[];
  readonly resumed: {readonly times: number; readonly from_row: number | null};
  readonly risk?: RiskFacts | null;
  readonly fields?: FieldFacts;
  readonly top?: Readonly<
    Partial<Record<'countries' | 'networks' | 'domains' | 'phone_countries', TopFacts>>
  >;
  readonly timeline?: TimelineFacts;
  /** The job's `fail_if` conditions that held. */
  readonly failed_if?: readonly string[];
  readonly drift?: readonly Drift[];
}

type Counts = Readonly<Record<string, number>>;

export interface LookupFacts {
  readonly values: number;
  readonly empty: number;
  readonly invalid: number;
  readonly distinct: number;
  readonly answered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly skipped: number;
  readonly from_cache: number;
  readonly deduplicated: number;
  readonly calls: number;
  readonly retries: number;
}

/** How the rows were scored. */
export interface RiskFacts {
  readonly scored: number;
  /** Rows that could not be scored, as too much was missing. */
  readonly unknown: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
  readonly mean: number | null;
  /** Rows by score: 0 to 9, 10 to 19, …, 90 to 100. */
  readonly histogram: readonly number[];
  readonly reasons: Counts;
  /** Rows by signal that was not there. */
  readonly missing: Counts;
  /** Rules that can't be meant as they stand. */
  readonly warnings?: readonly string[];
}

/** By operation and field: the share of answers that had it, and, of a flag, the share of those in which it was true. */
export type FieldFacts = Readonly<
  Record<string, Readonly<Record<string, {readonly present: number; readonly true?: number | undefined}>>>
>;

export interface TopFacts {
  readonly counted: number;
  readonly missed_at_most: number;
  readonly names: readonly {readonly name: string; readonly count: number}[];
}

/** One list for each thing measured; the n-th entries belong together. */
export interface TimelineFacts {
  readonly ms: readonly number[];
  readonly calls: readonly number[];
  readonly rows: readonly number[];
  readonly latency_p50_ms: readonly (number | null)[];
  readonly latency_p95_ms: readonly (number | null)[];
  readonly in_flight: readonly number[];
}

/** Something that jumped: it is far from what the job's last runs had in the middle. */
export interface Drift {
  /** What it is, such as `risk.mean`, `risk.high`, `rows` or `ip.is_vpn`. */
  readonly what: string;
  readonly now: number;
  /** The median of the runs that it was compared with. */
  readonly usual: number;
  readonly runs: number;
}
