import type {TimedAttempt} from '../client/attempt.ts';
import type {LaneSettings} from '../lookup/call.ts';
import {earnedInMs, isNearRate, leaseSize, perSecond} from '../lookup/pace/rate-controller.ts';
import type {Limiters, OpenLimiter} from './limits.ts';
import {type Chunk, type ChunkAsk, type ChunkPace, RATE_SHARE} from './protocol.ts';

/** Number of permits that a worker takes at once if no rate is set, and only throttling limits the calls. */
const UNLIMITED_LEASE = 5;
/**
 * Milliseconds after which an unchanged pace is sent again. If Redis restarts empty, a worker may give it
 * an old pace.
 */
const TELL_AGAIN_MS = 5_000;
/** Milliseconds that values wait for others to fill a chunk. */
const GATHER_MS = 5;

/** A value that may be sent out. `resolve` gives its attempt to the waiting caller. */
export interface LeavingValue extends ChunkAsk {
  readonly resolve: (attempt: TimedAttempt) => void;
}

export interface FleetLaneOptions {
  readonly settings: LaneSettings;
  readonly limiters: Limiters;
  /** The share of a worker's calls in flight that this lane may use. */
  readonly share: number;
  /** Maximum time for one call, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Number of values in a full chunk now. */
  readonly chunkValues: () => number;
  /** Sends a chunk to the workers. `values`: the values that the chunk asks for, in the same order. */
  readonly send: (chunk: Chunk, values: readonly LeavingValue[]) => void;
}

/**
 * A run's side of a lane (operations that share one rate). Gathers values into chunks, and tells workers the pace.
 */
export class FleetLane {
  readonly #options: FleetLaneOptions;
  readonly #permits: number;
  #limiter: OpenLimiter | undefined;
  /** The rate last sent to the limiter, in calls per second. */
  #told = Number.NaN;
  #toldAt = 0;
  #gathered: LeavingValue[] = [];
  /** The rate that the service allows now, in calls per second. */
  #rate = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #full: NodeJS.Immediate | undefined;

  constructor(options: FleetLaneOptions) {
    const rate = perSecond(options.settings.rate);
    this.#options = options;
    this.#permits = Number.isFinite(rate) ? leaseSize(rate) : UNLIMITED_LEASE;
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
    const asks = values.map(({dispatch, operation, params}) => ({dispatch, operation, params}));
    return {lane: settings.name, share, pace: this.#pace(), timeoutMs, asks};
  }

  /**
   * Returns the current pace; undefined if no rate limits it. Sends changes to the limiter that all workers share.
   */
  #pace(): ChunkPace | undefined {
    const {settings, limiters, now} = this.#options;
    const at = now();
    const rate = this.#rate;
    if (!Number.isFinite(rate)) return undefined;
    const minTimeMs = earnedInMs(this.#permits, RATE_SHARE * rate);
    this.#limiter ??= limiters.open(settings.name, minTimeMs);
    const isKnown = isNearRate(rate, this.#told) && at - this.#toldAt < TELL_AGAIN_MS;
    if (!isKnown) {
      this.#told = rate;
      this.#toldAt = at;
      this.#limiter()
        .then(limiter => limiter.updateSettings({minTime: minTimeMs}))
        .catch(() => {
          this.#told = Number.NaN;
        });
    }
    return {permits: this.#permits, minTimeMs};
  }
}
