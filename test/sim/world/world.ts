import {randomOf} from '../../support/random.ts';
import {EventQueue, isDue, type Phase, type Timer} from './event-queue.ts';
import {type Fate, Killed, type Process} from './process.ts';

/** When every simulation begins: some day in the morning, UTC. */
const START_MS = Date.UTC(2026, 2, 10, 8);

/** So many events are more than any run needs: it goes in circles. */
const MOST_EVENTS = 1_000_000;
const MOST_IO_MS = 2;
const PATIENT_TURNS = 100;
const FIRST_PID = 1_000;

/** The longest period of what only looks at something: how late timers are. */
const LOOKING_MS = 10;

/** How long a turn of a process's loop may take, in milliseconds: mostly nothing to speak of, at times longer than a call. */
const TURN_MS = {usual: 4, long: 40};

/**
 * Virtual time, and whatever happens in it: one event after the other, each of one process, whose code has come to rest
 * before the next. So nothing depends on anything but the seed, and whose code runs is always known. A process takes its
 * events in turns, as Node's loop does: what comes due while it is busy is fired in one turn, and what is put off to the
 * turn's end waits for all of it.
 */
export class World {
  readonly random: () => number;
  /** What the program's `Math.random` gives. */
  readonly luck: () => number;
  readonly history: string[] = [];
  readonly events = new EventQueue();
  current: Process | undefined;
  #running = new Set<Process>();
  readonly #begun: Process[] = [];
  #nowMs = 0;
  #clockMs = 0;
  /** Timers of the current turn that have not fired. */
  #turn: Timer[] = [];
  /** How often a turn takes any time: some machines have more to do. */
  readonly #busy: number;
  readonly #ioMs: number;
  /** Told when power fails: what is not synced may be lost. */
  onPowerCut: () => void = () => {};

  /** With `isEven`, no turn takes any time, and the program's own luck is average. */
  constructor(seed: number, isEven = false) {
    this.random = randomOf(seed);
    this.luck = isEven ? () => 0.5 : this.random;
    this.#busy = isEven ? 0 : this.random() * 0.6;
    this.#ioMs = isEven ? 0 : MOST_IO_MS;
  }

  /** How long the system takes for what it is asked for in the background. */
  ioMs(): number {
    return this.random() * this.#ioMs;
  }

  /** Milliseconds since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get wallMs(): number {
    return Math.floor(START_MS + this.#nowMs + this.#clockMs);
  }

  /** Sets the computer's clock, which tells the date, forward or back. */
  stepClock(ms: number): void {
    this.note(`the clock steps by ${ms / 1_000} s`);
    this.#clockMs += ms;
  }

  /** True if a process of this number is alive. */
  isAlive(pid: number): boolean {
    return this.#begun[pid - FIRST_PID]?.alive === true;
  }

  #begin(process: Process): void {
    process.pid = FIRST_PID + this.#begun.length;
    this.#begun.push(process);
  }

  /** Time passes while all stand still. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  /** The same while others go on with their work. */
  async idle(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    while ((this.events.first()?.atMs ?? untilMs) < untilMs) {
      this.#fireNext();
      await settled();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Begins a process on a machine of its own, for which nobody waits. */
  spawn(process: Process, main: () => Promise<void>, afterMs = 0): void {
    this.#begin(process);
    this.later(afterMs, () => void main(), process);
  }

  note(what: string): void {
    this.history.push(`${this.#nowMs.toFixed(0).padStart(8)} ${this.current?.name ?? '-'} ${what}`);
  }

  /** Has `work` done by the process that is running now, later. */
  later(delayMs: number, work: () => void, process = this.current, phase: Phase = 'timers'): Timer {
    return this.events.add(this.#nowMs + Math.max(0, delayMs), work, process, phase);
  }

  /** The same of what the system does for it: what is done by then may come in any order. */
  poll(delayMs: number, work: () => void): Timer {
    return this.later(delayMs, work, this.current, 'poll');
  }

  every(periodMs: number, work: () => void, process = this.current): Timer {
    return this.events.add(this.#nowMs + periodMs, work, process, 'timers', Math.max(1, periodMs));
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
      this.#begin(process);
      const begin = () => {
        main().finally(() => this.#ended(process));
      };
      this.later(afterMs, begin, process);
    }
    for (let count = 0; this.#running.size > 0; count++) {
      if (count > MOST_EVENTS || !(await this.#fire())) throw new Stuck(count);
      await settled();
    }
    this.current = undefined;
  }

  /** Loading a module takes a few turns of the real loop. */
  async #fire(): Promise<boolean> {
    for (let turn = 0; turn < PATIENT_TURNS; turn++) {
      if (this.#running.size === 0 || this.#fireNext()) return true;
      await settled();
    }
    return false;
  }

  /** Fires the next event that may change something; whether there was one. */
  #fireNext(): boolean {
    for (let count = 0; count < MOST_EVENTS; count++) {
      const timer = this.#nextTimer();
      if (timer === undefined) return false;
      this.current = timer.process;
      try {
        timer.work();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      // One that comes every few milliseconds only looks at something. Any other may have work done that takes a while.
      if (timer.periodMs === undefined || timer.periodMs > LOOKING_MS) return true;
    }
    return false;
  }

  #nextTimer(): Timer | undefined {
    for (;;) {
      const timer = this.#turn.shift();
      if (timer !== undefined && isDue(timer)) return timer;
      if (timer === undefined && !this.#beginTurn()) return undefined;
    }
  }

  /** The process that is due next gets a turn, after whatever kept it busy. */
  #beginTurn(): boolean {
    const first = this.events.first();
    if (first === undefined) return false;
    this.#nowMs = Math.max(this.#nowMs, first.atMs) + this.#turnMs();
    this.#turn = this.events.turnOf(first.process, this.#nowMs, this.luck);
    return true;
  }

  #turnMs(): number {
    const luck = this.random();
    if (luck > this.#busy) return 0;
    return this.random() * (luck < this.#busy / 8 ? TURN_MS.long : TURN_MS.usual);
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
