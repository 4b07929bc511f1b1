import type {Params} from '../client/client.ts';
import type {Operation} from '../operations/table.ts';

/** What lies in Redis, by name. Everything begins with the prefix. */
export const PREFIX = 'bulk-enrich';
/** BullMQ's queue of chunks. */
export const QUEUE = 'chunks';

/** So many values go out together: few enough that little is in doubt when a worker dies. */
export const CHUNK_VALUES = 8;
/** What a crash leaves in Redis is gone after this long, in milliseconds: a day. */
export const KEEP_MS = 86_400_000;

/** One value to ask about. */
export interface ChunkAsk {
  /** What the ledger has reserved for it: what comes back is the outcome of this sending of the value, and of no other. */
  readonly dispatch: number;
  readonly operation: Operation;
  readonly params: Params;
}

/** The pace of a lane: `permits` calls each `minTimeMs` milliseconds, over all workers together. */
export interface ChunkPace {
  readonly permits: number;
  readonly minTimeMs: number;
}

/** What a worker is asked to do. */
export interface Chunk {
  readonly lane: string;
  /** The part of a worker's calls in flight that the lane may use. */
  readonly share: number;
  /** Undefined where nothing limits the rate. */
  readonly pace: ChunkPace | undefined;
  /** Longest time for one call, in milliseconds. */
  readonly timeoutMs: number;
  readonly asks: readonly ChunkAsk[];
}

/** A chunk as it lies in Redis: what is in it can be read by holders of the sealing secret alone. */
export interface SealedChunk {
  readonly sealed: string;
}

/**
 * What is sealed belongs to one chunk, whose identifier begins with its run's, and to one direction: it does not open in
 * another's place. A chunk's answers are sealed as one list, so that none of them can change its place in there either.
 */
export const sealedAs = {
  asks: (chunkId: string) => `asks of ${chunkId}`,
  answers: (chunkId: string) => `answers of ${chunkId}`,
} as const;
