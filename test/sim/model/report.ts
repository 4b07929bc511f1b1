import type {BulkEnrichError} from '../../../src/errors.ts';
import type {Job} from '../../../src/job/job.ts';
import type {RunOutcome} from '../../../src/run/run-outcome.ts';
import type {Asker, Service} from '../world/service.ts';
import type {World} from '../world/world.ts';
import type {RunSpec} from './commands.ts';

/** Some calls last longer. */
export const GRACE_MS = 2_000;

/** The reason of a run whose program wanted no more. */
export const LEFT = 'left';

/** A run's settings, its list as bytes and as plain text, and the number of rows after which its reader leaves. */
export interface Work {
  readonly spec: RunSpec;
  readonly bytes: Buffer;
  readonly input: string;
  readonly leavesAfter?: number | undefined;
}

/** The world that a run is in, and what is known of it. */
export interface Around {
  readonly asker: Asker;
  readonly service: Service;
  readonly world: World;
  readonly report: Report;
}

/** A run's result so far. A killed one reports nothing more. */
export interface Report {
  job?: Job;
  /** The jobs of earlier days that it finishes first. */
  days: readonly {readonly date: string; readonly job: Job}[];
  outcome?: RunOutcome;
  error?: BulkEnrichError;
  /** An error that is not the user's. */
  crash?: unknown;
  readonly warnings: string[];
  /** Bytes that the reader of a stream has got. */
  printed: Buffer;
  /** The rows that a program has got back, by their place in its list. */
  readonly taken: (string | undefined)[];
  /** How many calls the service had seen when it was asked to end, or its program wanted no more. */
  unwantedAt?: number;
  /** True if its program wanted no more. */
  isLeft?: true;
  /** Something that its program got and should not have. */
  odd?: string;
}

export const newReport = (): Report => ({days: [], warnings: [], printed: Buffer.alloc(0), taken: []});
