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
 * Base of every error that this package throws on purpose. It ends the run; a failed lookup is a value instead.
 * The message says what is wrong, where, and what to do; it never holds a key or a value from a row.
 */
export class BulkEnrichError extends Error {
  /** A stable, machine-readable name for the cause, such as `unknown_column`. */
  readonly code: string;
  /** The exit code that the command ends with. */
  readonly exitCode: ExitCode;

  constructor(code: string, exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(oneLine(message), options);
    this.name = new.target.name;
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** A text as one line: what files, libraries and services say is quoted in sentences, and may hold anything. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

/** Wrong usage or configuration. The run does not start, and nothing was sent. Exit 2. */
export class UsageError extends BulkEnrichError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, exitCodes.usage, message, options);
  }
}

/** The output, the state or their directory can't be written. The run stops; what was saved before stays. Exit 9. */
export class OutputError extends BulkEnrichError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, exitCodes.output, message, options);
  }
}

/** The saved state does not fit this run, or is damaged. The run does not start, and nothing was sent. Exit 10. */
export class StateError extends BulkEnrichError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, exitCodes.state, message, options);
  }
}

/** Another run holds the lock on this output. The run does not start, and nothing was sent. Exit 11. */
export class LockedError extends BulkEnrichError {
  constructor(message: string, options?: ErrorOptions) {
    super('locked', exitCodes.locked, message, options);
  }
}

/** The system's code of an I/O error (`ENOSPC`), or its message where it has none. */
export function systemCode(error: unknown): string {
  if (error instanceof Error) return (error as NodeJS.ErrnoException).code ?? error.message;
  return String(error);
}

/** What the codes that users meet mean. */
const inWords: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left',
  EDQUOT: 'the quota is used up',
  EACCES: 'no permission',
  EPERM: 'not permitted',
  EROFS: 'a read-only file system',
  ENOENT: 'there is no such file or directory',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  EMFILE: 'too many open files',
  EIO: 'the device failed',
};

/** The system's code of an I/O error with what it means: `ENOSPC, no space left`. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  return Object.hasOwn(inWords, code) ? `${code}, ${inWords[code]}` : code;
}
