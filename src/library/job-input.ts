// Written by `npm run schema` from src/job/settings: what editors show of each setting is what the command's help says.
import type {WrittenJob} from '../job/settings.ts';

/** A setting as a program gives it. Its arrays and objects may be readonly. */
type Setting<Name extends keyof WrittenJob> = Unchanged<WrittenJob[Name]>;
type Unchanged<Value> = Value extends readonly (infer One)[]
  ? readonly Unchanged<One>[]
  : Value extends object
    ? {readonly [Name in keyof Value]: Unchanged<Value[Name]>}
    : Value;

/** Settings of a job, as in a job file, in camel case. */
export interface JobInput {
  /** Name of the job, for its summary and its history. */
  readonly name?: Setting<'name'>;
  /** The input file, or several of them. */
  readonly input: Setting<'input'>;
  /** The output file. */
  readonly output?: Setting<'output'>;
  /** The service: embedded; live (at BULK_ENRICH_BASE_URL); or a base URL. Default: from the environment. */
  readonly endpoint?: Setting<'endpoint'>;
  /** Column of IPv4 addresses. PREFIX begins the names of its new columns. */
  readonly ip?: Setting<'ip'>;
  /** Column of phone numbers. PREFIX begins the names of its new columns. */
  readonly phone?: Setting<'phone'>;
  /** Column of e-mail addresses. PREFIX begins the names of its new columns. */
  readonly email?: Setting<'email'>;
  /** Column of session tokens, for bot verdicts. In full: token=COL,action=ID[,id=COL][,email=COL][,phone=COL]. Without action=, BULK_ENRICH_ACTION_ID names the action. */
  readonly verdict?: Setting<'verdict'>;
  /** Look up only these operations, such as ip,email. */
  readonly only?: Setting<'only'>;
  /** Column with the country of phone numbers in national form, as code or name. Several columns may be given: each column of phone numbers uses the one that belongs to it, as shipping_phone uses shipping_country. */
  readonly country?: Setting<'country'>;
  /** Country, as code or name, of national phone numbers without a country of their own; + if phone numbers only lack their plus. */
  readonly defaultCountry?: Setting<'defaultCountry'>;
  /** Which IP address to use of a cell with several (X-Forwarded-For): first, last or only. With only, the cell is used if all of them are the same. Default: such cells are invalid. */
  readonly ipFromList?: Setting<'ipFromList'>;
  /** Treat a cell with just this text as empty, too. Some are empty anyway, such as n/a and unknown. */
  readonly empty?: Setting<'empty'>;
  /** Write only these answer fields, such as ip.country,email.trust_score. */
  readonly fields?: Setting<'fields'>;
  /** Read the first row as data; columns are column_1, column_2, … Default: true. */
  readonly header?: Setting<'header'>;
  /** Look up only rows where this is true, such as row.country == "US". */
  readonly where?: Setting<'where'>;
  /** Read only the first N records. */
  readonly limit?: Setting<'limit'>;
  /** The input's format: csv, tsv or ndjson. Default: by content. */
  readonly inputFormat?: Setting<'inputFormat'>;
  /** The output's format: csv, tsv or ndjson. Default: by its name, else as the input. */
  readonly outputFormat?: Setting<'outputFormat'>;
  /** Write nested fields side by side. In CSV they become columns (user.name). In NDJSON the answers become fields of the row (ip_country). Default: false. */
  readonly flatten?: Setting<'flatten'>;
  /** The delimiter of the input and the output. Default: by content. */
  readonly delimiter?: Setting<'delimiter'>;
  /** Begin the output with a byte order mark. Default: as the input. */
  readonly bom?: Setting<'bom'>;
  /** Input encoding, such as windows-1252. auto: byte order mark, then UTF-8, then a confident guess. Default: auto. */
  readonly encoding?: Setting<'encoding'>;
  /** Skip the first N lines of each CSV file, such as a title above the header. */
  readonly skipLines?: Setting<'skipLines'>;
  /** Add empty fields to CSV rows that are too short, and count those rows. */
  readonly padShortRows?: Setting<'padShortRows'>;
  /** Reject records larger than this; from 1024 to 268435456. Default: 1048576. */
  readonly maxRecordSize?: Setting<'maxRecordSize'>;
  /** Columns to protect from running as spreadsheet formulas: answers, all (also the input's) or none. Default: answers. */
  readonly escapeFormulas?: Setting<'escapeFormulas'>;
  /** Maximum rate of calls, such as 20/s, 100/m or 5/h, or unlimited; by operation: ip=50/s,email=10/s. The number is at most 1000000; the slowest rate is one call a day, 0.0417/h. Default: 20/s live, unlimited embedded. */
  readonly rate?: Setting<'rate'>;
  /** Maximum of calls in flight, from 1 to 10000. Default: 16; of a run with a fleet, twice the sum of its workers. */
  readonly concurrency?: Setting<'concurrency'>;
  /** Maximum time for one call, from 100ms to 1h. Default: 30s. */
  readonly timeout?: Setting<'timeout'>;
  /** How often a value may be sent again after a call that may have been charged, from 0 (never) to 1000. Default: 2. */
  readonly resends?: Setting<'resends'>;
  /** Maximum outage or Retry-After to wait for, from 0s to 30d; see --publish-on. Default: 15m. */
  readonly maxOutage?: Setting<'maxOutage'>;
  /** Redis of a fleet: workers on several machines, which make the calls of a run. Without a fleet, the run makes them. Default: BULK_ENRICH_REDIS_URL. */
  readonly fleet?: Setting<'fleet'>;
  /** Credits of one call, such as 2 or ip=1,phone=2. rejected= and throttled= say if such calls are charged: free (no), spent (yes) or maybe (unknown). Default: 1; rejected=maybe,throttled=free. */
  readonly cost?: Setting<'cost'>;
  /** Maximum of credits for this run, all its sessions included. */
  readonly maxCredits?: Setting<'maxCredits'>;
  /** Make no calls after this: a length of time such as 2h, from 100ms to 365d, or a time of day such as 06:00 or "06:00 Europe/Berlin". */
  readonly until?: Setting<'until'>;
  /** Limits at which the run writes the whole output anyway (exit 3): any of budget, outage and deadline, with commas. At any other limit the run stops, and can be resumed (exit 7 or 5). Default: none. */
  readonly publishOn?: Setting<'publishOn'>;
  /** Stop after more failed lookups than this (exit 4, state saved). A percentage counts from 100 lookups on. A run also stops at 100 rejections in a row, unless this is 100%. */
  readonly maxErrors?: Setting<'maxErrors'>;
  /** Stop after more unreadable rows than this (exit 8). A percentage counts from 100 rows on. */
  readonly maxRejects?: Setting<'maxRejects'>;
  /** Exit with 4 after writing the output if this is true of the summary, such as risk.high > 500. */
  readonly failIf?: Setting<'failIf'>;
  /** Directory of the answer store. Default: the user's cache directory. */
  readonly store?: Setting<'store'>;
  /** Maximum age of a stored answer, from 0s to 36500d; also ip=1d,phone=90d,rejected=7d. Default: ip=1d,phone=90d,email=30d,verify=30d,rejected=7d. */
  readonly maxAge?: Setting<'maxAge'>;
  /** If no call is possible (outage, deadline, budget), use answers up to this long past their age. */
  readonly stale?: Setting<'stale'>;
  /** Make no calls: use stored answers, and skip all other values. Needs no key. Default: false. */
  readonly offline?: Setting<'offline'>;
  /** Label of the account. Each account has its own stored answers. An account may have a file with its rate and its limits, in ~/.config/bulk-enrich/accounts/. Default: default. */
  readonly account?: Setting<'account'>;
  /** Stop before the first call (exit 9) if the answer store can't be used. Default: false. */
  readonly requireStore?: Setting<'requireStore'>;
  /** Directory for the state of the run. Default: OUT.run. */
  readonly state?: Setting<'state'>;
  /** The day for {date} in paths. Default: today, UTC. */
  readonly date?: Setting<'date'>;
  /** Begin a new count of credits, and look failed values up again. Answers already paid for are kept. Default: false. */
  readonly restart?: Setting<'restart'>;
  /** Replace an existing output. Values that failed are looked up again. Default: false. */
  readonly force?: Setting<'force'>;
  /** Rules of the risk score: default, none, or a YAML file. Default: default. */
  readonly score?: Setting<'score'>;
  /** File for the summary. Default: OUT.summary.json. */
  readonly summary?: Setting<'summary'>;
  /** File for rows that can't be read. Default: OUT.rejects.ndjson. */
  readonly rejects?: Setting<'rejects'>;
  /** File for a report: an HTML page, or Markdown (.md). */
  readonly report?: Setting<'report'>;
  /** File for Prometheus metrics, for the node exporter's textfile collector (.prom). */
  readonly metrics?: Setting<'metrics'>;
  /** Health check to ping at the start (URL/start), on success (URL) or failure (URL/CODE). */
  readonly pingUrl?: Setting<'pingUrl'>;
  /** How much a named job's results may differ from its last runs. With 10%, the run warns if they differ more. With fail 10%, it also exits with 4, after writing the output. off compares nothing. Default: 10%. */
  readonly drift?: Setting<'drift'>;
  /** Log level on stderr: trace, debug, info, warn, error or silent. Log lines are JSON, or plain with text. With json, all of stderr is JSON. Both together: json,debug. Default: warn; info with json. */
  readonly log?: Setting<'log'>;
  /** Write only errors to stderr, and the log if it is set. Default: false. */
  readonly quiet?: Setting<'quiet'>;
}
