import Bottleneck from 'bottleneck';

/** Seconds of a lease: a number of permits that are granted together, so that one job paces many calls. */
const LEASE_SECONDS = 0.01;
/** Leases use only this share of the rate. */
const USE = 0.998;
/** Seconds of permits that may be planned ahead. */
const AHEAD_SECONDS = 0.25;
/** A step of the computer's clock, by which bottleneck goes, that makes its plan worthless. */
const CLOCK_STEP_MS = 100;

/** The leases of a rate in calls a second, of which only this share is used: their permits, and the milliseconds between two of them. */
export function leaseOf(
  perSecond: number,
  share = USE,
): {readonly permits: number; readonly minTimeMs: number} {
  const permits = Math.max(1, Math.floor(perSecond * LEASE_SECONDS));
  return {permits, minTimeMs: (permits * 1_000) / (share * perSecond)};
}

/** A lane's permits: the library bottleneck spaces leases of some calls each. It takes 400 jobs a second at most. */
export class Leases {
  readonly #perSecond: number;
  readonly #grant: (permits: number) => void;
  #limiter: Bottleneck;
  /** The computer's clock minus the one that never jumps. */
  #clockOffset = clockOffset();
  #planned = 0;
  /** Number of the last lease: bottleneck's own identifiers are random, and it drops a job that has another's. */
  #lastId = 0;

  constructor(perSecond: number, grant: (permits: number) => void) {
    this.#perSecond = perSecond;
    this.#grant = grant;
    this.#limiter = newLimiter(perSecond);
  }

  /** Plans leases for so many calls that wait. */
  plan(calls: number): void {
    const {permits} = leaseOf(this.#perSecond);
    const offset = clockOffset();
    // After a step back of the computer's clock, bottleneck would stand still for as long.
    if (Math.abs(offset - this.#clockOffset) > CLOCK_STEP_MS) {
      this.#limiter = newLimiter(this.#perSecond);
      this.#clockOffset = offset;
    }
    const most = Math.min(calls, Math.max(1, this.#perSecond * AHEAD_SECONDS));
    while (this.#planned * permits < most) {
      this.#planned += 1;
      const grant = async () => {
        this.#planned -= 1;
        this.#grant(permits);
      };
      this.#limiter.schedule({id: String(++this.#lastId)}, grant).catch(refuseAllButDropped);
    }
  }

  /** Drops the leases that wait: their timers would keep the process alive. */
  end(): void {
    this.#limiter.stop({dropWaitingJobs: true}).catch(refuseAllButDropped);
  }
}

function newLimiter(perSecond: number): Bottleneck {
  return new Bottleneck({maxConcurrent: 1, minTime: leaseOf(perSecond).minTimeMs});
}

function clockOffset(): number {
  return Date.now() - performance.now();
}

function refuseAllButDropped(error: unknown): void {
  if (!(error instanceof Bottleneck.BottleneckError)) throw error;
}
