import type {FileDigest} from '../../disk/digest.ts';
import type {Sink} from '../../output/sink.ts';
import type {RunFiles} from './partial.ts';
import type {PublishFacts, PublishRecord} from './publish.ts';

/** The place that a run's rows go to. It is checked before anything is paid for, then written, then published. */
export interface Destination {
  /** Local files that the destination writes. No other file of the job may be one of them. */
  readonly writes: readonly string[];
  /** The run's own directories beside the output: a run must hold their locks to write the output. */
  readonly own: readonly string[];
  /**
   * @throws {UsageError | OutputError | InputError} if the output can't be written, or another output's
   * summary would be overwritten.
   */
  check(): void;
  /** True if the output exists already, so that a run would replace it. */
  exists(): boolean;
  /** True if the output has this digest. If so, also makes the output safe from a power cut. */
  holds(digest: FileDigest): Promise<boolean>;
  /**
   * Creates the unpublished output, without rows.
   *
   * @throws {OutputError}
   */
  open(files: RunFiles, stdout: NodeJS.WritableStream): Promise<Sink>;
  /**
   * Prepares the written output for publishing, and returns its digest; null if the destination keeps nothing.
   * Calls `watched` with a function that returns the share done so far.
   */
  digest(files: RunFiles, watched?: (share: () => number) => void): Promise<FileDigest | null>;
  /**
   * Puts the run's files in place, the output last.
   *
   * @throws {OutputError}
   */
  publish(files: RunFiles, facts: PublishFacts): void;
  /**
   * Completes a publishing that a crash interrupted, and returns its record; undefined if there was none.
   *
   * @throws {StateError | OutputError}
   */
  complete(files: RunFiles): Promise<PublishRecord | undefined>;
}
