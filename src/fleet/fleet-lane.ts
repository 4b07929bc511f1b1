import type {TimedAttempt} from '../client/attempt.ts';
import type {LaneSettings} from '../lookup/outlet.ts';
import {earnedIn, isAbout, leaseAt, perSecond, type RateController} from '../lookup/pace/rate-controller.ts';
import type {Limiters, OpenLimiter} from './limits.ts';
import {CHUNK_VALUES, type Chunk, type ChunkAsk, type ChunkPace, USE} from './protocol.ts';

/** Number of permits that a worker takes at once if no rate is set, and only throttling limits the calls. */
const UNLIMITED_LEASE = 5;
/**
 * Milliseconds after which an unchanged pace is sent again: after Redis restarted empty, a worker may have given
 * it an outdated pace.
 */
const TELL_AGAIN_MS = 5_000;
/** Milliseconds that values wait for others to fill a chunk. */
const GATHER_MS = 5;

/** A value that may be sent out. `resolve` gives its attempt to the waiting caller. */
export interface Leaving extends ChunkAsk {
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
  /** Sends chunks out, each with its values. */
  readonly send: (chunks: readonly (readonly [Chunk, readonly Leaving[]])[]) => void;
}

/**
 * A run's side of a lane (operations that share one rate). Gathers values into chunks, and tells workers the pace.
 */
export class FleetLane {
  readonly #options: FleetLaneOptions;
  readonly #permits: number;
  #controller: RateController;
  #limiter: OpenLimiter | undefined;
  /** The rate last sent to the limiter, in calls per second. */
  #told = Number.NaN;
  #toldAt = 0;
  #gathered: Leaving[] = [];
  #timer: NodeJS.Timeout | undefined;
  #full: NodeJS.Immediate | undefined;

  constructor(options: FleetLaneOptions, controller: RateController) {
    const rate = perSecond(options.settings.rate);
    this.#options = options;
    this.#controller = controller;
    this.#permits = Number.isFinite(rate) ? leaseAt(rate) : UNLIMITED_LEASE;
  }

  /** Adds a value. Full chunks are sent at the end of the event loop's turn, a partial chunk after `GATHER_MS`. */
  add(value: Leaving): void {
    this.#gathered.push(value);
    if (this.#gathered.length >= CHUNK_VALUES) this.#full ??= setImmediate(() => this.#flush(CHUNK_VALUES));
    else this.#timer ??= setTimeout(() => this.#flush(1), GATHER_MS);
  }

  #flush(smallest: number): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#full);
    this.#timer = undefined;
    this.#full = undefined;
    const values = this.#gathered;
    const chunks: (readonly [Chunk, readonly Leaving[]])[] = [];
    while (values.length >= smallest) {
      const some = values.splice(0, CHUNK_VALUES);
      chunks.push([this.#chunk(some), some]);
    }
    if (values.length > 0) this.#timer = setTimeout(() => this.#flush(1), GATHER_MS);
    this.#options.send(chunks);
  }

  #chunk(values: readonly Leaving[]): Chunk {
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
    const rate = this.#controller.perSecond(at);
    if (!Number.isFinite(rate)) return undefined;
    const minTimeMs = earnedIn(this.#permits, USE * rate);
    this.#limiter ??= limiters.open(settings.name, minTimeMs);
    const known = isAbout(rate, this.#told) && at - this.#toldAt < TELL_AGAIN_MS;
    if (!known) {
      this.#told = rate;
      this.#toldAt = at;
      this.#tell(minTimeMs, this.#limiter).catch(() => {
        this.#told = Number.NaN;
      });
    }
    return {permits: this.#permits, minTimeMs};
  }

  async #tell(minTime: number, open: OpenLimiter): Promise<void> {
    const limiter = await open();
    await limiter.updateSettings({minTime});
  }
}
