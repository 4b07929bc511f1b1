import {stripVTControlCharacters} from 'node:util';

/** The command's exit codes: a contract that schedulers and scripts rely on. */
export const exitCodes = {
  ok: 0,
  internal: 1,
  usage: 2,
  incomplete: 3,
  limit: 4,
  temporary: 5,
  credentials: 6,
  credits: 7,
  input: 8,
  output: 9,
  state: 10,
  locked: 11,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * True if the output is in place and no limit was passed: complete (0), or with gaps that its summary tells (3). Metrics,
 * health checks and schedules all mean this by a success.
 */
export function isSuccess(exitCode: number): boolean {
  return exitCode === exitCodes.ok || exitCode === exitCodes.incomplete;
}

/** What the command that led here lacks. */
export interface Remedy {
  /** Flags that are added to it; one that it has already is replaced. */
  readonly flags?: readonly string[];
  /** What it should read instead of a file: the output of this command. */
  readonly pipe?: {readonly command: string; readonly input: string};
  /** A word that was mistyped, and what it should be; empty where it is too much. */
  readonly instead?: {readonly given: string; readonly meant: string} | undefined;
}

export type RemedyOptions = ErrorOptions & Remedy;

/** Settings, columns, rules or the environment are not right. */
// biome-ignore format: one code a line would hide the rest of the file
export type UsageCode =
  | 'base_url_insecure' | 'base_url_invalid' | 'account_file' | 'account_fleet' | 'account_settings' | 'account_syntax' | 'account_twice'
  | 'circular_when' | 'column_clash' | 'column_invalid'
  | 'column_unsure' | 'empty_variable' | 'expression' | 'fleet_packages' | 'fleet_refused'
  | 'fleet_secret' | 'foreign_link' | 'header_is_value' | 'is_directory' | 'job_columns' | 'job_endpoint'
  | 'job_file' | 'job_syntax' | 'key_command' | 'key_file' | 'metrics_address' | 'no_action' | 'no_columns'
  | 'no_directory' | 'no_endpoint' | 'no_file' | 'no_input' | 'no_key' | 'no_output' | 'no_redis'
  | 'no_rejects' | 'no_risk' | 'no_store' | 'not_a_value' | 'not_output' | 'output_compressed' | 'output_exists' | 'output_format' | 'own_files' | 'port'
  | 'proxy_invalid'
  | 'redis_certificate' | 'redis_eviction' | 'redis_password' | 'redis_url' | 'rejected_row'
  | 'rejects_exist' | 'row' | 'same_file' | 'sample' | 'sample_stdin' | 'score_file' | 'score_list'
  | 'score_rules' | 'score_syntax' | 'service_setup' | 'settings' | 'stdin_twice' | 'summary_exists'
  | 'timeout_invalid' | 'too_many_columns' | 'two_keys' | 'unknown_column' | 'unknown_command'
  | 'unknown_country' | 'unknown_field' | 'unknown_operation' | 'unknown_run' | 'unknown_shell';

/** What can be wrong with an input as a whole. */
export type InputCode =
  /** There is no such file. */
  | 'input_missing'
  /** It is there and can't be read: permissions, a directory, an I/O error. */
  | 'input_unreadable'
  /** It holds no bytes, or nothing but blank lines. */
  | 'input_empty'
  /** Its gzip or zstd data is cut off or damaged. */
  | 'input_corrupt'
  /** This Node can't decompress it. */
  | 'input_compression'
  /** It is a spreadsheet or another binary file. */
  | 'input_binary'
  /** It is HTML or XML. */
  | 'input_markup'
  /** Its header line can't be read. */
  | 'input_header'
  /** A title stands above its header. */
  | 'input_title'
  /** Nearly none of its rows can be read. */
  | 'input_rejected'
  /** Its header is another than the first input's. */
  | 'input_headers_differ'
  /** It is not what it was when the checkpoint was written. */
  | 'input_changed';

/** Something can't be written. */
// biome-ignore format: one code a line would hide the rest of the file
export type OutputCode =
  | 'account_pace' | 'history_unusable' | 'daily_budget' | 'no_directory' | 'output_unwritable' | 'publish_failed' | 'state_not_private'
  | 'state_unwritable' | 'store_unusable' | 'temporary_unwritable';

/** Saved state does not fit, or is damaged. */
// biome-ignore format: one code a line would hide the rest of the file
export type StateCode =
  | 'partial_short' | 'publish_lost' | 'settings_changed' | 'stale_stdin' | 'state_damaged'
  | 'state_version';

/** Why a run or an enricher ended before its rows did. */
// biome-ignore format: one code a line would hide the rest of the file
export type EndCode =
  | 'aborted' | 'budget' | 'certificate' | 'closed' | 'credentials' | 'credits' | 'deadline' | 'declined' | 'drift'
  | 'fail_if' | 'fleet_unreachable' | 'internal' | 'interrupted' | 'locked' | 'max_errors' | 'max_rejects'
  | 'outage' | 'proxy' | 'redirect' | 'refused' | 'signal';

/** Every code of a {@link BulkEnrichError}. */
export type ErrorCode = UsageCode | InputCode | OutputCode | StateCode | EndCode;

/** Base of all errors that this package throws on purpose; the message never holds a key or a value from a row. */
export abstract class CodedError extends Error {
  /** A stable, machine-readable name for the cause. */
  readonly code: string;
  /** The exit code that the command ends with. */
  readonly exitCode: ExitCode;
  /** What it would take for the same command to work. */
  readonly remedy: Remedy;

  constructor(code: string, exitCode: ExitCode, message: string, options?: RemedyOptions) {
    super(oneLine(message), options);
    const {flags, pipe, instead} = options ?? {};
    this.remedy = {...(flags && {flags}), ...(pipe && {pipe}), ...(instead && {instead})};
    this.name = new.target.name;
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** A text as one line. Texts of files, libraries and services are quoted in messages, and may hold anything. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

/**
 * An error that ends a run, or keeps it from starting. (A failed lookup is a value instead.) The message says what is
 * wrong, where, and what to do.
 */
export class BulkEnrichError extends CodedError {
  declare readonly code: ErrorCode;

  constructor(code: ErrorCode, exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(code, exitCode, message, options);
  }
}

/** Wrong usage or configuration. The run does not start, and sends nothing. Exit 2. */
export class UsageError extends BulkEnrichError {
  constructor(code: UsageCode, message: string, options?: RemedyOptions) {
    super(code, exitCodes.usage, message, options);
  }
}

/** The output, the state or their directory can't be written. The run stops; what was saved before stays. Exit 9. */
export class OutputError extends BulkEnrichError {
  constructor(code: OutputCode, message: string, options?: ErrorOptions) {
    super(code, exitCodes.output, message, options);
  }
}

/** The saved state does not fit this run, or is damaged. The run does not start, and nothing was sent. Exit 10. */
export class StateError extends BulkEnrichError {
  declare readonly code: StateCode;

  constructor(code: StateCode, message: string, options?: ErrorOptions) {
    super(code, exitCodes.state, message, options);
  }
}

/** Another run holds the lock on this output. The run does not start, and sends nothing. Exit 11. */
export class LockedError extends BulkEnrichError {
  constructor(message: string, options?: ErrorOptions) {
    super('locked', exitCodes.locked, message, options);
  }
}

/** The system's code of an I/O error (`ENOSPC`); its message if it has no code. */
export function systemCode(error: unknown): string {
  if (error instanceof Error) return (error as NodeJS.ErrnoException).code ?? error.message;
  return String(error);
}

/** Meanings of the codes that users meet. */
const inWords: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'it is no database',
  ENOSPC: 'no space left',
  EDQUOT: 'the quota is used up',
  EACCES: 'no permission',
  EPERM: 'not permitted',
  EROFS: 'a read-only file system',
  ENOENT: 'there is no such file or directory',
  EEXIST: 'a file has its name',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  EMFILE: 'too many open files',
  EIO: 'the device failed',
  ENXIO: 'nothing is at its other end',
  EAGAIN: 'its reader takes nothing',
};

/** The system's code of an I/O error with what it means: `ENOSPC, no space left`. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  return Object.hasOwn(inWords, code) ? `${code}, ${inWords[code]}` : code;
}
