/**
 * When an error code occurs, and what to do: one row of docs/errors.md. That page is generated from these tables,
 * so the texts are Markdown. An empty advice: the message itself names the place to fix.
 */
type ErrorRow = readonly [when: string, advice: string];
type ErrorTable = Readonly<Record<string, ErrorRow>>;

/** Settings, columns, rules or the environment are wrong. Exit 2. */
export const usageCodes = {
  account_file: ['an account file can’t be read', ''],
  account_fleet: [
    'the account limits the rate, and a fleet’s job has a rate for each operation',
    'give it one `--rate`',
  ],
  account_missing: [
    'the endpoint has account files, but none for the job’s account',
    'use the label of one, or write a file',
  ],
  account_settings: ['an account file has a wrong setting', ''],
  account_syntax: ['an account file is not valid YAML', ''],
  account_twice: ['two files describe one account', 'keep one'],
  base_url_insecure: ['`http://` would send the key unencrypted', 'use `https://`'],
  base_url_invalid: ['`BULK_ENRICH_BASE_URL` or `--endpoint` is not a valid URL', ''],
  circular_when: ['lookups wait for each other', 'remove a `when`'],
  column_clash: [
    'the output would have a column twice',
    'use `--ip COLUMN=prefix_`, or rename the input’s column',
  ],
  column_invalid: ['nearly none of a column’s first values can be looked up', 'name another'],
  column_unsure: ['no column is certain', 'copy the command from the message, less the unwanted columns'],
  empty_variable: ['a variable that the job uses is empty', 'set or unset it'],
  expression: ['a condition is not valid', 'see [scoring.md](scoring.md#write-rules)'],
  fleet_packages: ['the packages for fleets are missing', 'run `npm install bullmq ioredis`'],
  file_exists: [
    'a file that no run wrote is in the way of a summary, report, metrics or rejects',
    'use another path',
  ],
  fleet_refused: ['a fleet’s members differ in settings or [protocol](fleet.md#upgrade-the-fleet)', ''],
  fleet_secret: ['a fleet has no secret to encrypt with', 'set the same `BULK_ENRICH_API_KEY` everywhere'],
  foreign_link: ['a path is a link that another user could replace', 'name the file itself'],
  header_is_value: ['the first line looks like data', 'add `--no-header`'],
  is_directory: ['a path is a directory, not a file', ''],
  job_columns: ['a job file names no column', 'add `ip`, `phone`, `email` or `verdict`'],
  job_endpoint: ['a job file names no endpoint', 'add `endpoint: live`'],
  job_file: ['the job file can’t be read', ''],
  job_syntax: ['the job file is not valid YAML', ''],
  key_command: ['`BULK_ENRICH_API_KEY_COMMAND` fails or prints nothing', 'run it by hand'],
  key_file: ['`BULK_ENRICH_API_KEY_FILE` can’t be read or is empty', ''],
  metrics_address: ['a worker can’t listen at `--metrics-address`', 'use another'],
  no_action: ['a verdict has no action', 'add `action=ID`, or set `BULK_ENRICH_ACTION_ID`'],
  no_bad_rows: ['`--bad` holds for no row', ''],
  no_columns: ['no column holds values to look up', 'add `--ip`, `--phone`, `--email` or `--verdict`'],
  no_directory: ['a directory is missing', 'make it'],
  no_endpoint: ['no service is named', 'set `BULK_ENRICH_BASE_URL`, or add `--endpoint embedded`'],
  no_file: ['a path is `-`, a pipe, a socket or a disk, not a file', ''],
  no_input: ['no list is named', 'name one; `-` is stdin'],
  key_variable: ['`BULK_ENRICH_API_KEY` holds more than the key, such as quotes', ''],
  no_key: ['a live service needs a key', 'set `BULK_ENRICH_API_KEY` or `BULK_ENRICH_API_KEY_FILE`'],
  no_output: ['several lists, or stdin, need a named output', 'add `-o OUT`'],
  no_redis: ['a worker needs a Redis', 'add `--redis`, or set `BULK_ENRICH_REDIS_URL`'],
  no_rejects: ['the file has no rejected rows', 'name an `OUT.rejects.ndjson`'],
  no_risk: ['the row has no risk to explain', 'name an output with a score'],
  no_store: ['a setting needs the answer store, another turns it off', ''],
  not_a_value: ['the value to purge is not valid', 'a national number needs `--default-country`'],
  not_output: ['the file does not end with a run’s columns', 'name an output of `run`'],
  output_compressed: ['this Node can’t write that compression', 'use `.gz`, or a newer Node'],
  output_exists: ['the output exists already', 'add `--force`, or use another `-o`'],
  output_format: ['the output’s name asks for an impossible format', 'use a name from the message'],
  own_files: ['a pattern matches only files that the job writes', ''],
  port: ['`serve` can’t listen at this `--port`', 'use another'],
  proxy_invalid: [
    '`HTTPS_PROXY` or `ALL_PROXY` is not an HTTP proxy’s URL, or a `NO_PROXY` entry is not understood',
    'use `http://HOST:PORT`',
  ],
  redis_certificate: ['the certificate of Redis can’t be trusted', 'set `NODE_EXTRA_CA_CERTS`'],
  redis_eviction: ['a full Redis would drop data', 'set `maxmemory-policy noeviction`'],
  redis_password: [
    'a Redis password is on the command line, or wrong',
    'put the URL into `BULK_ENRICH_REDIS_URL`',
  ],
  redis_url: ['the URL of Redis is not valid', 'use `redis://HOST:PORT`'],
  rejected_row: ['the row to explain could not be read', ''],
  row: ['`--row` is not a number from 1', ''],
  same_file: ['two of a run’s files are the same', ''],
  score_file: ['the file of rules can’t be read', ''],
  score_list: ['a list that rules name can’t be read', ''],
  score_rules: ['the rules have a wrong setting', ''],
  score_syntax: ['the file of rules is not valid YAML', ''],
  service_setup: ['the embedded service’s sessions or rules are wrong', ''],
  settings: ['a setting or an option is wrong', ''],
  stdin_twice: ['`-` is named twice', ''],
  summary_exists: ['the summary’s file belongs to another output', 'use another `--summary` and `--rejects`'],
  timeout_invalid: ['a client’s timeout is out of bounds', 'use 1 ms to an hour'],
  too_many_columns: ['`--flatten` would make thousands of columns', ''],
  two_keys: ['the key and its file are both set', 'unset one'],
  unknown_column: ['the list has no such column', 'use the nearest, in the message'],
  unknown_command: ['the command does not exist', ''],
  unknown_country: ['the country for `store purge` is not known', ''],
  unknown_field: ['`--fields` names a field that [no answer](fields.md) has', ''],
  unknown_operation: ['the operation is not ip, phone or email', ''],
  unknown_run: ['no run’s identifier begins like this', 'see `bulk-enrich runs`'],
} as const satisfies ErrorTable;

/** The input as a whole is wrong. Exit 8. */
export const inputCodes = {
  input_binary: ['the list is a spreadsheet or another binary file', 'save it as CSV'],
  input_changed: [
    'another program wrote to the list each time that it was read',
    'wait, or rename it into place; answers are kept',
  ],
  input_compression: ['this Node can’t decompress the list', 'use the pipe from the message'],
  input_corrupt: ['compressed data is cut off or damaged', 'get the file again'],
  input_empty: ['the list is empty', ''],
  input_header: ['the header can’t be read', 'fix its quotes, or add `--delimiter`'],
  input_headers_differ: ['lists of one run have different headers', 'make one run for each'],
  input_markup: ['the list is HTML, XML, SQL, vCards or a drawn table', 'save it as CSV'],
  input_missing: ['the list does not exist', ''],
  input_rejected: [
    'nearly none of the first rows can be read',
    'check delimiter and encoding; `--max-rejects 100%` continues anyway',
  ],
  input_title: ['a title or a line of groups is above the header', 'add the `--skip-lines N` of the message'],
  input_wide: ['the list has over 16,384 columns, or over 100 to look up', 'name those to look up'],
  input_unreadable: ['the list can’t be read, or is a directory', ''],
} as const satisfies ErrorTable;

/** A file can't be written, or a database of the program can't be used. Exit 9. */
export const outputCodes = {
  daily_budget: [
    'the file that counts an account’s credits can’t be used',
    'fix the cause; nothing is sent without it',
  ],
  history_unusable: ['the folder `runs` can’t be read', ''],
  no_directory: usageCodes.no_directory,
  output_unwritable: ['the output can’t be written', 'fix the cause, run again'],
  publish_failed: [
    'the finished output can’t be put in place',
    'fix the cause, run again: no calls are made',
  ],
  state_not_private: ['other users could have changed the state', 'do what the message says'],
  state_unwritable: ['the state can’t be written', 'fix the cause, run again'],
  store_unusable: ['the job requires the answer store, which can’t be used', 'fix the cause'],
  temporary_unwritable: ['the directory for temporary files can’t be written', 'set another `TMPDIR`'],
} as const satisfies ErrorTable;

/** Saved state does not fit this run, or is damaged. Exit 10. */
export const stateCodes = {
  other_output: [
    'the state is of an unfinished run with another output',
    'finish that, or use another `--state`',
  ],
  publish_lost: ['the files to put in place were moved or removed during the run', 'bring them back'],
  state_damaged: ['the saved state is damaged', 'add `--restart`; stored answers are not paid for again'],
  state_version: ['another version wrote the state', 'finish with that version, or add `--restart`'],
} as const satisfies ErrorTable;

/** A command or a run ended early, or its results exceed a limit. A code's third text is the exit code. */
export const endCodes = {
  aborted: ['the library’s caller aborted it', 'start it again: answers are kept', '130'],
  budget: ['the credit limit is reached', 'raise it; the last line says how far, if known', '7'],
  certificate: [
    'the service’s certificate can’t be trusted',
    'check the URL, or set `NODE_EXTRA_CA_CERTS`',
    '2',
  ],
  credentials: [
    'the service refuses the key (401), every value or ten in a row (403), or the first ten session tokens (`invalid_token`)',
    'fix the key or its rights; if it is right, check the tokens',
    '6',
  ],
  credits: ['the account has no credits left', 'buy some and run again', '7'],
  deadline: ['the time limit is reached', 'run again', '5'],
  declined: ['you answered no before the first spend', '`--yes` skips the question', '130'],
  drift: [
    'results differ from the last runs’, with `drift: fail 10%`',
    'see `drift` in the summary; the output is in place',
    '4',
  ],
  fail_if: ['a `fail_if` holds', 'see the summary; the output is in place', '4'],
  fleet_unreachable: ['Redis can’t be reached', 'run again when it can', '5'],
  internal: ['the program has a fault', 'report it; the same command resumes', '1'],
  locked: ['another run is writing this output', 'wait for it', '11'],
  max_errors: [
    'more lookups failed than `--max-errors` allows',
    'see `errors` in the summary, then run again',
    '4',
  ],
  max_rejects: ['more rows can’t be read than `--max-rejects` allows', 'check delimiter and encoding', '8'],
  outage: [
    'the service was away for longer than `--max-outage`, or all values left have used their `--resends`',
    'run again after the time in the message',
    '5',
  ],
  proxy: [
    'the proxy refuses the credentials, or needs some (407)',
    'set `HTTPS_PROXY` to `http://USER:PASSWORD@HOST:PORT`',
    '2',
  ],
  redirect: ['the service redirects, which is never followed', 'fix `BULK_ENRICH_BASE_URL`', '2'],
  refused: [
    'the service rejected all calls without a code of their own, the first ten of an operation, or a hundred in a row',
    'check the account, the base URL and the columns, then run again',
    '2',
  ],
  signal: ['you pressed Ctrl-C, or the system stopped the run', 'run again', '130, 143'],
} as const satisfies Readonly<Record<string, readonly [...ErrorRow, exit: string]>>;
