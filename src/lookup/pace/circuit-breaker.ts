import type {Attempt} from '../../client/attempt.ts';
import type {ValueHistory} from '../../ledger/run/ledger-entry.ts';
import {
  type Blame,
  backoffMs,
  blamesValue,
  policyNumbers as numbers,
  type RetrySettings,
  sendsLeft,
} from '../retry-policy.ts';

export interface BreakerOptions {
  readonly maxOutageMs: number;
  readonly policy: RetrySettings;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

interface Task {
  readonly entry: {readonly history: ValueHistory};
}

/** Returns the values that are not settled yet; undefined while callers have more of them. */
export type OpenTasks = () => readonly Task[] | undefined;

/** A value whose call failed since the last successful call of any value. */
interface Failing {
  /** True if the last failure may be the value's fault. */
  readonly ofValue: boolean;
  readonly settled: boolean;
}

/** Times are in milliseconds since the epoch. */
export interface Outage {
  readonly since: number;
  /** Error code of the failure with which the outage began. */
  readonly cause: string;
  /** Number of failed probes. */
  probes: number;
  /** Key of the value that is in flight as the probe. */
  probe: string | undefined;
  nextProbe: number;
  /**
   * True once the outage has lasted a minute and only values are left that may be to blame. Each then gets
   * one last attempt.
   */
  lastCall: boolean;
}

/** Maximum calls in flight right after an outage. Each success allows one more. */
const FIRST_RAMP = 2;

/**
 * Decides if failures are an outage or faults of single values: open in an outage, half-open while the ramp lasts. An
 * outage begins if several values fail without a success in between, or if the retry budget is empty. During an outage
 * no value fails, and one value at a time is sent as the probe. A probe counts as a resend, so values with the most
 * resends left are sent first. The run ends once all resends are used up.
 *
 * If the service breaks on certain values, they look like an outage once no other values are left. If for a minute
 * they got only the service's own error, each gets one last call and then fails.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #open: OpenTasks;
  readonly #failing = new Map<string, Failing>();
  #tokens: number = numbers.budgetTokens;
  #notSentStreak = 0;
  #outage: Outage | undefined;
  #ramp = Number.POSITIVE_INFINITY;

  constructor(options: BreakerOptions, open: OpenTasks) {
    this.#options = options;
    this.#open = open;
  }

  /**
   * The outage, if only probes may be sent. Undefined without an outage, and during the last call, when each
   * remaining value gets one last attempt.
   */
  get current(): Readonly<Outage> | undefined {
    return this.#outage?.lastCall === true ? undefined : this.#outage;
  }

  /** True if each remaining value has failed since the last success. Then no fresh value can be the probe. */
  get onlyFailingLeft(): boolean {
    const open = this.#open();
    return open !== undefined && open.length <= this.#failingLeft.length;
  }

  get #failingLeft(): readonly Failing[] {
    return [...this.#failing.values()].filter(({settled}) => !settled);
  }

  /** Number of further calls that may be sent. */
  room(now: number, inFlight: number): number {
    const outage = this.current;
    if (outage === undefined) return this.#ramp - inFlight;
    return outage.probe !== undefined || now < outage.nextProbe ? 0 : 1;
  }

  /**
   * The calls that may be sent, in order. In an outage, the best probe is a call whose value has not failed:
   * only this call is returned. If all have failed, those with the most resends left come first: the others
   * may need their last resends later.
   */
  candidates<T extends Task & {readonly key: string}>(waiting: readonly T[]): readonly T[] {
    if (this.current === undefined) return waiting;
    const fresh = waiting.find(({key}) => !this.#failing.has(key));
    return fresh ? [fresh] : waiting.toSorted((a, b) => this.#sendsLeft(b) - this.#sendsLeft(a));
  }

  sent(key: string): void {
    if (this.#outage?.lastCall === false) this.#outage.probe = key;
  }

  /** Notes that the value needs no more calls. */
  settled(key: string): void {
    const failing = this.#failing.get(key);
    if (failing !== undefined) this.#failing.set(key, {...failing, settled: true});
  }

  /** Notes the end of a call that says nothing about the service's health. */
  inconclusive(key: string): void {
    if (this.#outage?.probe === key) this.#outage.probe = undefined;
  }

  /** Notes that the service answers. Ends the outage if there is one, and allows more calls in flight. */
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

  /** Notes a call that brought no answer and may have been carried out. Returns who is to blame. */
  failed(key: string, attempt: Extract<Attempt, {kind: 'ambiguous'}>, now: number): Blame {
    this.#notSentStreak = 0;
    const known = this.#failing.has(key);
    this.#fails(key, blamesValue(attempt));
    if (this.#outage !== undefined) return this.#failedInOutage(this.#outage, key, known, now);
    this.#tokens -= 1;
    if (this.#failing.size < numbers.outageValues && this.#tokens > 0) return 'value';
    return this.#begin(attempt.code, now);
  }

  /** Notes a call that could not be sent. Returns who is to blame. */
  notSent(key: string, code: string, now: number): Blame {
    this.#notSentStreak += 1;
    if (this.#outage !== undefined) {
      this.#fails(key, false);
      this.#outage.lastCall = false;
      return this.#probeFailed(this.#outage, key, now);
    }
    return this.#notSentStreak < numbers.unsentStreak ? 'value' : this.#begin(code, now);
  }

  overdue(now: number): Readonly<Outage> | undefined {
    const outage = this.current;
    return outage !== undefined && now - outage.since >= this.#options.maxOutageMs ? outage : undefined;
  }

  #sendsLeft({entry}: Task): number {
    return sendsLeft(entry.history, this.#options.policy);
  }

  #fails(key: string, ofValue: boolean): void {
    this.#failing.set(key, {ofValue, settled: this.#failing.get(key)?.settled ?? false});
  }

  #begin(cause: string, now: number): Blame {
    this.#outage = {since: now, cause, probes: 0, probe: undefined, nextProbe: now, lastCall: false};
    this.#scheduleProbe(this.#outage, now);
    return 'service';
  }

  #failedInOutage(outage: Outage, key: string, known: boolean, now: number): Blame {
    const ofValues = this.#failingLeft.every(failing => failing.ofValue);
    if (outage.lastCall) {
      if (known && ofValues) return 'value for good';
      outage.lastCall = false;
    }
    this.#probeFailed(outage, key, now);
    if (!ofValues || !this.onlyFailingLeft || now - outage.since < numbers.patienceMs) return 'service';
    outage.lastCall = true;
    this.#ramp = FIRST_RAMP;
    return 'value for good';
  }

  /** Notes a failed probe, and lengthens the wait for the next one. Ignores calls from before the outage. */
  #probeFailed(outage: Outage, key: string, now: number): Blame {
    if (outage.probe === key) {
      outage.probe = undefined;
      outage.probes += 1;
      this.#scheduleProbe(outage, now);
    }
    return 'service';
  }

  /**
   * Sets the time of the next probe. If few sends are left, probes are spread over the time that an outage
   * may last, with one at its end. The very last send waits until the outage is at least a minute old.
   */
  #scheduleProbe(outage: Outage, now: number): void {
    const end = outage.since + this.#options.maxOutageMs;
    const left =
      this.#open()?.reduce((sum, task) => sum + this.#sendsLeft(task), 0) ?? Number.POSITIVE_INFINITY;
    const cap = Math.max(numbers.probeCapMs, (end - now) / left);
    // Waits at least half of the backoff's bound: a random wait near 0 would send one probe right after another.
    const wait = backoffMs(outage.probes, cap, 0.5 + this.#options.random() / 2);
    const next = Math.max(now + wait, left > 1 ? 0 : outage.since + numbers.patienceMs);
    outage.nextProbe = now < end ? Math.min(next, end) : next;
  }
}
