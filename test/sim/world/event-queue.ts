import type {Process} from './process.ts';

/** Something that happens at a moment; as Node's timers, it can be taken back. */
export class Timer {
  atMs: number;
  readonly order: number;
  readonly work: () => void;
  readonly process: Process | undefined;
  readonly periodMs: number | undefined;
  isOver = false;

  constructor(
    atMs: number,
    order: number,
    work: () => void,
    process: Process | undefined,
    periodMs?: number,
  ) {
    this.atMs = atMs;
    this.order = order;
    this.work = work;
    this.process = process;
    this.periodMs = periodMs;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.toPrimitive](): number {
    return this.order;
  }
}

/** Events by their moment, and in the order in which they were added where that is the same. */
export class EventQueue {
  #waiting: Timer[] = [];
  #added = 0;

  add(atMs: number, work: () => void, process: Process | undefined): Timer {
    return this.#insert(new Timer(atMs, ++this.#added, work, process));
  }

  addRepeated(atMs: number, periodMs: number, work: () => void, process: Process | undefined): Timer {
    return this.#insert(new Timer(atMs, ++this.#added, work, process, Math.max(1, periodMs)));
  }

  cancel(timer: unknown): void {
    if (timer instanceof Timer) timer.isOver = true;
  }

  /** Takes the next event out of the queue, and the moment that it is due. */
  next(): {readonly timer: Timer; readonly atMs: number} | undefined {
    for (;;) {
      const timer = this.#waiting.shift();
      if (timer === undefined) return undefined;
      if (timer.isOver || timer.process?.alive === false) continue;
      const {atMs} = timer;
      if (timer.periodMs !== undefined) {
        timer.atMs += timer.periodMs;
        this.#insert(timer);
      }
      return {timer, atMs};
    }
  }

  #insert(timer: Timer): Timer {
    const queue = this.#waiting;
    let at = queue.length;
    while (at > 0 && isLater(queue[at - 1] as Timer, timer)) at -= 1;
    queue.splice(at, 0, timer);
    return timer;
  }
}

function isLater(a: Timer, b: Timer): boolean {
  return a.atMs > b.atMs || (a.atMs === b.atMs && a.order > b.order);
}
