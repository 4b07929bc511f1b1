// Written by `npm run schema` from src/job/settings: what editors show of each setting is what the command's help says.
import type {WrittenJob} from '../job/settings.ts';

/** A setting as a program writes it, which need not be able to change it afterwards. */
type Setting<Name extends keyof WrittenJob> = Unchanged<WrittenJob[Name]>;
type Unchanged<Value> = Value extends readonly (infer One)[]
  ? readonly Unchanged<One>[]
  : Value extends object
    ? {readonly [Name in keyof Value]: Unchanged<Value[Name]>}
    : Value;

/** Settings of a job, as in a job file, in camel case. */
export interface JobInput {
  /** Name of the job, for its summary, its daily budget and its history. */
  readonly name?: Setting<'name'>;
  /** The input file, or several of them. */
  readonly input: Setting<'input'>;
  /** The output file. */
  readonly output?: Setting<'output'>;
  /** The service to ask: embedded, live (from the environment), or a base URL. Default: from the environment. */
  readonly endpoint?: Setting<'endpoint'>;
  /** Column of IPv4 addresses. */
  readonly ip?: Setting<'ip'>;
  /** Column of phone numbers. */
  readonly phone?: Setting<'phone'>;
  /** Column of e-mail addresses. */
  readonly email?: Setting<'email'>;
  /**
   * Column of user session tokens, for bot verdicts; token=COL,action=ID,id=COL,email=COL,phone=COL says what is
   * sent along. Default: action: BULK_ENRICH_ACTION_ID.
   */
  readonly verdict?: Setting<'verdict'>;
  /** Only these operations, such as ip,email. */
  readonly only?: Setting<'only'>;
  /**
   * Column of countries, by code or name, for phone numbers in national form; of several, each column of numbers
   * takes its own.
   */
  readonly country?: Setting<'country'>;
  /** Country of phone numbers in national form where no column says it, by code or name. */
  readonly defaultCountry?: Setting<'defaultCountry'>;
  /**
   * Of several IP addresses in a cell (X-Forwarded-For): first, last, or only (where all are the same). Default:
   * such cells are invalid.
   */
  readonly ipFromList?: Setting<'ipFromList'>;
  /** A cell that holds just this is empty, beside n/a, unknown, k.A. and their like. */
  readonly empty?: Setting<'empty'>;
  /** Only these answer fields, such as ip.country,email.trust_score. */
  readonly fields?: Setting<'fields'>;
  /** The first row is data; columns are column_1, column_2, … Default: true. */
  readonly header?: Setting<'header'>;
  /** Only rows where this holds are asked about, such as row.country == "US". */
  readonly where?: Setting<'where'>;
  /** Only the first N records are read. */
  readonly limit?: Setting<'limit'>;
  /** Ask about N rows chosen at random, say what all would cost, and write no output. */
  readonly sample?: Setting<'sample'>;
  /** The input's format: csv, tsv or ndjson. Default: by content. */
  readonly inputFormat?: Setting<'inputFormat'>;
  /** The output's format: csv, tsv or ndjson. Default: by its name, else as the input. */
  readonly outputFormat?: Setting<'outputFormat'>;
  /**
   * Nothing nested: in CSV a column for each inner field (user.name), in NDJSON answers as fields of the row
   * (ip_country). Default: false.
   */
  readonly flatten?: Setting<'flatten'>;
  /** The delimiter of the input and the output. Default: by content. */
  readonly delimiter?: Setting<'delimiter'>;
  /** Begin the output with a byte order mark. Default: as the input. */
  readonly bom?: Setting<'bom'>;
  /** Encoding of the input: auto (by its mark, else UTF-8, else what it surely is), windows-1252, … Default: auto. */
  readonly encoding?: Setting<'encoding'>;
  /** Leave out the first N lines of each CSV file: a title above its header. */
  readonly skipLines?: Setting<'skipLines'>;
  /**
   * A CSV row with fewer fields than the header gets empty ones at its end, and is counted; a header gets those
   * that all rows have more.
   */
  readonly padShortRows?: Setting<'padShortRows'>;
  /** A record larger than this is rejected; from 1024 to 268435456. Default: 1048576. */
  readonly maxRecordSize?: Setting<'maxRecordSize'>;
  /** Columns made safe against spreadsheet formulas: answers, all (the input's too) or none. Default: answers. */
  readonly escapeFormulas?: Setting<'escapeFormulas'>;
  /**
   * Most calls a second (/s), minute (/m) or hour (/h), from one a day to 1000000 in the unit, or unlimited; also
   * ip=50/s,email=10/s. Default: 20/s live, unlimited embedded.
   */
  readonly rate?: Setting<'rate'>;
  /** Most calls in flight, from 1 to 10000. Default: 16; in a fleet, its workers'. */
  readonly concurrency?: Setting<'concurrency'>;
  /** Longest time for one call, from 100ms to 1h. Default: 30s. */
  readonly timeout?: Setting<'timeout'>;
  /**
   * Most times a value is sent again after a call that may have been charged, outages included, from 0 (never) to
   * 1000. Default: 2.
   */
  readonly resends?: Setting<'resends'>;
  /** Longest outage or Retry-After to wait for, from 0s to 30d; see --publish-on. Default: 15m. */
  readonly maxOutage?: Setting<'maxOutage'>;
  /**
   * Workers on other machines make the calls, by way of this Redis; none: this process does. Default:
   * BULK_ENRICH_REDIS_URL.
   */
  readonly fleet?: Setting<'fleet'>;
  /**
   * Credits of one call, such as 2 or ip=1,phone=2; rejected=… and throttled=…: whether rejected calls (other 4xx)
   * and throttled ones count as free, maybe or spent. Default: 1; rejected=maybe,throttled=free.
   */
  readonly cost?: Setting<'cost'>;
  /** Most credits for this run, resumes and restarts included. */
  readonly maxCredits?: Setting<'maxCredits'>;
  /**
   * Make no more calls from then on: after a length of time such as 2h, from 100ms to 365d, or at a time of day
   * such as 06:00 or "06:00 Europe/Berlin".
   */
  readonly until?: Setting<'until'>;
  /**
   * Publish what there is (exit 3) at these limits, such as budget,outage,deadline; at the others, stop and resume
   * later (exit 7 or 5). Default: none.
   */
  readonly publishOn?: Setting<'publishOn'>;
  /**
   * More failed lookups than this: stop with state saved; exit 4. 100%: a hundred rejections in a row stop nothing
   * either.
   */
  readonly maxErrors?: Setting<'maxErrors'>;
  /** More unreadable rows than this: stop; exit 8. */
  readonly maxRejects?: Setting<'maxRejects'>;
  /** Exit 4, with the output published, if this holds of the summary, such as risk.high > 500. */
  readonly failIf?: Setting<'failIf'>;
  /** Directory of the answer store. Default: the user's cache directory. */
  readonly store?: Setting<'store'>;
  /**
   * How old a stored answer may be, from 0s to 36500d; also ip=1d,phone=90d,rejected=7d. Default:
   * ip=1d,phone=90d,email=30d,rejected=7d.
   */
  readonly maxAge?: Setting<'maxAge'>;
  /**
   * Where the service can not be asked (outage, deadline, budget), use answers that are past their age by up to
   * this.
   */
  readonly stale?: Setting<'stale'>;
  /** Ask nobody: only what the answer store has is used, and the rest skipped. No key is needed. Default: false. */
  readonly offline?: Setting<'offline'>;
  /** Which account it is: its stored answers are its own, and its limits where it has a file. Default: default. */
  readonly account?: Setting<'account'>;
  /** Beyond this size, 1mb at least, the answer store lets the oldest answers go; such as 500mb or 2gb. */
  readonly maxStoreSize?: Setting<'maxStoreSize'>;
  /** Stop before the first call (exit 9) where the answer store can't be used. Default: false. */
  readonly requireStore?: Setting<'requireStore'>;
  /** Directory of the run’s state. Default: OUT.run. */
  readonly state?: Setting<'state'>;
  /** The day that {date} in paths stands for. Default: today, UTC. */
  readonly date?: Setting<'date'>;
  /**
   * Start over now, keeping every answer already paid for; fresh: with all of --max-credits. In a job file: how it
   * starts over where its state does not fit; false: it stops (exit 10 or 8).
   */
  readonly restart?: Setting<'restart'>;
  /** Replace an existing output. Default: false. */
  readonly force?: Setting<'force'>;
  /** Rules of the risk score: default, none, or a YAML file. Default: default. */
  readonly score?: Setting<'score'>;
  /** Where the summary goes. Default: OUT.summary.json. */
  readonly summary?: Setting<'summary'>;
  /** Where unreadable rows go. Default: OUT.rejects.ndjson. */
  readonly rejects?: Setting<'rejects'>;
  /** A report to look at: one HTML page, or Markdown (.md). */
  readonly report?: Setting<'report'>;
  /** Prometheus text: a file for the node exporter's textfile collector (.prom), or a Pushgateway's URL. */
  readonly metrics?: Setting<'metrics'>;
  /** Health check that is told of the start (URL/start), success (URL) or failure (URL/CODE). */
  readonly pingUrl?: Setting<'pingUrl'>;
  /**
   * How far a named job's results may differ from its last runs' before it warns, such as 10%; fail 10% ends with
   * exit 4 instead, with output; off compares nothing. Default: 10%.
   */
  readonly drift?: Setting<'drift'>;
  /** How the progress is shown: auto, bar (calls are counted first), plain or none. Default: auto. */
  readonly progress?: Setting<'progress'>;
  /**
   * Log (on stderr) from this level up: trace, debug, info, warn, error or silent; as text, or as json (all of
   * stderr, an object a line, for programs); both: json,debug. Default: warn; info with json.
   */
  readonly log?: Setting<'log'>;
  /** Nothing on stderr but errors. Default: false. */
  readonly quiet?: Setting<'quiet'>;
  /**
   * Where the rows go that are new or changed since the job's last output; in a job file also {file: FILE, key:
   * COLUMN}.
   */
  readonly changes?: Setting<'changes'>;
  /** A line for each call and what was booked for it (NDJSON), to hold against an invoice. */
  readonly calls?: Setting<'calls'>;
}
