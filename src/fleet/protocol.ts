import type {Params} from '../client/client.ts';
import type {Operation} from '../operations/table.ts';

/**
 * Number of what runs and workers say to each other: the keys and chunks here, an attempt and its kinds, the seal, and the
 * names of lanes. Programs of one number work together, whatever their versions, so that a fleet is upgraded without a
 * stop: under one number, what is said only gains fields that the other side can do without.
 */
export const PROTOCOL = 1;

/** Names of the keys in Redis. All begin with the prefix. */
export const PREFIX = 'bulk-enrich';
/** BullMQ's queue of chunks. */
export const QUEUE = 'chunks';

/** So many values go out together: few enough that little is in doubt when a worker dies. */
export const CHUNK_VALUES = 8;
/** Milliseconds after which keys that a crash left in Redis expire: one day. */
export const KEEP_MS = 86_400_000;

/** One value to look up. */
export interface ChunkAsk {
  /** Number of the ledger's reservation. The outcome that comes back belongs to this send of the value only. */
  readonly dispatch: number;
  readonly operation: Operation;
  readonly params: Params;
}

/** The pace of a lane: `permits` calls each `minTimeMs` milliseconds, over all workers together. */
export interface ChunkPace {
  readonly permits: number;
  readonly minTimeMs: number;
}

/** Work for a worker: some values to look up. */
export interface Chunk {
  readonly lane: string;
  /** The part of a worker's calls in flight that the lane may use. */
  readonly share: number;
  /** Undefined without a rate limit. */
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
 * Sealed data is bound to one chunk, whose identifier begins with its run's, and to one direction: it does not open
 * anywhere else. A chunk's answers are sealed as one list, so that they can't change places either.
 */
export const sealedAs = {
  asks: (chunkId: string) => `asks of ${chunkId}`,
  answers: (chunkId: string) => `answers of ${chunkId}`,
} as const;
