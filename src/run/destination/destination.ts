import type {FileDigest} from '../../disk/digest.ts';
import type {Sink} from '../../output/sink.ts';
import type {RunFiles} from './partial.ts';
import type {PublishFacts, PublishRecord} from './publish.ts';

/** Where a run's rows go, from what is checked before anything is paid for to the publishing of all of them. */
export interface Destination {
  /** Files of this machine that it writes: none of the job's others may be one of them. */
  readonly writes: readonly string[];
  /** Directories beside it which are the run's alone: whoever has their locks may write it. */
  readonly own: readonly string[];
  /** @throws {UsageError | OutputError | InputError} where it can't be written, or something else would be lost. */
  check(): void;
  /** Whether something is there that a run would replace. */
  exists(): boolean;
  /** Whether what is there is this, byte for byte, and lasts from now on. */
  holds(digest: FileDigest): Promise<boolean>;
  /** Opens it, cut back to the bytes that a checkpoint left there. Throws StateError, OutputError. */
  open(files: RunFiles, bytes: number, stdout: NodeJS.WritableStream): Promise<Sink>;
  /** What was written, made ready to be put in place; null where nobody can tell any more. `watched` gets what tells how far that is. */
  digest(files: RunFiles, watched?: (share: () => number) => void): Promise<FileDigest | null>;
  /** Puts everything in place, what goes beside it first. Throws OutputError. */
  publish(files: RunFiles, facts: PublishFacts): void;
  /** Completes a publishing that a crash cut short; undefined where there was none. Throws StateError, OutputError. */
  complete(files: RunFiles): Promise<PublishRecord | undefined>;
}

/** What holds of a destination that keeps nothing: there is nothing to replace, to compare with, or to put in place. */
export const keepsNothing = {
  writes: [],
  own: [],
  check() {},
  exists: () => false,
  holds: async () => false,
  digest: async () => null,
} as const satisfies Partial<Destination>;
