import type {Process} from './process.ts';

/**
 * When in a turn of its process's loop something is fired, as Node.js has it: timers and what comes in order over one
 * connection, then what the system has done meanwhile, in any order, and then what was put off to the turn's end.
 */
export type Phase = 'timers' | 'poll' | 'check';
const phases: readonly Phase[] = ['timers', 'poll', 'check'];

/** Something that happens at a moment; as Node's timers, it can be taken back, and keeps nothing alive. */
export interface Timer {
  atMs: number;
  readonly order: number;
  readonly phase: Phase;
  readonly work: () => void;
  readonly process: Process | undefined;
  readonly periodMs: number | undefined;
  isOver: boolean;
  unref(): void;
}

/** Events by their moment, and in the order in which they were added where that is the same. */
export class EventQueue {
  #waiting: Timer[] = [];
  #added = 0;

  add(
    atMs: number,
    work: () => void,
    process: Process | undefined,
    phase: Phase = 'timers',
    periodMs?: number,
  ): Timer {
    const timer = {atMs, work, process, phase, periodMs, order: ++this.#added, isOver: false, unref() {}};
    return this.#insert(timer);
  }

  /** The next event, which stays in the queue. */
  first(): Timer | undefined {
    for (;;) {
      const [timer] = this.#waiting;
      if (timer === undefined || isDue(timer)) return timer;
      this.#waiting.shift();
    }
  }

  /** Takes out what a process has to do by then, as one turn of its loop does it. */
  turnOf(process: Process | undefined, untilMs: number, random: () => number): Timer[] {
    const isTaken = (timer: Timer) => timer.process === process && timer.atMs <= untilMs;
    const taken = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter(timer => !isTaken(timer));
    for (const timer of taken) {
      if (timer.periodMs === undefined) continue;
      // As Node does it: what was missed is not made up for.
      timer.atMs = Math.max(timer.atMs, untilMs) + timer.periodMs;
      this.#insert(timer);
    }
    return phases.flatMap(phase => {
      const own = taken.filter(timer => timer.phase === phase);
      return phase === 'poll' ? shuffled(own, random) : own;
    });
  }

  #insert(timer: Timer): Timer {
    const queue = this.#waiting;
    let at = queue.length;
    while (at > 0 && isLater(queue[at - 1] as Timer, timer)) at -= 1;
    queue.splice(at, 0, timer);
    return timer;
  }
}

/** Neither taken back nor of a process that is no more. */
export function isDue(timer: Timer): boolean {
  return !timer.isOver && timer.process?.alive !== false;
}

function shuffled<T>(things: T[], random: () => number): T[] {
  if (things.length < 2) return things;
  const lots = things.map(thing => ({thing, lot: random()}));
  return lots.sort((a, b) => a.lot - b.lot).map(({thing}) => thing);
}

function isLater(a: Timer, b: Timer): boolean {
  return a.atMs > b.atMs || (a.atMs === b.atMs && a.order > b.order);
}
