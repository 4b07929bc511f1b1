import {setTimeout as sleep} from 'node:timers/promises';
import PQueue from 'p-queue';
import type {Attempt, TimestampedAttempt} from '../../client/attempt.ts';
import type {Sender} from '../../client/client.ts';
import {requestedWaitMs} from '../../lookup/rate-limit-headers.ts';
import {
  type Chunk,
  type ChunkReply,
  type ChunkValue,
  type FleetLimits,
  type LanePace,
  RATE_SHARE,
} from '../protocol.ts';

/** Milliseconds for which the gate stays closed if a throttled answer does not say how long. */
const HOLD_MS = 500;
/** Maximum wait after one throttled answer, in milliseconds. */
const LONGEST_HOLD_MS = 3_600_000;
/** Milliseconds after an error of Redis, such as no memory, until a lease is requested again. */
const RETRY_MS = 1_000;
/**
 * Minimum milliseconds of delay for which a lease is given up: its calls would come close to those of a later
 * second.
 */
const TOO_LATE_MS = 10;

/** Called with undefined if a value may be sent, else with the milliseconds to wait. */
type Permit = (closedMs: number | undefined) => void;

/** Paces and sends the calls of a worker, for the operations that share one rate. */
export class WorkerLane {
  readonly #name: string;
  readonly #limits: FleetLimits;
  readonly #queue: PQueue;
  readonly #waiting: Permit[] = [];
  #pace: LanePace | undefined;
  #leasing = false;
  /**
   * Milliseconds that Redis's answer takes, at least: what a lease takes beyond them is delay. Undefined at first.
   */
  #answerMs: number | undefined;
  #draining = false;

  /** `slots`: maximum number of the lane's calls in flight. */
  constructor(name: string, slots: number, limits: FleetLimits) {
    this.#name = name;
    this.#limits = limits;
    this.#queue = new PQueue({concurrency: slots});
  }

  /** Looks up all values of a chunk. A value that must not be sent now gets an attempt of the kind `not_sent`. */
  async ask({asks, pace}: Chunk, client: Sender): Promise<ChunkReply> {
    const closedMs = pace === undefined ? await this.#limits.closedMs() : 0;
    if (closedMs > 0) return asks.map(() => unsent(closedMs));
    this.#pace = pace ?? this.#pace;
    return await Promise.all(
      asks.map(ask => this.#queue.add(() => this.#attempt(ask, pace !== undefined, client))),
    );
  }

  /** Sends nothing new from now on, and gives waiting values back to the run. */
  drain(): void {
    this.#draining = true;
    this.#returnWaiting(0);
  }

  async #attempt(ask: ChunkValue, isPaced: boolean, client: Sender): Promise<TimestampedAttempt> {
    const closedMs = this.#draining ? 0 : isPaced ? await this.#permit() : undefined;
    if (closedMs !== undefined) return unsent(closedMs);
    const attempt = dateAttempt(await client.send(ask.operation, ask.params));
    if (attempt.kind === 'throttled') await this.#closeGate(requestedWaitMs(attempt, Date.now()) ?? HOLD_MS);
    return attempt;
  }

  #permit(): Promise<number | undefined> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      if (!this.#leasing) void this.#takeLeases();
    });
  }

  async #takeLeases(): Promise<void> {
    this.#leasing = true;
    while (this.#waiting.length > 0 && this.#pace !== undefined) {
      const {permits, minTimeMs} = this.#pace;
      try {
        const closedMs = await this.#takeLease(minTimeMs);
        if (closedMs === 0) for (const permit of this.#waiting.splice(0, permits)) permit(undefined);
        else if (closedMs !== undefined) this.#returnWaiting(closedMs);
      } catch {
        // Redis refused: this may pass.
        await sleep(RETRY_MS, undefined, {ref: false});
      }
    }
    this.#leasing = false;
  }

  /**
   * Takes a lease and waits until it begins. Returns 0; undefined if the lease is too late to use; while the gate is
   * closed, the milliseconds until it opens. A lease may be late by the time that {@link RATE_SHARE} leaves unused.
   */
  async #takeLease(minTimeMs: number): Promise<number | undefined> {
    const askedAt = performance.now();
    const {closedMs, inMs} = await this.#limits.lease(this.#name, minTimeMs);
    if (closedMs > 0) return closedMs;
    const answerMs = performance.now() - askedAt;
    if (inMs > 0) await sleep(inMs, undefined, {ref: false});
    const usualMs = this.#answerMs ?? 0;
    const lateMs = performance.now() - askedAt - Math.min(usualMs, answerMs) - inMs;
    const isLate = lateMs > Math.max(TOO_LATE_MS, (1 - RATE_SHARE) * minTimeMs);
    // If Redis answers more slowly from now on, one of the next leases is not late.
    this.#answerMs = Math.min(answerMs, isLate ? usualMs + TOO_LATE_MS / 2 : (this.#answerMs ?? answerMs));
    return isLate ? undefined : 0;
  }

  async #closeGate(ms: number): Promise<void> {
    const closedMs = Math.min(ms, LONGEST_HOLD_MS);
    // Ignores Redis's errors: thrown here, they would lose the answers of the chunk's other calls.
    await this.#limits.close(closedMs).catch(() => {});
    this.#returnWaiting(closedMs);
  }

  #returnWaiting(closedMs: number): void {
    for (const permit of this.#waiting.splice(0)) permit(closedMs);
  }
}

function unsent(closedMs: number): TimestampedAttempt {
  const code = closedMs > 0 ? 'fleet_gate' : 'worker_stopping';
  return dateAttempt({kind: 'not_sent', code, latencyMs: 0, closedMs});
}

/** The run corrects a date in the future or before the chunk was sent. */
function dateAttempt(attempt: Attempt): TimestampedAttempt {
  return {boughtAt: Date.now(), ...attempt};
}
