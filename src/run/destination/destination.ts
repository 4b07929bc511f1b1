import type {FileDigest} from '../../disk/digest.ts';
import type {Sink} from '../../output/sink.ts';
import type {RunFiles} from './partial.ts';
import type {PublishFacts, PublishRecord} from './publish.ts';

/** The place that a run's rows go to, from the checks before anything is paid for to the publishing. */
export interface Destination {
  /** Local files that it writes. No other file of the job may be one of them. */
  readonly writes: readonly string[];
  /** The run's own directories beside it: a run must hold their locks to write it. */
  readonly own: readonly string[];
  /** @throws {UsageError | OutputError | InputError} if it can't be written, or other data would be lost. */
  check(): void;
  /** True if a run would replace something. */
  exists(): boolean;
  /** True if it holds exactly these bytes. Makes them durable. */
  holds(digest: FileDigest): Promise<boolean>;
  /**
   * Opens it, cut to the length in a checkpoint.
   *
   * @throws {StateError | OutputError}
   */
  open(files: RunFiles, bytes: number, stdout: NodeJS.WritableStream): Promise<Sink>;
  /**
   * Prepares what was written for publishing, and returns its digest; null if the written data is gone. `watched` gets
   * a function that returns the progress.
   */
  digest(files: RunFiles, watched?: (share: () => number) => void): Promise<FileDigest | null>;
  /**
   * Puts everything in place, the output last.
   *
   * @throws {OutputError}
   */
  publish(files: RunFiles, facts: PublishFacts): void;
  /**
   * Completes a publishing that a crash interrupted; undefined if there was none.
   *
   * @throws {StateError | OutputError}
   */
  complete(files: RunFiles): Promise<PublishRecord | undefined>;
}

/** Defaults of a destination that keeps nothing: it has nothing to replace, compare or put in place. */
export const keepsNothing = {
  writes: [],
  own: [],
  check() {},
  exists: () => false,
  holds: async () => false,
  digest: async () => null,
} as const satisfies Partial<Destination>;
