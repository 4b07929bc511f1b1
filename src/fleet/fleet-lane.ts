import type {TimestampedAttempt} from '../client/attempt.ts';
import type {LaneSettings} from '../lookup/call.ts';
import {leaseOf} from '../lookup/leases.ts';
import {type Chunk, type ChunkValue, type LanePace, RATE_SHARE} from './protocol.ts';

/** Milliseconds that values wait for others to fill a chunk. */
const GATHER_MS = 5;

/** A value that may be sent out. `resolve` gives its attempt to the waiting caller. */
export interface LeavingValue extends ChunkValue {
  readonly resolve: (attempt: TimestampedAttempt) => void;
}

export interface FleetLaneOptions {
  readonly settings: LaneSettings;
  /** The share of a worker's calls in flight that this lane may use. */
  readonly share: number;
  /** Maximum time for one call, in milliseconds. */
  readonly timeoutMs: number;
  /** Number of values in a full chunk now. */
  readonly chunkValues: () => number;
  /** Sends a chunk to the workers. `values`: the values that the chunk asks for, in the same order. */
  readonly send: (chunk: Chunk, values: readonly LeavingValue[]) => void;
}

/**
 * A run's side of a lane (operations that share one rate). Gathers values into chunks, which name the pace.
 */
export class FleetLane {
  readonly #options: FleetLaneOptions;
  #gathered: LeavingValue[] = [];
  /** The rate that the service allows now, in calls per second. */
  #rate = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #full: NodeJS.Immediate | undefined;

  constructor(options: FleetLaneOptions) {
    this.#options = options;
  }

  /** Adds a value. Full chunks are sent at the end of the event loop's turn, a partial chunk after `GATHER_MS`. */
  add(value: LeavingValue, perSecond: number): void {
    this.#rate = perSecond;
    this.#gathered.push(value);
    const full = this.#options.chunkValues();
    if (this.#gathered.length >= full) this.#full ??= setImmediate(() => this.#flush(full));
    else this.#timer ??= setTimeout(() => this.#flush(1), GATHER_MS);
  }

  #flush(smallest: number): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#full);
    this.#timer = undefined;
    this.#full = undefined;
    while (this.#gathered.length >= smallest) {
      const values = this.#gathered.splice(0, this.#options.chunkValues());
      this.#options.send(this.#chunk(values), values);
    }
    if (this.#gathered.length > 0) this.#timer = setTimeout(() => this.#flush(1), GATHER_MS);
  }

  #chunk(values: readonly LeavingValue[]): Chunk {
    const {settings, share, timeoutMs} = this.#options;
    const asks = values.map(({resolve: _, ...ask}) => ask);
    return {lane: settings.name, share, pace: paceAt(this.#rate), timeoutMs, asks};
  }
}

/** The pace at a rate, in calls per second; undefined if the rate is infinite. */
function paceAt(rate: number): LanePace | undefined {
  return Number.isFinite(rate) ? leaseOf(rate, RATE_SHARE) : undefined;
}
