import PQueue from 'p-queue';
import type {Operation} from '../operations/table.ts';
import type {Call, LaneSettings} from './call.ts';
import {Pacer} from './pace/pacer.ts';
import {perSecond, RateController} from './pace/rate-controller.ts';
import type {Refusal} from './policy.ts';

/** Calls per slot that may wait in a lane's queue: enough to keep the lane busy, without using much memory. */
const QUEUED_PER_SLOT = 4;

/** Ends a call's wait. Without a refusal, the call leaves now. */
export type Leave = (refusal?: Refusal) => void;

/** The slots and the rate of operations that share one rate, and the calls that wait to leave. */
export class Lane {
  readonly settings: LaneSettings;
  readonly controller: RateController;
  readonly slots: PQueue;
  /** Calls in a slot that wait to leave, in order. */
  readonly waiting = new Map<Call, Leave>();
  readonly #pacer: Pacer;
  /** Times of the calls that were sent in the last second. Their number is the actual rate. */
  readonly #recent: number[] = [];

  /** Number of calls that the rate lets leave in the next admission. */
  permits = 0;

  /** `onPermits` is called when there are new {@link permits}. `isPaced`: false if the outlet keeps the rate. */
  constructor(settings: LaneSettings, isPaced: boolean, now: () => number, onPermits: () => void) {
    this.settings = settings;
    this.controller = new RateController(perSecond(settings.rate));
    this.slots = new PQueue({concurrency: settings.concurrency});
    const paced = isPaced ? settings.rate : 'unlimited';
    const controller = isPaced ? this.controller : new RateController(Number.POSITIVE_INFINITY);
    const lease = (permits: number) => {
      this.permits = permits;
      onPermits();
    };
    this.#pacer = new Pacer(paced, controller, lease, now);
  }

  /** True if the queue may take another call. */
  get hasRoom(): boolean {
    return this.slots.size < this.slots.concurrency * QUEUED_PER_SLOT;
  }

  /** Resolves when the queue may take another call. */
  room(): Promise<void> {
    return this.slots.onSizeLessThan(this.slots.concurrency * QUEUED_PER_SLOT);
  }

  /** Waits until the call may leave. Resolves with a refusal if it may not. */
  mayLeave(call: Call): Promise<Refusal | undefined> {
    return new Promise(resolve => {
      this.waiting.set(call, resolve);
      this.#pacer.request();
    });
  }

  /** Ends a call's wait. */
  end(call: Call, refusal?: Refusal): void {
    const leave = this.waiting.get(call);
    this.waiting.delete(call);
    leave?.(refusal);
  }

  endAll(refusal: Refusal): void {
    for (const call of [...this.waiting.keys()]) this.end(call, refusal);
  }

  wake(): void {
    if (this.waiting.size > 0) this.#pacer.request();
  }

  /**
   * Notes that a call was sent at `now`. Call this method after the sending, since the pacer reads its own
   * clock here. A time before the sending would let later calls leave a fraction of a millisecond too early.
   */
  sent(now: number): void {
    this.#recent.push(now);
    while (this.#recent.length > 0 && (this.#recent[0] as number) < now - 1_000) this.#recent.shift();
    this.#pacer.sent();
  }

  /** Lowers the rate: the service throttled a call that was sent at `sentAt`. Sending resumes at `resumes`. */
  slowDown(sentAt: number, resumes: number): void {
    this.controller.throttled(sentAt, resumes, this.#recent.length);
  }

  stop(): void {
    this.#pacer.stop();
  }
}

/** The lanes in the order in which they may use free slots. The lane that sent last is at the end. */
export class Lanes implements Iterable<Lane> {
  readonly #byOperation = new Map<Operation, Lane>();
  readonly #turns: Lane[];

  constructor(lanes: readonly Lane[]) {
    this.#turns = [...lanes];
    for (const lane of lanes)
      for (const operation of lane.settings.operations) this.#byOperation.set(operation, lane);
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.#turns.values();
  }

  of(operation: Operation): Lane {
    const lane = this.#byOperation.get(operation);
    if (lane === undefined) throw new Error(`no lane for ${operation}`);
    return lane;
  }

  /** Sets the limit of calls in flight, shared out evenly among the lanes: at least one each. */
  set slots(total: number) {
    for (const {slots} of this.#turns)
      slots.concurrency = Math.max(1, Math.floor(total / this.#turns.length));
  }

  wake(): void {
    for (const lane of this.#turns) lane.wake();
  }

  /** The permits of all lanes with waiting calls, in order. Permits that the caller does not use expire. */
  takePermits(): Map<Lane, number> {
    const taken = new Map<Lane, number>();
    for (const lane of this.#turns) {
      if (lane.permits > 0 && lane.waiting.size > 0) taken.set(lane, lane.permits);
      lane.permits = 0;
    }
    return taken;
  }

  /** Lets the call leave. Puts its lane at the end of the order, so that the others get the next free slot. */
  leave(call: Call): void {
    const lane = this.of(call.operation);
    if (this.#turns.at(-1) !== lane) this.#turns.push(...this.#turns.splice(this.#turns.indexOf(lane), 1));
    lane.end(call);
  }

  /** Resolves once no lane has a call in a slot or in its queue, at the latest after `graceMs`. */
  async idleWithin(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>(resolve => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(this.#turns.map(({slots}) => slots.onIdle())), grace]);
    clearTimeout(timer);
  }

  /** Configured and current calls per second of all lanes together; undefined without a limit. */
  ratesAt(now: number) {
    const sum = (of: (lane: Lane) => number) => {
      const total = this.#turns.reduce((soFar, lane) => soFar + of(lane), 0);
      return Number.isFinite(total) ? total : undefined;
    };
    return {
      limit: sum(lane => perSecond(lane.settings.rate)),
      current: sum(lane => lane.controller.perSecond(now)),
    };
  }
}
