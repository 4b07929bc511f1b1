import PQueue from 'p-queue';
import type {Attempt, TimedAttempt} from '../../client/attempt.ts';
import type {Sender} from '../../client/client.ts';
import {askedMs} from '../../lookup/policy.ts';
import type {FleetGate, Limiters} from '../limits.ts';
import type {Chunk, ChunkAsk, ChunkPace, ChunkReply} from '../protocol.ts';
import {WorkerPacer} from './worker-pacer.ts';

/** Milliseconds for which the gate stays closed if a throttled answer does not say how long. */
const HOLD_MS = 500;
/** Maximum wait after one throttled answer, in milliseconds. The next throttled answer can begin another wait. */
const LONGEST_HOLD_MS = 3_600_000;

/** Called with undefined if a value may be sent, else with the milliseconds to wait. */
type Permit = (closedMs: number | undefined) => void;

export interface LaneOptions {
  readonly name: string;
  /** Maximum number of the lane's calls in flight. */
  readonly slots: number;
  readonly gate: FleetGate;
  readonly limiters: Limiters;
}

/** Paces and sends the calls of a worker, for the operations that share one rate. */
export class WorkerLane {
  readonly #options: LaneOptions;
  readonly #queue: PQueue;
  readonly #waiting: Permit[] = [];
  #pacer: WorkerPacer | undefined;
  #draining = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#queue = new PQueue({concurrency: options.slots});
  }

  /** Looks up all values of a chunk. A value that must not be sent now gets an attempt of the kind `not_sent`. */
  async ask({asks, pace}: Chunk, client: Sender): Promise<ChunkReply> {
    const closedMs = pace === undefined ? await this.#options.gate.closedMs() : 0;
    if (closedMs > 0) return asks.map(() => givenBack(closedMs));
    return await Promise.all(asks.map(ask => this.#queue.add(() => this.#attempt(ask, pace, client))));
  }

  /** Sends nothing new from now on, and gives waiting values back to the run. */
  drain(): void {
    this.#draining = true;
    this.#giveBack(0);
  }

  async #attempt(ask: ChunkAsk, pace: ChunkPace | undefined, client: Sender): Promise<TimedAttempt> {
    const closedMs = await this.#permit(pace);
    if (closedMs !== undefined) return givenBack(closedMs);
    const attempt = timed(await client.send(ask.operation, ask.params));
    if (attempt.kind === 'throttled') await this.#closeGate(askedMs(attempt, Date.now()) ?? HOLD_MS);
    return attempt;
  }

  #permit(pace: ChunkPace | undefined): Promise<number | undefined> | number | undefined {
    if (this.#draining) return 0;
    if (pace === undefined) return undefined;
    const pacer = this.#paced(pace);
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      pacer.request();
    });
  }

  #paced(pace: ChunkPace): WorkerPacer {
    const {name, limiters, gate} = this.#options;
    this.#pacer ??= new WorkerPacer(
      limiters.open(name, pace.minTimeMs),
      gate,
      permits => this.#lease(permits),
      closedMs => this.#giveBack(closedMs),
    );
    this.#pacer.pace(pace);
    return this.#pacer;
  }

  #lease(permits: number): void {
    for (const permit of this.#waiting.splice(0, permits)) permit(undefined);
    if (this.#waiting.length > 0) this.#pacer?.request();
  }

  async #closeGate(ms: number): Promise<void> {
    const closedMs = Math.min(ms, LONGEST_HOLD_MS);
    // Ignores Redis's errors: thrown here, they would lose the answers of the chunk's other calls.
    await this.#options.gate.close(closedMs).catch(() => {});
    this.#giveBack(closedMs);
  }

  #giveBack(closedMs: number): void {
    for (const permit of this.#waiting.splice(0)) permit(closedMs);
  }
}

function givenBack(closedMs: number): TimedAttempt {
  const code = closedMs > 0 ? 'fleet_gate' : 'worker_stopping';
  return timed({kind: 'not_sent', code, latencyMs: 0, closedMs});
}

/** Dates an attempt by this machine's clock. The run corrects a date in the future or before the chunk was sent. */
function timed(attempt: Attempt): TimedAttempt {
  return {boughtAt: Date.now(), ...attempt};
}
