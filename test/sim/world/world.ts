import {EventQueue, type Timer} from './event-queue.ts';
import {type Fate, Killed, type Process} from './process.ts';
import {randomOf} from './random.ts';

/** When every simulation begins: some day in the morning, UTC. */
const START_MS = Date.UTC(2026, 2, 10, 8);

/** So many events are more than any run needs: it goes in circles. */
const MOST_EVENTS = 60_000;
const PATIENT_TURNS = 100;

/**
 * Virtual time, and whatever happens in it: one event after the other, each of one process, whose code has come to rest
 * before the next. So nothing depends on anything but the seed, and whose code runs is always known.
 */
export class World {
  readonly random: () => number;
  readonly history: string[] = [];
  readonly events = new EventQueue();
  current: Process | undefined;
  /** How many events have been fired. */
  fired = 0;
  #running = new Set<Process>();
  #steadyMs = 0;
  /** How far the computer's clock is from the steady one. */
  #clockMs = START_MS;
  /** Told when power fails: what is not synced may be lost. */
  onPowerCut: () => void = () => {};

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  get steadyMs(): number {
    return this.#steadyMs;
  }

  get wallMs(): number {
    return Math.floor(this.#clockMs + this.#steadyMs);
  }

  /** Sets the computer's clock on, or back. */
  moveClock(byMs: number): void {
    this.#clockMs += byMs;
  }

  /** Time passes while the process stands still. */
  stall(ms: number): void {
    this.#steadyMs += ms;
  }

  note(line: string): void {
    this.history.push(`${this.#steadyMs.toFixed(0).padStart(8)} ${this.current?.name ?? '-'} ${line}`);
  }

  /** Has `work` done by the process that is running now, later. */
  later(delayMs: number, work: () => void, process = this.current): Timer {
    return this.events.add(this.#steadyMs + Math.max(0, delayMs), work, process);
  }

  every(periodMs: number, work: () => void, process = this.current): Timer {
    return this.events.addRepeated(this.#steadyMs + periodMs, periodMs, work, process);
  }

  /**
   * A step on disk or network: what happens to a process happens here. `apply` carries it out, `tear` a part of it.
   */
  step<T>(what: string, apply: () => T, tear?: () => void): T {
    const process = this.current;
    if (process === undefined) return apply();
    if (!process.alive) throw new Killed();
    process.steps += 1;
    const {fate} = process;
    if (fate === undefined || fate.step !== process.steps) {
      this.note(what);
      return apply();
    }
    if (fate.how === 'term') {
      this.note(`${what} (and is asked to end)`);
      this.later(0, () => process.onTerm());
      return apply();
    }
    this.note(`${what} -- ${fate.how}, ${fate.moment}`);
    if (fate.moment === 'after') apply();
    else if (fate.moment === 'torn') tear?.();
    this.#kill(process, fate);
    throw new Killed();
  }

  /** Runs processes, and time with them, until all of them have ended. */
  async run(starts: readonly Start[]): Promise<void> {
    this.#running = new Set(starts.map(({process}) => process));
    for (const {process, main, afterMs} of starts) {
      const begin = () => {
        main().finally(() => this.#ended(process));
      };
      this.later(afterMs, begin, process);
    }
    for (let count = 0; this.#running.size > 0; count++) {
      if (count > MOST_EVENTS || !(await this.#goOn())) throw new Stuck(count);
      await settled();
    }
    this.current = undefined;
  }

  /** Begins a process that goes on in the background: as long as others run, and then no time passes. */
  background(process: Process, main: () => Promise<unknown>): void {
    this.later(0, () => void main().catch(() => process.end()), process);
  }

  /** Loading a module takes a few turns of the real loop. */
  async #goOn(): Promise<boolean> {
    for (let turn = 0; turn < PATIENT_TURNS; turn++) {
      if (this.#running.size === 0 || this.#fireNext()) return true;
      await settled();
    }
    return false;
  }

  /** Fires the next event that may change something; whether there was one. */
  #fireNext(): boolean {
    for (let count = 0; count < MOST_EVENTS; count++) {
      const next = this.events.next();
      if (next === undefined) return false;
      const {timer, atMs} = next;
      this.#steadyMs = Math.max(this.#steadyMs, atMs);
      this.current = timer.process;
      this.fired += 1;
      try {
        timer.work();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      // A repeated event only looks at something.
      if (timer.periodMs === undefined) return true;
    }
    return false;
  }

  #ended(process: Process): void {
    process.end();
    this.#running.delete(process);
  }

  #kill(process: Process, {how}: Fate): void {
    const dying = how === 'power' ? [...this.#running] : [process];
    for (const one of dying) {
      one.killed = true;
      this.#ended(one);
    }
    if (how === 'power') this.onPowerCut();
  }
}

export interface Start {
  readonly process: Process;
  readonly main: () => Promise<void>;
  readonly afterMs: number;
}

/** A run that never ends. */
class Stuck extends Error {
  constructor(events: number) {
    super(
      `the run does not end: after ${events} events ${events > MOST_EVENTS ? 'it goes in circles' : 'it waits for what never comes'}`,
    );
  }
}

/** All that follows from an event without another one has happened. */
const immediate = globalThis.setImmediate;
function settled(): Promise<void> {
  return new Promise(resolve => immediate(resolve));
}
