import {type PolicySettings, sendsLeft} from '../policy.ts';
import type {TaskState} from '../task-state.ts';

/** The tasks that were taken and are not settled, and which of them back off: for a while, or until an outage is over. */
export class Unsettled implements Iterable<TaskState> {
  readonly #tasks = new Set<TaskState>();
  readonly #timers = new Map<TaskState, NodeJS.Timeout>();
  readonly #held = new Set<TaskState>();
  readonly #policy: PolicySettings;
  /** Callers that wait until more tasks may be taken. */
  #blocked = 0;

  constructor(policy: PolicySettings) {
    this.#policy = policy;
  }

  [Symbol.iterator](): Iterator<TaskState> {
    return this.#tasks.values();
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** How many there are; infinity while more of them wait outside. */
  get pending(): number {
    return this.#blocked > 0 ? Number.POSITIVE_INFINITY : this.#tasks.size;
  }

  /** How often they may still be sent, all together; infinity while more of them wait outside. */
  get sendsLeft(): number {
    if (this.#blocked > 0) return Number.POSITIVE_INFINITY;
    return [...this.#tasks].reduce((sum, {doubts}) => sum + sendsLeft(doubts, this.#policy), 0);
  }

  /** True if nothing is left but tasks that are held. */
  get areHeld(): boolean {
    return this.#held.size > 0 && this.#held.size === this.#tasks.size;
  }

  /** Waits for room, with tasks that come after it. */
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

  /** Calls `then` after so many milliseconds. */
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

  /** Takes out those that are held. */
  takeHeld(): readonly TaskState[] {
    const held = [...this.#held];
    this.#held.clear();
    return held;
  }

  /** Takes out those that back off or are held: all of them, or those that `isMeant`. */
  takeBackingOff(isMeant: (task: TaskState) => boolean = () => true): readonly TaskState[] {
    const taken = [...this.#timers.keys(), ...this.#held].filter(isMeant);
    for (const task of taken) {
      clearTimeout(this.#timers.get(task));
      this.#timers.delete(task);
      this.#held.delete(task);
    }
    return taken;
  }
}
