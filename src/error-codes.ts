/**
 * When an error code occurs, and what to do: one row of docs/errors.md. That page is generated from these tables,
 * so the texts are Markdown.
 */
type ErrorRow = readonly [when: string, advice: string];
type ErrorTable = Readonly<Record<string, ErrorRow>>;

/** Settings, columns, rules or the environment are wrong. Exit 2. */
export const usageCodes = {
  account_file: ['an account file can’t be read', 'make the file readable'],
  account_fleet: [
    'the account limits the rate, and the job gives operations in a fleet rates of their own',
    'give the job one `--rate`',
  ],
  account_missing: [
    'the endpoint has account files, but none for the job’s account',
    'use the label of one of them, or write a file for this account',
  ],
  account_settings: ['an account file has a wrong setting', 'fix the line that the message names'],
  account_syntax: ['an account file is not valid YAML', 'fix the line that the message names'],
  account_twice: ['two files describe one account', 'keep one of them'],
  base_url_insecure: ['an `http://` URL would send the key to another machine unencrypted', 'use `https://`'],
  base_url_invalid: ['the base URL is not valid', 'fix `BULK_ENRICH_BASE_URL` or `--endpoint`'],
  circular_when: ['lookups wait for each other', 'remove one of their `when`'],
  column_clash: [
    'the output would have a column twice',
    'use `--ip COLUMN=prefix_`, or rename the input’s column',
  ],
  column_invalid: ['nearly all of a column’s first values can’t be looked up', 'name another column'],
  column_unsure: [
    'it is not certain which columns to look up',
    'copy the command from the message; remove the columns you don’t want, and replace `COUNTRY` by the country of the phone numbers',
  ],
  empty_variable: ['an environment variable that the job uses is set but empty', 'set it or unset it'],
  expression: [
    'a condition is not valid',
    'fix the place that the message shows; [scoring.md](scoring.md) describes the language',
  ],
  fleet_packages: ['the packages for fleets are not installed', 'run `npm install bullmq ioredis`'],
  file_exists: [
    'a file that no run wrote is where a run would write its summary, report, metrics or rejected rows',
    'use another path, or move the file',
  ],
  fleet_refused: [
    'a fleet’s members differ in something that must be the same',
    'give them the same settings, and versions of [one protocol](fleet.md#upgrade-the-fleet)',
  ],
  fleet_secret: ['a fleet has no secret to encrypt with', 'set the same `BULK_ENRICH_API_KEY` everywhere'],
  foreign_link: ['a path is a link that another user made or could replace', 'name the file itself'],
  header_is_value: ['the first line looks like data', 'add `--no-header`'],
  is_directory: ['a path is a directory where a file is needed', 'name a file'],
  job_columns: ['a job file names no column', 'add `ip`, `phone`, `email` or `verdict`'],
  job_endpoint: ['a job file names no endpoint', 'add `endpoint: live`'],
  job_file: ['the job file can’t be read', 'check its name'],
  job_syntax: ['the job file is not valid YAML', 'fix the line that the message names'],
  key_command: [
    'the command that prints the key fails or prints nothing',
    'run the command in `BULK_ENRICH_API_KEY_COMMAND` by hand',
  ],
  key_file: ['the key’s file can’t be read or is empty', 'check `BULK_ENRICH_API_KEY_FILE`'],
  metrics_address: ['a worker can’t listen at the address for metrics', 'use another address'],
  no_action: [
    'a verdict has no action',
    'use `--verdict token=COLUMN,action=ID`, or set `BULK_ENRICH_ACTION_ID`',
  ],
  no_bad_rows: ['`--bad` holds for no row', 'check its column and value'],
  no_columns: [
    'no column holds values to look up',
    'name a column: `--ip`, `--phone`, `--email` or `--verdict`',
  ],
  no_directory: ['a directory is missing', 'make it'],
  no_endpoint: ['no service is named', 'set `BULK_ENRICH_BASE_URL`, or add `--endpoint embedded`'],
  no_file: ['a path is `-`, a named pipe, a socket or a disk where a file is needed', 'name a file'],
  no_input: ['no list is named', 'name one; `-` is stdin'],
  key_variable: [
    '`BULK_ENRICH_API_KEY` holds more than the key: a name, quotes, or several lines',
    'set it to the key alone',
  ],
  no_key: ['a live service needs a key', 'set `BULK_ENRICH_API_KEY` or `BULK_ENRICH_API_KEY_FILE`'],
  no_output: ['several lists, or stdin, need a named output', 'add `-o OUT`'],
  no_redis: ['a worker needs a Redis', 'add `--redis`, or set `BULK_ENRICH_REDIS_URL`'],
  no_rejects: ['the file has no rejected rows', 'name a run’s `OUT.rejects.ndjson`'],
  no_risk: ['the row has no risk to explain', 'name an output that was written with a score'],
  no_store: ['some settings need the answer store, and another one turns it off', 'choose one'],
  not_a_value: [
    'the value to purge is not valid',
    'check it; a number in national form needs `--default-country`',
  ],
  not_output: ['the file does not end with a run’s columns', 'name an output of `run`'],
  output_compressed: ['this Node can’t write that compression', 'use `.gz`, or a newer Node'],
  output_exists: ['the output exists already', 'add `--force`, or use another `-o`'],
  output_format: [
    'the output’s name asks for a format that can’t be written',
    'use a name that the message offers',
  ],
  own_files: [
    'a pattern matches only files that the job writes',
    'use a narrower pattern, or another directory for outputs',
  ],
  port: ['`serve` can’t listen at this port', 'use another `--port`'],
  proxy_invalid: [
    '`HTTPS_PROXY` or `ALL_PROXY` is not the URL of an HTTP proxy (others, such as `socks5://…`, are not supported), or an entry of `NO_PROXY` is not understood',
    'use `http://HOST:PORT`, or add the service’s host to `NO_PROXY`',
  ],
  redis_certificate: [
    'the certificate of Redis can’t be trusted',
    'name its authority in `NODE_EXTRA_CA_CERTS`',
  ],
  redis_eviction: ['Redis would drop data when its memory is full', 'set `maxmemory-policy noeviction`'],
  redis_password: [
    'a Redis password is on the command line, or is wrong',
    'put the whole URL into `BULK_ENRICH_REDIS_URL`',
  ],
  redis_url: ['the URL of Redis is not valid', 'use `redis://HOST:PORT`'],
  rejected_row: ['the row to explain could not be read', 'look it up in the file of rejected rows'],
  row: ['`--row` is not a number', 'give a row’s number, from 1'],
  same_file: ['two of a run’s files are the same file', 'name another one'],
  score_file: ['the file of rules can’t be read', 'check its name'],
  score_list: ['a list that rules name can’t be read', 'check its name'],
  score_rules: ['the rules have a wrong setting', 'fix the line that the message names'],
  score_syntax: ['the file of rules is not valid YAML', 'fix the line that the message names'],
  service_setup: [
    'the embedded service can’t start with its sessions or rules',
    'fix the file that the message names',
  ],
  settings: ['a setting or an option is wrong', 'fix the flag or line that the message names'],
  stdin_twice: ['`-` is named twice', 'name it once'],
  summary_exists: ['the summary’s file belongs to another output', 'use another `--summary` and `--rejects`'],
  timeout_invalid: ['a client’s timeout is out of bounds', 'use 1 ms to an hour'],
  too_many_columns: ['`--flatten` would make thousands of columns', 'leave it out'],
  two_keys: ['the key and its file are both set', 'unset one of them'],
  unknown_column: ['the list has no such column', 'use the nearest name, which the message has'],
  unknown_command: ['the command does not exist', 'use the nearest name, which the message has'],
  unknown_country: ['the country for `store purge` is not known', 'use a name, or a code such as DE'],
  unknown_field: ['`--fields` names a field that no answer has', 'use a name from [fields.md](fields.md)'],
  unknown_operation: ['the operation does not exist', 'use ip, phone or email'],
  unknown_run: ['no run’s identifier begins like this', 'list them with `bulk-enrich runs`'],
} as const satisfies ErrorTable;

/** The input as a whole is wrong. Exit 8. */
export const inputCodes = {
  input_binary: ['the list is a spreadsheet or another binary file', 'save it as CSV'],
  input_changed: [
    'another program wrote to the list, each time that it was read',
    'wait until it is complete, or put it in place by renaming it; answers are kept',
  ],
  input_compression: ['this Node can’t decompress the list', 'use the pipe from the message'],
  input_corrupt: ['compressed data is cut off or damaged', 'get the file again'],
  input_empty: ['the list is empty', 'check the export'],
  input_header: ['the header can’t be read', 'fix its quotes, or add `--delimiter`'],
  input_headers_differ: ['the lists of one run have different headers', 'make one run for each'],
  input_markup: [
    'the list is HTML, XML, SQL, vCards or a drawn table',
    'save it as CSV; if it is a login page, download the list again',
  ],
  input_missing: ['the list does not exist', 'check its name'],
  input_rejected: [
    'nearly none of the first rows can be read',
    'check delimiter and encoding; `--max-rejects 100%` continues anyway',
  ],
  input_title: [
    'a title, or a line that names groups of columns, is above the header',
    'add `--skip-lines N` from the message',
  ],
  input_wide: [
    'the list has more than 16,384 columns, or more than 100 to look up',
    'leave columns out, or name those to look up',
  ],
  input_unreadable: [
    'the list exists but can’t be read',
    'check its permissions, and that it is not a directory',
  ],
} as const satisfies ErrorTable;

/** A file can't be written, or a database of the program can't be used. Exit 9. */
export const outputCodes = {
  daily_budget: [
    'the file that counts a day’s or month’s credits can’t be used',
    'fix the cause; nothing is sent without that count',
  ],
  history_unusable: ['the folder `runs` can’t be read', 'fix the cause that the message names'],
  no_directory: usageCodes.no_directory,
  output_unwritable: ['the output can’t be written', 'fix the cause, then run the same command again'],
  publish_failed: [
    'the finished output can’t be put in place',
    'fix the cause, then run the same command again: it makes no calls',
  ],
  state_not_private: ['other users could have changed the state', 'do what the message says'],
  state_unwritable: ['the state can’t be written', 'fix the cause, then run the same command again'],
  store_unusable: ['the answer store can’t be used, and the job requires it', 'fix the cause'],
  temporary_unwritable: ['the directory for temporary files can’t be written', 'set `TMPDIR` to another one'],
} as const satisfies ErrorTable;

/** Saved state does not fit this run, or is damaged. Exit 10. */
export const stateCodes = {
  other_output: [
    'the state is of an unfinished run with another output',
    'finish that run, or add another `--state`',
  ],
  publish_lost: [
    'the files to put in place are missing: their directory was moved or removed during the run',
    'bring them back; without them, only the answer store knows what was paid for',
  ],
  state_damaged: [
    'the saved state is damaged',
    'add `--restart`; answers in the store are not paid for again',
  ],
  state_version: [
    'the state is of another version',
    'finish it with the program that began it, or add `--restart`',
  ],
} as const satisfies ErrorTable;

/** A command or a run ended early, or its results exceed a limit. A code's third text is the exit code. */
export const endCodes = {
  aborted: ['the library’s caller aborted it', 'start it again: answers are kept', '130'],
  budget: [
    'the credit limit is reached',
    'raise it; the last line has the limit that all rows need, if it is known',
    '7',
  ],
  certificate: [
    'the service’s certificate can’t be trusted',
    'check the URL, or name the authority in `NODE_EXTRA_CA_CERTS`',
    '2',
  ],
  credentials: [
    'the service refuses the key (401), every value of a run (403), ten values in a row (403) or the first ten session tokens (`invalid_token`)',
    'fix the key and what it may do, then run again; if the key is right, check the tokens',
    '6',
  ],
  credits: ['the account has no credits left', 'buy some and run again', '7'],
  deadline: ['the time limit is reached', 'run again', '5'],
  declined: [
    'you answered no to the question before the first spend',
    'to run without it: `--max-credits`, or `--yes`',
    '130',
  ],
  drift: [
    'the results differ from the last runs’, and the job has `drift: fail 10%`',
    'look at `drift` in the summary; the output is in place',
    '4',
  ],
  fail_if: ['a `fail_if` holds', 'look at the summary; the output is in place', '4'],
  fleet_unreachable: ['Redis can’t be reached', 'run again when it can', '5'],
  internal: ['the program has a fault', 'report it; the same command resumes', '1'],
  locked: ['another run is writing this output', 'wait for it', '11'],
  max_errors: [
    'more lookups failed than `--max-errors` allows',
    'look at `errors` in the summary, then run again',
    '4',
  ],
  max_rejects: [
    'more rows can’t be read than `--max-rejects` allows',
    'check file, delimiter and encoding',
    '8',
  ],
  outage: [
    'the service was away for longer than `--max-outage`, or all values that are left were sent as often as `--resends` allows',
    'run again, not before the time in the message',
    '5',
  ],
  proxy: [
    'the proxy refuses the credentials, or needs some (407)',
    'set `HTTPS_PROXY` to `http://USER:PASSWORD@HOST:PORT`, and run again',
    '2',
  ],
  redirect: [
    'the service answered with a redirect, which is never followed',
    'fix `BULK_ENRICH_BASE_URL`',
    '2',
  ],
  refused: [
    'the service rejected all calls of a run without a code of their own, the first ten of an operation, or a hundred in a row later',
    'check the account, `BULK_ENRICH_BASE_URL` and the columns, then run again: it begins a new run, and uses the answers already paid for',
    '2',
  ],
  signal: ['you pressed Ctrl-C, or the system stopped the run', 'run again', '130, 143'],
} as const satisfies Readonly<Record<string, readonly [...ErrorRow, exit: string]>>;
