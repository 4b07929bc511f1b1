import type {Logger} from 'pino';
import type {Transport, TransportOptions} from '../client/http/transport.ts';
import {SharedDate} from '../disk/shared-date.ts';
import type {Pipes} from '../input/bytes/raw.ts';
import type {Source} from '../input/source.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';

/** How far something is: its share between 0 and 1, and how many rows, where these are known. */
export interface Reached {
  readonly share?: number | undefined;
  readonly rows?: number;
}

/** Told of what may take its time before the first call or after the last one, and how far that is; returns its end. */
export type Phase = (what: string, reached: () => Reached) => () => void;

/** Does what may take its time, and tells of it meanwhile. */
export async function during<T>(
  phase: Phase | undefined,
  what: string,
  reached: () => Reached,
  work: () => Promise<T>,
): Promise<T> {
  const end = phase?.(what, reached);
  try {
    return await work();
  } finally {
    end?.();
  }
}

/** The date in shared files: one object for the whole run, so that it tells of a leap once. */
export function dateOf({date, now, warn}: World): SharedDate {
  return date ?? new SharedDate(now, warn);
}

/** Where any command meets the world. */
export interface World {
  readonly env: Env;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Made by the run. */
  readonly date?: SharedDate;
  /** How long to wait for an answer store that another program keeps locked. */
  readonly storePatienceMs?: number;
  /** One sentence for a person: something is not as it should be, and the run goes on. */
  readonly warn: (sentence: string) => void;
}

/** Where a run meets the world; a test can put its own in place. */
export interface RunIo extends World {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  /** What is read instead of the job's inputs. */
  readonly source?: Source;
  /** True if no outage ends the run: its rows come as long as it is open. */
  readonly outlastsOutages?: boolean;
  /** How long calls in flight get when the run stops, in milliseconds; 5,000 unless it says. */
  readonly graceMs?: number;
  /** Milliseconds between two writings of the metrics while the run is under way; 15,000 unless it says. */
  readonly metricsEveryMs?: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Told once it is clear that a run has work to do, before anything is sent; it throws where that is not to be. */
  readonly mayBegin?: (job: Job) => Promise<void>;
  readonly phase?: Phase;
  /** What carries the calls to a live service; HTTP by default. */
  readonly transport?: ((options: TransportOptions) => Transport) | undefined;
}

/** What a run reads once, which ends with it. */
export function pipesOf({stdin, warn}: RunIo, {signal}: {readonly signal: AbortSignal}): Pipes {
  return {stdin, warn, signal};
}
