import type {Attempt} from '../../client/attempt.ts';
import type {Lookup} from '../../ledger/lookup.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {askedMs, type Counting, policyNumbers as numbers} from '../policy.ts';
import {Canary} from './canary.ts';
import {type Forgive, type OutageOptions, type OutageState, OutageWatch} from './outage.ts';
import {type Pause, PauseLog, type StopReason} from './pause.ts';
import {ThrottleGate} from './throttle-gate.ts';

export interface FlowControlOptions extends OutageOptions {
  /** Calls in flight at most, of all operations together. */
  readonly slots: () => number;
  /** Whether an answer of this operation is known from before, in this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** True if no outage that shows in failing calls ends the run. */
  readonly outlastsOutages?: boolean | undefined;
  readonly now: () => number;
  /** Something may be sent that could not be before. */
  readonly onOpen: () => void;
  readonly onStop: (reason: StopReason) => void;
}

type Sent = Pick<Lookup, 'operation' | 'key' | 'params'>;
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
  #inFlight = 0;
  #inFlightMs = 0;
  #countedAt: number;
  /** When the answers began to be read that are read in this turn of the event loop: all of them had come by then. */
  #readFrom: number | undefined;
  /** True once any operation was answered: from then on a token that is invalid is not the key. */
  #isKeyAccepted = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#countedAt = options.now();
    this.#outages = new OutageWatch(options);
    this.#gate = new ThrottleGate(options.random);
  }

  /** Which of these may be sent now, at most `most`, in order. */
  admit<T extends {readonly lookup: Sent; readonly isUrgent?: () => boolean}>(
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
      candidates = waiting.filter(({isUrgent}) => isUrgent?.() === true);
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
  sent({operation, key}: Sent): void {
    this.#canary(operation).sent();
    this.#outages.sent(key);
    this.#countInFlight(1);
  }

  /**
   * A call ended, and with that how a failure counts. `forgive` takes back attempts that counted against the value,
   * should it turn out to be an outage.
   */
  ended({operation, key, params}: Sent, attempt: Attempt, forgive: Forgive): Counting {
    const now = this.#options.now();
    this.#countInFlight(-1);
    this.#inFlightMs -= now - this.#readSince(now);
    const refusedBy = this.#canary(operation).ended(attempt, operations[operation].subject(params));
    this.#isKeyAccepted ||= attempt.kind === 'answered';
    let counting: Counting = 'counts';
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.#outages.succeeded();
        this.#gate.succeeded();
        this.#gate.observeQuota(attempt.pace, this.#inFlight, now);
        if (refusedBy !== undefined) {
          const credentials = attempt.status === 403 || (refusedBy === INVALID_TOKEN && !this.#isKeyAccepted);
          this.#giveUp({kind: 'refused', operation, code: refusedBy, credentials});
        }
        break;
      case 'throttled':
        this.#outages.inconclusive(key);
        this.#throttled(attempt, now);
        break;
      case 'ambiguous':
        counting = this.#ambiguous(key, attempt, now, forgive);
        break;
      case 'not_sent':
        this.#notSent(key, attempt, now, forgive);
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
    return counting;
  }

  /** Nothing more is asked about this value. */
  settled(key: string): void {
    this.#outages.settled(key);
    this.rest();
  }

  /** Sleeps if nothing is pending, until the next value: a program may end while an enricher has nothing to do. */
  rest(): void {
    if (this.#options.pending() === 0) this.#sleep();
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

  get outage(): OutageState | undefined {
    const state = this.#outages.stateAt(this.#options.now());
    return state && {...state, isOverdue: state.isOverdue && this.#options.outlastsOutages === true};
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls in flight over time: each for as many milliseconds as the service had it, from the start until now. */
  get inFlightMs(): number {
    this.#countInFlight(0);
    return this.#inFlightMs;
  }

  /** Why nothing is sent at the moment; undefined while something is. */
  get pause(): Pause | undefined {
    const {pause} = this.#gate;
    if (pause !== undefined && pause.untilMs > this.#options.now()) return pause;
    const outage = this.#outages.current;
    return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
  }

  /** How often and how long everything stood still, in milliseconds. */
  get paused(): {readonly count: number; readonly ms: number} {
    return this.#pauses.total(this.#options.now());
  }

  #countInFlight(more: number): void {
    const now = this.#options.now();
    this.#inFlightMs += this.#inFlight * (now - this.#countedAt);
    this.#countedAt = now;
    this.#inFlight += more;
  }

  #readSince(now: number): number {
    if (this.#readFrom === undefined) {
      this.#readFrom = now;
      setImmediate(() => {
        this.#readFrom = undefined;
      });
    }
    return this.#readFrom;
  }

  #room(now: number, isUrgent = false): number {
    if (this.#stopped || this.#gate.pause !== undefined) return 0;
    return Math.min(
      this.#options.slots() - this.#inFlight,
      this.#outages.room(now, this.#inFlight, isUrgent),
    );
  }

  #canary(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      canary = new Canary(() => this.#options.isAnswered(operation));
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  /** A call that was lost with a fleet's worker says nothing of the service, and nothing of the value. */
  #ambiguous(key: string, attempt: AttemptThatIs<'ambiguous'>, now: number, forgive: Forgive): Counting {
    if (attempt.lost !== true) return this.#outages.failed(key, attempt, now, forgive);
    this.#outages.inconclusive(key);
    return 'forgiven';
  }

  /** A worker that gave the value back is held by the fleet's gate, or is about to go: that is no failure. */
  #notSent(key: string, {code, heldMs}: AttemptThatIs<'not_sent'>, now: number, forgive: Forgive): void {
    if (heldMs === undefined) this.#outages.notSent(key, code, now, forgive);
    else {
      this.#outages.inconclusive(key);
      if (heldMs > 0) this.#gate.close({reason: 'throttled', detail: code, untilMs: now + heldMs});
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
    this.#giveUp({kind: 'outage', cause: attempt.code, sinceMs, comeBackMs, asked: asked !== undefined});
  }

  /** As long again as it has lasted is when to come back: the next step of a backoff that began with the outage. */
  #giveUpWhenOverdue(now: number): void {
    const outage = this.#outages.overdue(now);
    if (outage === undefined || this.#options.outlastsOutages === true) return;
    const {cause, since: sinceMs} = outage;
    const comeBackMs = now + Math.max(now - sinceMs, numbers.comeBackAfterMs);
    this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs, asked: false});
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
    const isOutage = this.#outages.current !== undefined;
    this.#pauses.note(!this.#stopped && (this.#gate.pause !== undefined || isOutage), now);
  }
}
