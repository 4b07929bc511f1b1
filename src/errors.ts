import {stripVTControlCharacters, types} from 'node:util';
import type codes from './codes.json';
import type {Summary} from './report/summary.ts';
import {formatForLibrary, type Said} from './sentence.ts';

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

/** True if the output is in place, complete (0) or with gaps (3): success for metrics, health checks and schedules. */
export function isSuccess(exitCode: number): boolean {
  return exitCode === exitCodes.ok || exitCode === exitCodes.incomplete;
}

/** The settings that fix a failed command. */
export interface Remedy {
  /** The settings to add, as flags. One that the command has already gets this value, or also this one if it takes several. */
  readonly flags?: readonly string[];
  /** A command whose output is piped into the run, and the file (`input`) that it reads in place of the run. */
  readonly pipe?: {readonly command: string; readonly input: string};
  /** True if the settings may buy answers that the user does not want: they are offered with `plan`, which sends nothing. */
  readonly isDoubtful?: boolean;
}

export type RemedyOptions = ErrorOptions & Remedy;

/** Codes by the exit that they cause. src/codes.json has the texts of all codes: a meaning, and what to do. */
export type UsageCode = keyof typeof codes.usage;
export type InputCode = keyof typeof codes.input;
export type OutputCode = keyof typeof codes.output;
export type StateCode = keyof typeof codes.state;
export type EndCode = keyof typeof codes.end;

/** Every code of a {@link BulkEnrichError}. */
export type ErrorCode = UsageCode | InputCode | OutputCode | StateCode | EndCode;

/** Base of all errors that this package throws on purpose. The message has no API key and no value of a row. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** A stable, machine-readable name for the cause. */
  readonly code: Code;
  /** The exit code that the command ends with. */
  readonly exitCode: ExitCode;
  /** @internal The settings that make the same command work. */
  readonly remedy: Remedy;
  readonly #said: Said;

  /** @internal */
  constructor(code: Code, exitCode: ExitCode, message: Said, options?: RemedyOptions) {
    super(toOneLine(String(message)), options);
    this.#said = message;
    const {cause: _, ...remedy} = options ?? {};
    this.remedy = remedy;
    this.name = new.target.name;
    this.code = code;
    this.exitCode = exitCode;
  }

  /** @internal The message, with settings apart from its words. */
  get said(): Said {
    return this.#said;
  }
}

/** Makes the message of a {@link CodedError} name settings as code does, instead of flags. Returns the error. */
export function rewordForLibrary(error: unknown): unknown {
  if (!(error instanceof CodedError)) return error;
  const before = error.message;
  error.message = toOneLine(formatForLibrary(error.said));
  if (error.stack !== undefined) error.stack = error.stack.replace(before, () => error.message);
  return error;
}

/** A text as one line: messages quote texts that may contain control characters. */
export function toOneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

/** An error that ends a run, or keeps it from starting: what is wrong, where, and what to do. */
export class BulkEnrichError extends CodedError<ErrorCode> {
  /** The summary of the run that the library ended with this error; undefined if that run could not start. */
  declare readonly summary?: Summary;
}

/** Wrong usage or configuration. The run does not start, or stops if its fleet's settings change later. Exit 2. */
export class UsageError extends BulkEnrichError {
  constructor(code: UsageCode, message: Said, options?: RemedyOptions) {
    super(code, exitCodes.usage, message, options);
  }
}

/** The output, the state or another file can't be written. The run stops; what was saved before stays. Exit 9. */
export class OutputError extends BulkEnrichError {
  constructor(code: OutputCode, message: Said, options?: ErrorOptions) {
    super(code, exitCodes.output, message, options);
  }
}

/** The saved state does not fit this run, is damaged, or was lost. The run does not start, or stops. Exit 10. */
export class StateError extends BulkEnrichError {
  declare readonly code: StateCode;

  constructor(code: StateCode, message: Said, options?: ErrorOptions) {
    super(code, exitCodes.state, message, options);
  }
}

/** Another run holds the lock on this output. The run does not start, and sends nothing. Exit 11. */
export class LockedError extends BulkEnrichError {
  constructor(message: Said) {
    super('locked', exitCodes.locked, message);
  }
}

/** SQLite's basic error codes: the low byte of extended ones, which the driver may report without a name. */
const sqliteCodes: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  14: 'SQLITE_CANTOPEN',
};

/** True also for errors of Node.js in Jest, which gives a test's modules another class `Error`. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

/** The code of an error of the system or of SQLite (`ENOSPC`); its message if it has no code. */
export function systemCode(error: unknown): string {
  if (!isError(error)) return String(error);
  const {code: given, rawCode = 0} = error as NodeJS.ErrnoException & {readonly rawCode?: number};
  // A DOMException, such as the reason of an aborted signal, has a number.
  const code = typeof given === 'string' ? given : undefined;
  const named = code?.startsWith('UNKNOWN_SQLITE') ? sqliteCodes[rawCode & 0xff] : undefined;
  return named || code || error.message || error.name;
}

/** Meanings of the codes that users meet. */
const inWords: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'another program has locked it',
  SQLITE_CANTOPEN: 'it can not be opened',
  SQLITE_CORRUPT: 'damaged',
  SQLITE_FULL: 'no space left',
  SQLITE_IOERR: 'the device failed',
  SQLITE_NOTADB: 'not a database',
  SQLITE_READONLY: 'read-only',
  ENOSPC: 'no space left',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'a read-only file system',
  ENOENT: 'no such file or directory',
  EEXIST: 'a file of this name exists',
  EISDIR: 'a directory',
  ENOLCK: 'its file system has no locks',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is not a directory',
  EMFILE:
    'too many open files: the limit is ulimit -Hn, or LimitNOFILE of systemd; fewer calls at once need fewer',
  EADDRINUSE: 'another program uses this address',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'unknown host name',
  EIO: 'the device failed',
  ENXIO: 'no program reads from it',
  EAGAIN: 'the program at its other end has stopped reading',
};

/** The system's code of an I/O error with its meaning: `ENOSPC, no space left`. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  // An extended code, such as SQLITE_IOERR_FSYNC, has the meaning of its kind, SQLITE_IOERR.
  const [kind = code] = /^SQLITE_[A-Z]+/.exec(code) ?? [];
  return Object.hasOwn(inWords, kind) ? `${code}, ${inWords[kind]}` : code;
}

/** True for an error of the file system or of SQLite; false for a fault of the program or a network error. */
export function isDiskError(error: unknown): error is NodeJS.ErrnoException {
  if (!isError(error)) return false;
  const isOfFiles = 'syscall' in error && !('address' in error || 'hostname' in error);
  return isOfFiles || systemCode(error).startsWith('SQLITE_');
}

/** An unforeseen error's name and place, for a bug report. Its message may have a value of a row. */
export function describeUnforeseenError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const [, frame = ''] = /^ +at (.*)$/m.exec(thrown.stack ?? '') ?? [];
  return `${thrown.name}, ${frame.replace(/[^\s(]*\//, '')}`;
}

/** Turns an error of the disk ({@link isDiskError}) into an {@link OutputError}. Returns other errors unchanged. */
export function toOutputError(error: unknown): unknown {
  if (!isDiskError(error)) return error;
  const {path = 'A file', syscall = 'SQLite'} = error;
  return new OutputError(
    'output_unwritable',
    `${path}: ${syscall} failed (${systemReason(error)}). Fix the cause, then run the same command again.`,
    {cause: error},
  );
}
