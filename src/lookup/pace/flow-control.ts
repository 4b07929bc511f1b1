import type {Attempt} from '../../client/attempt.ts';
import type {Lookup} from '../../ledger/lookup.ts';
import type {RefusalTally} from '../../ledger/tally.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {askedMs, type Blame, policyNumbers as numbers} from '../policy.ts';
import {Canary, type Streak} from './canary.ts';
import {InFlight} from './in-flight.ts';
import {type Outage, type OutageOptions, OutageWatch, type ProbeCandidate} from './outage.ts';
import {type OutageState, type Pause, PauseLog, type StopReason} from './pause.ts';
import {ThrottleGate} from './throttle-gate.ts';

export interface FlowControlOptions extends OutageOptions {
  /** Calls in flight at most, of all operations together. */
  readonly slots: () => number;
  /** Whether an answer of this operation is known from before, in this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Where an operation's refusals are counted. */
  readonly refusals: (operation: Operation) => RefusalTally;
  /** True if no outage that shows in failing calls ends the run. */
  readonly outlastsOutages?: boolean | undefined;
  readonly now: () => number;
  /** Something may be sent that could not be before. */
  readonly onOpen: () => void;
  readonly onStop: (reason: StopReason) => void;
  /** So many calls of an operation were refused in a row that their values are not to blame; told once a session for each streak. */
  readonly onStreak: (operation: Operation, streak: Streak) => void;
  /** True if a streak of any length is of values, and ends nothing. */
  readonly mayAllFail?: boolean | undefined;
}

type AttemptThatIs<Kind extends Attempt['kind']> = Extract<Attempt, {readonly kind: Kind}>;

/**
 * Decides how much may be sent at this moment, for everybody at once: the gate that one throttled call closes, the
 * outage mode with its single probe, the ramp after it, and the canary at the start of each operation.
 */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #canaries = new Map<Operation, Canary>();
  readonly #outages: OutageWatch;
  readonly #gate: ThrottleGate;
  readonly #pauses = new PauseLog();
  readonly inFlight: InFlight;
  /** True once any operation was answered: from then on a token that is invalid is not the key. */
  #isKeyAccepted = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.inFlight = new InFlight(options.now);
    this.#outages = new OutageWatch(options);
    this.#gate = new ThrottleGate(options.random);
  }

  /** Which of these may be sent now, at most `most`, in order. */
  admit<T extends ProbeCandidate & {readonly lookup: Lookup; isUrgent(): boolean}>(
    waiting: readonly T[],
    most: number,
  ): T[] {
    const now = this.#options.now();
    this.#gate.reopen(now);
    this.#notePause(now);
    const admitted: T[] = [];
    let candidates = waiting;
    let room = Math.min(most, this.#room(now));
    if (room <= 0 && this.#outages.current !== undefined) {
      candidates = waiting.filter(task => task.isUrgent());
      if (candidates.length > 0) room = Math.min(most, this.#room(now, true));
    }
    if (room <= 0) {
      if (waiting.length > 0 && this.#timer === undefined && this.#opensAt > now) this.#wakeLater();
      return admitted;
    }
    const planned = new Map<Operation, number>();
    for (const task of this.#outages.candidates(candidates)) {
      if (room <= 0) break;
      const {operation} = task.lookup;
      const more = planned.get(operation) ?? 0;
      if (!this.#canary(operation).allows(more)) continue;
      planned.set(operation, more + 1);
      admitted.push(task);
      room -= 1;
    }
    return admitted;
  }

  /** A call for this lookup is on its way. */
  sent({operation, key}: Lookup): void {
    this.#canary(operation).sent();
    this.#outages.sent(key);
    this.inFlight.sent();
  }

  /** A call ended. Says who is to blame where that was a failure. `isKnown`: its value was refused so before. */
  ended({operation, key, params}: Lookup, attempt: Attempt, isKnown = false): Blame {
    const now = this.#options.now();
    this.inFlight.ended();
    const value = params[operations[operation].field] ?? '';
    const streak = this.#canary(operation).ended(attempt, value, isKnown);
    this.#isKeyAccepted ||= attempt.kind === 'answered';
    let blame: Blame = 'value';
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.#outages.succeeded();
        this.#gate.succeeded();
        this.#gate.observeQuota(attempt.pace, this.inFlight.count, now);
        if (streak !== undefined) this.#refused(operation, streak);
        break;
      case 'throttled':
        this.#outages.inconclusive(key);
        this.#throttled(attempt, now);
        break;
      case 'ambiguous':
        blame = this.#ambiguous(key, attempt, now);
        break;
      case 'not_sent':
        this.#notSent(key, attempt, now);
        break;
      case 'rekeyed':
        this.#outages.inconclusive(key);
        break;
      case 'fatal':
        this.#giveUp({kind: 'fatal', attempt});
        break;
      default:
        attempt satisfies never;
    }
    this.#giveUpWhenOverdue(now);
    this.#wakeLater();
    return blame;
  }

  /** Nothing more is asked about this value. */
  settled(key: string): void {
    this.#outages.settled(key);
    this.rest();
  }

  /** Sleeps if nothing is pending, until the next value: a program may end while an enricher has nothing to do. */
  rest(): void {
    if (this.#options.tasks.pending === 0) this.#sleep();
  }

  /** Ends the run in an outage if all that is left is held: then no value may be sent to find out that it is over. */
  endWithoutResends(): void {
    const outage = this.#outages.current;
    if (this.#options.tasks.areHeld && outage !== undefined)
      this.#giveUpFor(outage, this.#options.now(), 'no resends');
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#stopped = true;
    this.#sleep();
    this.#notePause(this.#options.now());
  }

  /** Whether every value that is left has failed since anything succeeded. */
  get onlyFailingLeft(): boolean {
    return this.#outages.onlyFailingLeft;
  }

  /** True if a rejection is of its value: the service is known to answer the operation, and does not refuse all calls of it. */
  trusts(operation: Operation): boolean {
    return !this.#canary(operation).isStreak && this.#options.isAnswered(operation);
  }

  get outage(): OutageState | undefined {
    const state = this.#outages.stateAt(this.#options.now());
    return state && {...state, isOverdue: state.isOverdue && this.#options.outlastsOutages === true};
  }

  /** Why nothing is sent at the moment; undefined while something is. */
  get pause(): Pause | undefined {
    const {pause} = this.#gate;
    if (pause !== undefined && pause.untilMs > this.#options.now()) return pause;
    const outage = this.#outages.current;
    return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
  }

  /** The calls in flight, and how often and how long everything stood still. */
  report() {
    const {count: pauses, ms: pausedMs} = this.#pauses.total(this.#options.now());
    const {count: inFlight, ms: inFlightMs} = this.inFlight;
    return {inFlight, inFlightMs, pause: this.pause, pauses, pausedMs};
  }

  #room(now: number, isUrgent = false): number {
    if (this.#stopped || this.#gate.pause !== undefined) return 0;
    return Math.min(
      this.#options.slots() - this.inFlight.count,
      this.#outages.room(now, this.inFlight.count, isUrgent),
    );
  }

  #canary(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      const {isAnswered, refusals} = this.#options;
      canary = new Canary(() => isAnswered(operation), refusals(operation));
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  #refused(operation: Operation, streak: Streak): void {
    const {count, isNew, isKnownToAnswer} = streak;
    if (isNew) this.#options.onStreak(operation, streak);
    if (isKnownToAnswer && (count < numbers.longestRefusalStreak || this.#options.mayAllFail === true))
      return;
    // A token that is not valid is not the key, once the key was accepted.
    const credentials = streak.credentials && !(streak.code === INVALID_TOKEN && this.#isKeyAccepted);
    this.#giveUp({kind: 'refused', operation, streak: {...streak, credentials}});
  }

  /** A call that was lost with a fleet's worker says nothing of the service. */
  #ambiguous(key: string, attempt: AttemptThatIs<'ambiguous'>, now: number): Blame {
    if (attempt.lost !== true) return this.#outages.failed(key, attempt, now);
    this.#outages.inconclusive(key);
    return 'value';
  }

  /** A worker that gave the value back is held by the fleet's gate, or is about to go: that is no failure. */
  #notSent(key: string, {code, closedMs}: AttemptThatIs<'not_sent'>, now: number): void {
    if (closedMs === undefined) this.#outages.notSent(key, code, now);
    else {
      this.#outages.inconclusive(key);
      if (closedMs > 0) this.#gate.close({reason: 'throttled', detail: code, untilMs: now + closedMs});
    }
  }

  #throttled(attempt: AttemptThatIs<'throttled'>, now: number): void {
    this.#gate.throttledSince ??= this.#outages.current?.since ?? now;
    const sinceMs = this.#gate.throttledSince;
    const asked = askedMs(attempt, now);
    if (Math.max(asked ?? 0, now - sinceMs) <= this.#options.maxOutageMs) {
      this.#gate.throttled(attempt, now);
      return;
    }
    const comeBackMs = now + (asked ?? now - sinceMs);
    const why = asked === undefined ? 'too long' : 'asked';
    this.#giveUp({kind: 'outage', cause: attempt.code, sinceMs, comeBackMs, why});
  }

  #giveUpWhenOverdue(now: number): void {
    const outage = this.#outages.overdue(now);
    if (outage !== undefined) this.#giveUpFor(outage, now, 'too long');
  }

  /** As long again as it has lasted is when to come back: the next step of a backoff that began with the outage. */
  #giveUpFor({cause, since: sinceMs}: Readonly<Outage>, now: number, why: 'too long' | 'no resends'): void {
    if (this.#options.outlastsOutages === true) return;
    const comeBackMs = now + Math.max(now - sinceMs, numbers.comeBackAfterMs);
    this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs, why});
  }

  #giveUp(reason: StopReason): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.onStop(reason);
  }

  /** Wakes what waits when something may be sent again. */
  #wakeLater(): void {
    this.#notePause(this.#options.now());
    this.#sleep();
    if (this.#stopped) return;
    const opens = this.#opensAt;
    const wait = opens - this.#options.now();
    if (opens > 0) this.#timer = setTimeout(() => this.#wake(opens), Math.max(0, wait) + 1);
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** When the gate opens and the next probe is due, whichever is later; 0 where neither holds anything up. */
  get #opensAt(): number {
    return Math.max(this.#gate.pause?.untilMs ?? 0, this.#outages.current?.nextProbe ?? 0);
  }

  /** Timers may come early, by the clock that counts here. */
  #wake(opens: number): void {
    this.#timer = undefined;
    if (this.#options.now() < opens) this.#wakeLater();
    else this.#options.onOpen();
  }

  #notePause(now: number): void {
    const standsStill = this.#gate.pause !== undefined || this.#outages.current !== undefined;
    this.#pauses.note(!this.#stopped && standsStill, now);
  }
}
