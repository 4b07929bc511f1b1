import type {Transport, TransportOptions} from '../client/http/transport.ts';
import type {PipeSettings} from '../input/bytes/raw.ts';
import type {ProgramRow, Reject} from '../input/row.ts';
import type {RecordSource} from '../input/source.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import type {EventLog} from '../job/log-events.ts';
import type {EnrichedRow} from '../output/encoder.ts';
import type {ListFacts} from '../score/list-facts.ts';
import type {Said} from '../sentence.ts';

/** Progress: the share between 0 and 1, and the number of rows, if known. */
export interface PhaseProgress {
  readonly share?: number | undefined;
  readonly rows?: number;
}

/** Announces slow work before the first call or after the last. Returns a function that ends the announcement. */
export type AnnouncePhase = (what: string, reached: () => PhaseProgress) => () => void;

export async function runPhase<T>(
  phase: AnnouncePhase | undefined,
  what: string,
  reached: () => PhaseProgress,
  work: () => Promise<T>,
): Promise<T> {
  const end = phase?.(what, reached);
  try {
    return await work();
  } finally {
    end?.();
  }
}

/** The surroundings of a command: everything outside of the program that it uses. */
export interface World {
  readonly env: Env;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Time to wait for an answer store that another program has locked, in milliseconds. */
  readonly storePatienceMs?: number;
  /** Shows the user a warning of one sentence. The run continues. */
  readonly warn: (sentence: Said) => void;
  /** Takes the facts of the list from a plan to the run that follows. */
  readonly counted?: {facts?: ListFacts | undefined};
}

/** A program's row with its results, or the reason why it was not looked up. */
export type EnrichedObject = EnrichedRow<ProgramRow> | Reject;

/** A program that gives rows to a run, and takes them back. */
export interface ProgramIo {
  readonly source: RecordSource;
  /** The same rows, for a pass before the first call. Empty if they come only once. */
  readonly list: RecordSource;
  /** Takes the next rows in input order. Throws if the program has left. */
  give(rows: readonly EnrichedObject[]): void;
  /** Resolves once the program has used the rows that it took, and wants more. */
  used(): Promise<void>;
  /** Takes the end of the rows. @throws {RowsError} if the rows lacked a column. */
  end(): void;
}

/** An error of a program's own rows or functions, its `cause`. It ends the run after the rows before it. */
export class RowsError extends Error {
  constructor(cause: unknown) {
    super("the program's rows ended with an error", {cause});
  }
}

/** Everything outside of the program that a run uses. Tests replace it. */
export interface RunIo extends World {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  /** The source and the sink of the rows, instead of the job's files. */
  readonly program?: ProgramIo | undefined;
  /** Milliseconds that calls in flight get when the run stops; 5,000 by default. */
  readonly graceMs?: number;
  /** Milliseconds for which a list that was written to must be still; see `STILL_MS` in run.ts. */
  readonly stillMs?: {readonly least: number; readonly most: number};
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly log: EventLog;
  /** Called once a run has work to do, before anything is sent. It throws if the run must not begin. */
  readonly mayBegin?: (job: Job) => Promise<void>;
  readonly phase?: AnnouncePhase;
  /** Opens the transport of calls to a live service; HTTP by default. */
  readonly transport?: ((options: TransportOptions) => Transport) | undefined;
}

/** How to read inputs that can be read only once (stdin, pipes). Their reading ends when `signal` aborts. */
export function pipeSettings({stdin, warn}: RunIo, {signal}: {readonly signal: AbortSignal}): PipeSettings {
  return {stdin, warn, signal};
}
