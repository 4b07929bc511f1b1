// biome-ignore-all format: written by `npm run schema` from src/job/settings, whose sentences the help shows too.

/** Settings of a run, wherever its rows come from. */
export interface RunSettings {
  /** Name of the job, for its summary and its history. */ readonly name?: string | undefined;
  /** The service: embedded; live (at BULK_ENRICH_BASE_URL); or a base URL. Default: from the environment. */
  readonly endpoint?: 'embedded' | 'live' | (string & {}) | undefined;
  /** Column of IPv4 addresses. PREFIX begins its new columns. */
  readonly ip?: string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined} | readonly (string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined})[] | undefined;
  /** Column of phone numbers. PREFIX begins its new columns. */
  readonly phone?: string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined} | readonly (string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined})[] | undefined;
  /** Column of e-mail addresses. PREFIX begins its new columns. */
  readonly email?: string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined} | readonly (string | {readonly column: string; readonly prefix?: string | undefined; readonly when?: string | undefined})[] | undefined;
  /** Column of session tokens, for bot verdicts. In full: token=COL,action=ID[,id=COL][,email=COL][,phone=COL]. Without action=, BULK_ENRICH_ACTION_ID names the action. */
  readonly verdict?: string | {
    readonly token: string;
    readonly action?: string | undefined;
    readonly id?: string | undefined;
    readonly email?: string | undefined;
    readonly phone?: string | undefined;
  } | undefined;
  /** Column with the country of national phone numbers. Of several, each phone column uses its own: shipping_phone uses shipping_country. */
  readonly country?: string | readonly string[] | undefined;
  /** Country of national phone numbers without one, as code or name; + if numbers only lack their plus. */ readonly defaultCountry?: string | undefined;
  /** Which value of a cell with several to use: first, last, or only (if all are the same). Default: such cells are invalid. */
  readonly fromList?: 'first' | 'last' | 'only' | undefined;
  /** The same as from_list, for IP addresses alone. */ readonly ipFromList?: 'first' | 'last' | 'only' | undefined;
  /** Treat cells with just this text as empty, as n/a and unknown are anyway. */ readonly empty?: string | readonly string[] | undefined;
  /** Write only these answer fields, such as ip.country,email.trust_score. */ readonly fields?: string | readonly string[] | undefined;
  /** Look up only rows where this is true, such as row.country == "US". */ readonly where?: string | undefined;
  /** Read only the first N records. */ readonly limit?: string | number | undefined;
  /** Maximum rate of calls, such as 20/s, 100/m, 5/h or unlimited; by operation: ip=50/s,email=10/s. Default: 20/s live, unlimited embedded. */
  readonly rate?: string | {readonly [Name in 'ip' | 'phone' | 'email' | 'verify']?: string} | undefined;
  /** Maximum of calls in flight, from 1 to 10000. Default: what the rate needs, 16 to 256; unlimited 64; a worker 16; a run with a fleet twice the sum of its workers. */
  readonly concurrency?: string | number | undefined;
  /** Maximum time for one call, from 100ms to 1h. Default: 30s. */ readonly timeout?: string | undefined;
  /** How often a value may be sent again after a call that may have been charged; 0 is never. Default: 2. */ readonly resends?: string | number | undefined;
  /** Maximum outage or Retry-After to wait for, up to 30d; see publishOn. Default: 15m. */ readonly maxOutage?: string | undefined;
  /** Redis of a fleet, whose workers make the calls of a run. Default: BULK_ENRICH_REDIS_URL. */ readonly fleet?: 'none' | (string & {}) | undefined;
  /** Credits of one call, such as 2 or ip=1,phone=2. rejected= and throttled= say if such calls are charged: free, spent, or maybe (not known). Default: 1; rejected=maybe,throttled=free. */
  readonly cost?: string | number | {
    readonly all?: string | number | undefined;
    readonly ip?: string | number | undefined;
    readonly phone?: string | number | undefined;
    readonly email?: string | number | undefined;
    readonly verify?: string | number | undefined;
    readonly rejected?: 'free' | 'maybe' | 'spent' | undefined;
    readonly throttled?: 'free' | 'maybe' | 'spent' | undefined;
  } | undefined;
  /** Maximum of credits for this run, all its sessions included. */ readonly maxCredits?: string | number | undefined;
  /** Make no calls after this: a length of time such as 2h, or a time of day such as 06:00 or "06:00 Europe/Berlin". */ readonly until?: string | undefined;
  /** Limits at which the run writes the whole output anyway (exit 3): budget, outage, deadline, with commas. At any other it stops, and can be resumed (exit 7 or 5). Default: none. */
  readonly publishOn?: 'budget' | 'outage' | 'deadline' | (string & {}) | readonly ('budget' | 'outage' | 'deadline')[] | undefined;
  /** Stop after more failed lookups than this (exit 4, state saved). A percentage counts from 100 lookups on. Unless this is 100%, 100 rejections in a row stop a run, too. */
  readonly maxErrors?: string | number | undefined;
  /** Exit with 4 after writing the output if this is true of the summary, such as risk.high > 500. */ readonly failIf?: string | readonly string[] | undefined;
  /** Directory of the answer store. Default: the user's cache directory. */ readonly store?: string | boolean | undefined;
  /** Maximum age of a stored answer; also ip=1d,phone=90d,rejected=7d. Default: ip=1d,phone=90d,email=30d,verify=30d,rejected=7d. */
  readonly maxAge?: string | {readonly [Name in 'ip' | 'phone' | 'email' | 'verify' | 'rejected']?: string} | undefined;
  /** If no call is possible (outage, deadline, budget), use answers up to this long past their age. */ readonly stale?: string | undefined;
  /** Make no calls: use stored answers, and skip all other values. Needs no key. Default: false. */ readonly offline?: boolean | undefined;
  /** Label of the account. Each has its own stored answers, and may have a file with its limits in ~/.config/bulk-enrich/accounts/. Default: default. */
  readonly account?: string | number | undefined;
  /** Stop before the first call (exit 9) if the answer store can't be used. Default: false. */ readonly requireStore?: boolean | undefined;
  /** The day for {date} in paths. Default: today, UTC. */ readonly date?: string | undefined;
  /** Rules of the risk score: default, none, or a YAML file. Default: default. */
  readonly score?: string | {
    readonly base?: 'default' | 'none' | undefined;
    readonly levels?: {readonly medium?: number | undefined; readonly high?: number | undefined} | undefined;
    readonly same_by?: string | undefined;
    readonly rules?: readonly ({
      readonly when: string;
      readonly add: number;
      readonly reason: string;
      readonly description?: string | undefined;
      readonly owner?: string | undefined;
      readonly shadow?: boolean | undefined;
    })[] | undefined;
    readonly shared_reasons?: readonly string[] | undefined;
    readonly tests?: readonly ({
      readonly name?: string | undefined;
      readonly row?: Readonly<Record<string, unknown>> | undefined;
      readonly answers?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
      readonly status?: Readonly<Record<string, 'ok' | 'empty' | 'invalid' | 'failed' | 'unknown' | 'skipped'>> | undefined;
      readonly error?: Readonly<Record<string, string>> | undefined;
      readonly shared?: Readonly<Record<string, number | Readonly<Record<string, number>>>> | undefined;
      readonly now?: string | undefined;
      readonly score?: number | null | undefined;
      readonly level?: 'low' | 'medium' | 'high' | 'unknown' | undefined;
      readonly reasons?: readonly string[] | undefined;
    })[] | undefined;
    readonly constants?: Readonly<Record<string, number | string | boolean>> | undefined;
    readonly lists?: Readonly<Record<string, readonly string[] | {readonly file: string}>> | undefined;
  } | undefined;
  /** File for the summary. Default: OUT.summary.json. */ readonly summary?: string | undefined;
  /** File for a report: an HTML page, or Markdown (.md). */ readonly report?: string | undefined;
  /** File for Prometheus metrics, for the node exporter's textfile collector (.prom). */ readonly metrics?: string | undefined;
  /** Health check to ping at the start (URL/start), on success (URL) or failure (URL/CODE). */ readonly pingUrl?: string | undefined;
  /** How much a named job's results may differ from its last runs before it warns, such as 10%. fail 10% also ends with exit 4. off compares nothing. Default: 10%. */
  readonly drift?: string | number | undefined;
}

/** Settings of a job, as in a job file, in camel case. */
export interface JobInput extends RunSettings {
  /** The input file, or several of them. */ readonly input: string | readonly string[];
  /** The output file. */ readonly output?: string | undefined;
  /** Read the first row as data; columns are column_1, column_2, … Default: true. */ readonly header?: boolean | undefined;
  /** The input's format: csv, tsv or ndjson. Default: by content. */ readonly inputFormat?: 'csv' | 'tsv' | 'ndjson' | undefined;
  /** The output's format: csv, tsv, ndjson, or csv-bom, which begins with a byte order mark for Excel. Default: by its name, else as the input. */
  readonly outputFormat?: 'csv' | 'tsv' | 'ndjson' | 'csv-bom' | undefined;
  /** Write nested fields side by side: in CSV as columns (user.name), in NDJSON the answers as fields of the row (ip_country). Default: false. */
  readonly flatten?: boolean | undefined;
  /** The delimiter of the input and the output. Default: by content. */ readonly delimiter?: string | undefined;
  /** Input encoding, such as windows-1252. auto: byte order mark, then UTF-8, then a confident guess. Default: auto. */
  readonly encoding?: 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be' | 'windows-1250' | 'windows-1251' | 'windows-1252' | 'windows-1253' | 'windows-1254' | 'windows-1255' | 'windows-1256' | 'windows-1257' | 'windows-1258' | 'windows-874' | 'iso-8859-1' | 'iso-8859-2' | 'iso-8859-5' | 'iso-8859-7' | 'iso-8859-9' | 'iso-8859-15' | 'koi8-r' | 'koi8-u' | 'macintosh' | 'cp437' | 'cp850' | 'cp852' | 'cp866' | 'shift_jis' | 'euc-jp' | 'gbk' | 'gb18030' | 'big5' | 'euc-kr' | undefined;
  /** Skip the first N lines of each CSV file, such as a title above the header. */ readonly skipLines?: string | number | undefined;
  /** Add empty fields to CSV rows that are too short. */ readonly padShortRows?: boolean | undefined;
  /** Columns to protect from running as spreadsheet formulas: answers, all (also the input's) or none. Default: answers. */
  readonly escapeFormulas?: 'answers' | 'all' | 'none' | undefined;
  /** Stop after more unreadable rows than this (exit 8). A percentage counts from 100 rows on. */ readonly maxRejects?: string | number | undefined;
  /** Directory for the state of the run, with a folder for each {date} of a job. Default: OUT.run. */ readonly state?: string | undefined;
  /** Begin a new count of credits, and look failed values up again. Answers are kept. Default: false. */ readonly restart?: boolean | undefined;
  /** Replace an existing output. Values that failed are looked up again. Default: false. */ readonly force?: boolean | undefined;
  /** File for rows that can't be read. Default: OUT.rejects.ndjson. */ readonly rejects?: string | undefined;
}
