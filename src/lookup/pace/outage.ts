import type {Attempt} from '../../client/attempt.ts';
import {backoffMs, blamesValue, type Counting, policyNumbers as numbers} from '../policy.ts';

export interface OutageOptions {
  readonly maxOutageMs: number;
  /** Tasks that are not settled yet; infinity while more of them wait outside. */
  readonly pending: () => number;
  readonly random: () => number;
}

/** Takes back so many attempts that counted against a value. */
export type Forgive = (attempts: number) => void;

/** A value that failed since anything last succeeded. */
interface Failing {
  /** Attempts of that time that counted. */
  counted: number;
  /** Whether its last failure may be its own fault. */
  ofValue: boolean;
  settled: boolean;
  readonly forgive: Forgive;
}

interface Outage {
  readonly since: number;
  readonly cause: string;
  probes: number;
  /** The value that is in flight to find out whether the service is back. */
  probe: string | undefined;
  nextProbe: number;
  /** The same for a value that a request waits for. */
  nextUrgent: number;
  /** Every value that is left was tried for long enough: each gets one last attempt. */
  lastCall: boolean;
}

/** The state of an outage, for values that wait. */
export interface OutageState {
  /** The key of the value that is in flight to find out whether it is over. */
  readonly probe: string | undefined;
  /** True while not even a value that a request waits for may find that out. */
  readonly isDown: boolean;
  /** True once it has lasted for longer than is waited for, and does not end the run. */
  readonly isOverdue: boolean;
}

/** Calls in flight right after an outage; they grow by one with each success. */
const FIRST_RAMP = 2;

/**
 * Tells an outage of the service from faults of single values. Several values failing with nothing succeeding in
 * between, or an empty retry budget, is an outage: attempts count for nothing then, and one value at a time is the
 * probe, those that were not tried yet first.
 *
 * Values at which the service always breaks look the same once they are all that is left. So where each of them got
 * nothing but the service's own error for a minute, with nothing else to try, they get one last call and are failed.
 */
export class OutageWatch {
  readonly #options: OutageOptions;
  readonly #failing = new Map<string, Failing>();
  #tokens: number = numbers.budgetTokens;
  #notSentStreak = 0;
  #outage: Outage | undefined;
  #ramp = Number.POSITIVE_INFINITY;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** The outage, while only probes are sent. */
  get current(): Readonly<Outage> | undefined {
    return this.#outage?.lastCall === true ? undefined : this.#outage;
  }

  /** Whether nothing is left but values that failed since anything succeeded, so that no other value can be asked. */
  get onlyFailingLeft(): boolean {
    return this.#options.pending() <= this.#failingLeft.length;
  }

  get #failingLeft(): readonly Failing[] {
    return [...this.#failing.values()].filter(({settled}) => !settled);
  }

  /** How many more calls may be in flight now; `isUrgent`: with values that requests wait for. */
  room(now: number, inFlight: number, isUrgent = false): number {
    const outage = this.current;
    if (outage === undefined) return this.#ramp - inFlight;
    const due = isUrgent ? outage.nextUrgent : outage.nextProbe;
    return outage.probe !== undefined || now < due ? 0 : 1;
  }

  /** What may be sent of these; in an outage the best probe: a value that was not tried yet says more than one that was. */
  candidates<T extends {readonly lookup: {readonly key: string}}>(waiting: readonly T[]): readonly T[] {
    if (this.current === undefined) return waiting;
    const fresh = waiting.find(({lookup}) => !this.#failing.has(lookup.key));
    return fresh === undefined ? waiting : [fresh];
  }

  sent(key: string): void {
    if (this.#outage?.lastCall === false) this.#outage.probe = key;
  }

  /** Nothing more is asked about this value. */
  settled(key: string): void {
    const failing = this.#failing.get(key);
    if (failing !== undefined) failing.settled = true;
  }

  /** A call ended in a way that says nothing of the service's health. */
  inconclusive(key: string): void {
    if (this.#outage?.probe === key) this.#outage.probe = undefined;
  }

  /** The service is there. */
  succeeded(): void {
    this.#failing.clear();
    this.#notSentStreak = 0;
    this.#tokens = Math.min(numbers.budgetTokens, this.#tokens + numbers.budgetPerSuccess);
    if (this.#outage !== undefined) {
      this.#outage = undefined;
      this.#ramp = FIRST_RAMP;
      this.#tokens = Math.max(this.#tokens, numbers.budgetTokens / 10);
    } else {
      this.#ramp = this.#ramp >= numbers.largestRamp ? Number.POSITIVE_INFINITY : this.#ramp + 1;
    }
  }

  /** A call may have been carried out without an answer. Says how that counts against its value. */
  failed(
    key: string,
    attempt: Extract<Attempt, {kind: 'ambiguous'}>,
    now: number,
    forgive: Forgive,
  ): Counting {
    this.#notSentStreak = 0;
    const known = this.#failing.has(key);
    const failing = this.#failingOf(key, blamesValue(attempt), forgive);
    if (this.#outage !== undefined) return this.#failedInOutage(this.#outage, key, known, now);
    this.#tokens -= 1;
    if (this.#failing.size >= numbers.outageValues || this.#tokens <= 0) {
      this.#beginOutage(attempt.code, now);
      return 'forgiven';
    }
    failing.counted += 1;
    return 'counts';
  }

  /** A call could not be sent. */
  notSent(key: string, code: string, now: number, forgive: Forgive): void {
    this.#notSentStreak += 1;
    if (this.#outage === undefined) {
      if (this.#notSentStreak >= numbers.unsentStreak) this.#beginOutage(code, now);
      return;
    }
    this.#failingOf(key, false, forgive);
    this.#outage.lastCall = false;
    this.#probeFailed(this.#outage, key, now);
  }

  stateAt(now: number): OutageState | undefined {
    const outage = this.current;
    if (outage === undefined) return undefined;
    const isDown = this.room(now, 0, true) === 0;
    return {probe: outage.probe, isDown, isOverdue: this.overdue(now) !== undefined};
  }

  /** The outage, once it has lasted too long. */
  overdue(now: number): Readonly<Outage> | undefined {
    const outage = this.current;
    return outage !== undefined && now - outage.since >= this.#options.maxOutageMs ? outage : undefined;
  }

  #failingOf(key: string, ofValue: boolean, forgive: Forgive): Failing {
    const failing = this.#failing.get(key) ?? {counted: 0, ofValue, settled: false, forgive};
    failing.ofValue = ofValue;
    this.#failing.set(key, failing);
    return failing;
  }

  #beginOutage(cause: string, now: number): void {
    for (const failing of this.#failing.values()) {
      failing.forgive(failing.counted);
      failing.counted = 0;
    }
    const unset = {probe: undefined, nextProbe: now, nextUrgent: now};
    this.#outage = {since: now, cause, probes: 0, ...unset, lastCall: false};
    this.#scheduleProbe(this.#outage, now);
  }

  #failedInOutage(outage: Outage, key: string, known: boolean, now: number): Counting {
    const ofValues = this.#failingLeft.every(failing => failing.ofValue);
    if (outage.lastCall) {
      if (known && ofValues) return 'final';
      outage.lastCall = false;
    }
    this.#probeFailed(outage, key, now);
    if (!ofValues || !this.onlyFailingLeft || now - outage.since < numbers.patienceMs) return 'forgiven';
    outage.lastCall = true;
    this.#ramp = FIRST_RAMP;
    return 'final';
  }

  /** Calls that were under way when the outage began say nothing new; a probe's failure makes the wait longer. */
  #probeFailed(outage: Outage, key: string, now: number): void {
    if (outage.probe !== key) return;
    outage.probe = undefined;
    outage.probes += 1;
    this.#scheduleProbe(outage, now);
  }

  /** The last probe is at the very end of the time that an outage may last. */
  #scheduleProbe(outage: Outage, now: number): void {
    // Half the bound at least, so that a probe's luck does not become a storm.
    const wait = backoffMs(outage.probes, numbers.probeCapMs, 0.5 + this.#options.random() / 2);
    const end = outage.since + this.#options.maxOutageMs;
    outage.nextProbe = now < end ? Math.min(now + wait, end) : now + wait;
    outage.nextUrgent = now + Math.min(wait, numbers.urgentProbeMs);
  }
}
