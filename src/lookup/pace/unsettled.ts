import type {ValueHistory} from '../../ledger/value-history.ts';
import {type PolicySettings, sendsLeft} from '../policy.ts';
import type {TaskState} from '../task-state.ts';

/** Submitted tasks that are not settled yet. Some back off for a time; some are held until an outage is over. */
export class Unsettled {
  readonly #tasks = new Set<TaskState>();
  readonly #timers = new Map<TaskState, NodeJS.Timeout>();
  readonly #held = new Set<TaskState>();
  readonly #policy: PolicySettings;
  /** Number of callers that wait until the queue has room for more tasks. */
  #blocked = 0;

  constructor(policy: PolicySettings) {
    this.#policy = policy;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Number of unsettled tasks. Infinite while a caller with more tasks waits for room in the queue. */
  get pending(): number {
    return this.#blocked > 0 ? Number.POSITIVE_INFINITY : this.#tasks.size;
  }

  /** Number of sends that all unsettled tasks have left together; infinite while callers have more tasks. */
  get sendsLeft(): number {
    if (this.#blocked > 0) return Number.POSITIVE_INFINITY;
    return [...this.#tasks].reduce((sum, task) => sum + this.sendsLeftOf(task), 0);
  }

  /** Number of sends that this task still has. */
  sendsLeftOf({history}: {readonly history: ValueHistory}): number {
    return sendsLeft(history, this.#policy);
  }

  /** True if there are unsettled tasks, and an outage holds all of them. */
  get areHeld(): boolean {
    return this.#held.size > 0 && this.#held.size === this.#tasks.size;
  }

  /** Waits until `room` resolves; until then {@link pending} is infinite. */
  async blocked(room: Promise<void>): Promise<void> {
    this.#blocked += 1;
    await room;
    this.#blocked -= 1;
  }

  add(task: TaskState): void {
    this.#tasks.add(task);
  }

  delete(task: TaskState): void {
    this.#tasks.delete(task);
  }

  backOff(task: TaskState, delayMs: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(task);
      then();
    }, delayMs);
    this.#timers.set(task, timer);
  }

  hold(task: TaskState): void {
    this.#held.add(task);
  }

  takeHeld(): readonly TaskState[] {
    const held = [...this.#held];
    this.#held.clear();
    return held;
  }

  /** Ends the wait of all tasks that back off or are held. Returns them. */
  takeBackingOff(): readonly TaskState[] {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    const taken = [...this.#timers.keys(), ...this.#held];
    this.#timers.clear();
    this.#held.clear();
    return taken;
  }
}
