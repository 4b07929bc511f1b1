import PQueue from 'p-queue';
import type {Operation} from '../operations/table.ts';
import {type LanePacer, type LaneSettings, LEAVE_AT_ONCE, type Outlet} from './outlet.ts';
import {perSecond, RateController} from './pace/rate-controller.ts';
import type {TaskState} from './task-state.ts';

/** Tasks per slot that may wait in a lane's queue: enough to keep the lane busy, without using much memory. */
const QUEUED_PER_SLOT = 4;

/** The slots and permits of operations that share one rate, and the tasks that wait for a permit. */
export class Lane {
  readonly settings: LaneSettings;
  readonly controller: RateController;
  readonly #queue: PQueue;
  readonly #pacer: LanePacer;
  readonly #waiting: TaskState[] = [];
  /** Times of the calls that were sent in the last second. Their number is the actual rate. */
  readonly #recent: number[] = [];

  /** `lease` is called with the number of tasks that may be sent now. */
  constructor(settings: LaneSettings, outlet: Outlet, lease: (lane: Lane, permits: number) => void) {
    this.settings = settings;
    this.controller = new RateController(perSecond(settings.rate));
    this.#queue = new PQueue({concurrency: settings.concurrency});
    this.#pacer = outlet.pacer(settings, this.controller, permits => lease(this, permits));
  }

  set slots(count: number) {
    this.#queue.concurrency = count;
  }

  get waiting(): readonly TaskState[] {
    return this.#waiting;
  }

  /** Runs `work` once a slot is free. */
  inSlot(work: () => Promise<void>): Promise<void> {
    return this.#queue.add(work);
  }

  /** Resolves when the queue may take another task. */
  room(): Promise<void> {
    return this.#queue.onSizeLessThan(this.#queue.concurrency * QUEUED_PER_SLOT);
  }

  idle(): Promise<void> {
    return this.#queue.onIdle();
  }

  /** Waits for a permit. Resolves with true if the task is to be sent now, else with false. */
  permit(task: TaskState): Promise<boolean> {
    return new Promise(resolve => {
      task.permit = resolve;
      this.#waiting.push(task);
      this.#pacer.request(this.#waiting.length >= LEAVE_AT_ONCE);
    });
  }

  /** Ends a task's wait for a permit. `granted`: true if the task is sent now. */
  release(task: TaskState, granted: boolean): void {
    this.#waiting.splice(this.#waiting.indexOf(task), 1);
    task.permit(granted);
  }

  /** Takes out all waiting tasks, and returns them. They get no permit. */
  takeOut(): TaskState[] {
    const taken = [...this.#waiting];
    for (const task of taken) this.release(task, false);
    return taken;
  }

  wake(): void {
    if (this.#waiting.length > 0) this.#pacer.request();
  }

  /**
   * Notes that a task was sent at `now`. Call this method after the sending, since the pacer reads its own
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
    for (const task of this.#waiting.splice(0)) task.permit(false);
  }
}

export class Lanes implements Iterable<Lane> {
  readonly #byOperation = new Map<Operation, Lane>();
  /** Each lane once, in the order in which lanes may use free slots. The lane that sent last is at the end. */
  readonly #turns: Lane[] = [];

  constructor(
    settings: readonly LaneSettings[],
    outlet: Outlet,
    lease: (lane: Lane, permits: number) => void,
  ) {
    for (const each of settings) {
      const lane = new Lane(each, outlet, lease);
      this.#turns.push(lane);
      for (const operation of each.operations) this.#byOperation.set(operation, lane);
    }
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
    for (const lane of this.#turns) lane.slots = Math.max(1, Math.floor(total / this.#turns.length));
  }

  wake(): void {
    for (const lane of this.#turns) lane.wake();
  }

  /** Puts the lane that has just sent at the end of the order, so that the others get the next free slot. */
  sentBy(lane: Lane): void {
    this.#turns.push(...this.#turns.splice(this.#turns.indexOf(lane), 1));
  }

  stop(): void {
    for (const lane of this.#turns) lane.stop();
  }

  /** Resolves once no lane has a task in a slot or in its queue, at the latest after `graceMs`. */
  async idleWithin(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>(resolve => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(this.#turns.map(lane => lane.idle())), grace]);
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
