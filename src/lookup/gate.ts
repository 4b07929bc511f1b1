import {randomInt} from 'node:crypto';
import type {Attempt} from '../client/attempt.ts';
import type {UnaskedCode} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import {boughtMeanwhile, type Call} from './call.ts';
import type {GateOptions, GateStop, PaceReport} from './gate-options.ts';
import {Lane, Lanes} from './lane.ts';
import {OpenCalls} from './open-calls.ts';
import {ServiceHealth} from './pace/service-health.ts';
import {type Blame, type Refusal, retryMs} from './policy.ts';
import {Waits} from './waits.ts';

/**
 * The one place that answers "may this call leave now?". A call takes a slot of its lane (p-queue), waits for a permit
 * of the rate (bottleneck), for the throttle, the circuit breaker and the canary ({@link ServiceHealth}), and for its
 * credits.
 *
 * It admits calls once a turn of the event loop, over all lanes: first the turn books all answers that it has read. One
 * transaction then writes these bookings with the reservations of all calls that leave next. Then the calls leave, and
 * the rows with the answers continue.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #health: ServiceHealth;
  readonly #lanes: Lanes;
  readonly #open: OpenCalls;
  readonly #waits = new Waits();
  #slots: number;
  /** Number of the last reservation. Random at first, so that no two sessions of a run use the same numbers. */
  #dispatched = randomInt(2 ** 47);
  /** Set once nothing new is sent: why calls don't leave. */
  #refusal: Refusal | undefined;
  /** Ends the waits for this turn's transaction; undefined without a due admission. */
  #written: (() => void)[] | undefined;
  /** Milliseconds that the service had the calls that ended, summed over them. */
  #servedMs = 0;
  /** When this turn read its first answer. The others had arrived by then, so their calls count until this time. */
  #readFrom: number | undefined;
  readonly #wake = () => this.#lanes.wake();

  constructor(options: GateOptions) {
    this.#options = options;
    const {lanes, outlet, ledger, policy, events, now} = options;
    this.#slots = options.concurrency ?? lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    this.#open = new OpenCalls(policy);
    this.#health = new ServiceHealth({
      ...options,
      unsettled: this.#open,
      refusals: operation => ledger.tally.refusals[operation],
      onOpen: this.#wake,
      onStop: reason => this.#giveUp(reason),
      onStreak: events.refused,
    });
    const onPermits = () => this.#admitSoon();
    this.#lanes = new Lanes(lanes.map(each => new Lane(each, outlet.keepsPace !== true, now, onPermits)));
  }

  /** Adds a value that needs calls, until it is {@link settled}. */
  open(call: Call): void {
    this.#open.add(call);
  }

  /** The value needs no more calls. Resolves once its booking is written. */
  settled(call: Call): Promise<void> {
    this.#open.delete(call);
    this.#health.breaker.settled(call.key);
    this.#health.rest();
    this.#endWithoutResends();
    const written = this.#admitSoon();
    return new Promise(resolve => void written.push(resolve));
  }

  hasRoom(operation: Operation): boolean {
    return this.#refusal !== undefined || this.#lanes.of(operation).hasRoom;
  }

  /** Resolves when another value of the operation may come. */
  async room(operation: Operation): Promise<void> {
    this.#open.blocked += 1;
    await this.#lanes.of(operation).room();
    this.#open.blocked -= 1;
    this.#health.rest();
  }

  /** Runs `send` in a slot once the call may leave, its credits reserved. Resolves with what it returns, or why not. */
  pass<Step>(call: Call, send: (perSecond: number) => Promise<Step>): Promise<Step | Refusal> {
    const lane = this.#lanes.of(call.operation);
    return lane.slots.add(async () => {
      const refusal = this.#refused(call) ?? (await lane.mayLeave(call));
      if (refusal !== undefined) return refusal;
      const sentAt = this.#options.now();
      const sending = send(lane.controller.perSecond(sentAt));
      lane.sent(sentAt);
      return sending;
    });
  }

  /** Learns from a call that has ended, before it is booked. Returns who is to blame if it failed. */
  learn(call: Call, attempt: Attempt): Blame {
    const now = this.#options.now();
    this.#readFrom ??= now;
    this.#servedMs += Math.max(0, this.#readFrom - call.sentAt);
    const blame = this.#health.ended(call, attempt, now, this.#options.ledger.inFlight - 1);
    const lane = this.#lanes.of(call.operation);
    if (attempt.kind === 'throttled')
      lane.slowDown(call.sentAt, Math.max(now, this.#health.pause?.untilMs ?? 0));
    if (!this.isOutage) this.#waits.endHeld();
    this.#lanes.wake();
    this.#admitSoon();
    return blame;
  }

  /** Why nothing new is sent; undefined while calls may leave. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  get isOutage(): boolean {
    return this.#health.breaker.current !== undefined;
  }

  /** Waits before a value's next attempt. While throttling or an outage holds all values, there is no own backoff. */
  async backOff({entry}: Call, isThrottled = false): Promise<void> {
    const {policy, random} = this.#options;
    if (this.#refusal !== undefined || isThrottled || this.#health.pause !== undefined) return;
    const delayMs = retryMs(entry.history, this.#health.breaker.onlyFailingLeft, policy, random());
    if (delayMs > 0) await this.#waits.until(delayMs);
  }

  /** Waits until the outage is over: the value has used up its sends. */
  async outageEnds(): Promise<void> {
    if (this.#refusal !== undefined) return;
    const ends = this.#waits.hold();
    this.#endWithoutResends();
    await ends;
  }

  /** Sends nothing new. Values with a call in flight are still settled. All others stay open. */
  stop(): void {
    if (this.#refusal?.next === 'stay open') return;
    this.#refuse({next: 'stay open'});
    for (const lane of this.#lanes) lane.stop();
  }

  /** Sends nothing new. Values without an outcome end without a call, for this reason. */
  close(reason: UnaskedCode): void {
    if (this.#refusal !== undefined) return;
    void this.#options.outlet.withdraw?.();
    this.#refuse({next: 'skip', reason});
  }

  /** Ends the run after an error, which is the ledger's: a failed call does not throw. */
  fail(error: unknown): void {
    if (this.#refusal?.next === 'stay open') return;
    this.stop();
    this.#options.events.stopped({kind: 'error', error});
  }

  /** Resolves once no call is in flight, at the latest after `graceMs`. */
  drained(graceMs: number): Promise<void> {
    return this.#lanes.idleWithin(graceMs);
  }

  pace(): PaceReport {
    const {ledger, outlet, now: clock} = this.#options;
    const now = clock();
    const health = this.#health.report();
    return {
      ...this.#lanes.ratesAt(now),
      inFlight: ledger.inFlight,
      inFlightMs: this.#servedMs + ledger.sumInFlight(({sentAt = now}) => now - sentAt),
      waiting: Math.max(0, this.#open.size - ledger.inFlight),
      ...health,
      pause: outlet.pause ?? health.pause,
    };
  }

  /** Maximum calls in flight from now on, divided among the lanes. */
  set slots(total: number) {
    this.#slots = this.#lanes.slots = total;
  }

  /** Ends the run if an outage holds all values that are open: none of them can test if it is over. */
  #endWithoutResends(): void {
    const {held} = this.#waits;
    if (held > 0 && held === this.#open.size) this.#health.endWithoutResends();
  }

  #refuse(refusal: Refusal): void {
    this.#refusal = refusal;
    this.#health.stop();
    this.#waits.endAll();
    for (const lane of this.#lanes) lane.endAll(refusal);
  }

  /** Why a call need not wait: nothing new is sent, or its credits are lacking. */
  #refused(call: Call): Refusal | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    const {publishOn, ledger} = this.#options;
    if (!publishOn.includes('budget')) return undefined;
    // Only a renewal ends while calls are in flight: one of them may turn out to be free, and give its credits back.
    const isFinal = call.renews || ledger.inFlight === 0;
    if (!isFinal || ledger.budget.affords(call.cost, call.renews)) return undefined;
    return {next: 'skip', reason: 'budget'};
  }

  /** Admits at the end of this turn of the event loop. Returns the list of those who wait for its transaction. */
  #admitSoon(): (() => void)[] {
    if (this.#written === undefined) {
      this.#written = [];
      setImmediate(() => this.#admit());
    }
    return this.#written;
  }

  /** Writes what this turn has booked, together with the reservations of the calls that leave now. */
  #admit(): void {
    const written = this.#written ?? [];
    this.#written = undefined;
    this.#readFrom = undefined;
    try {
      const {ledger, store} = this.#options;
      const leaving = this.#refusal === undefined ? this.#choose() : [];
      const granted = ledger.reserve(leaving);
      for (const call of leaving.slice(0, granted)) {
        this.#health.breaker.sent(call.key);
        store.purchases.begin(call);
        this.#lanes.leave(call);
      }
      if (granted < leaving.length) this.#overBudget(leaving[granted] as Call);
      else if (granted > 0) this.#lanes.wake();
      for (const end of written) end();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The calls that may leave now, in order: as many as their lanes' permits, free slots and the service's state allow. */
  #choose(): Call[] {
    const {ledger, store, now} = this.#options;
    const time = now();
    let room = Math.min(this.#slots - ledger.inFlight, this.#health.room(time, ledger.inFlight));
    const permits = this.#lanes.takePermits();
    const leaving: Call[] = [];
    if (room <= 0) return leaving;
    const isFree = (call: Call) => !store.purchases.isOfOther(call, this.#wake);
    const able = [...permits.keys()].flatMap(lane => [...lane.waiting.keys()].filter(isFree));
    const inFlightOf = (operation: Operation) =>
      ledger.sumInFlight(sent => Number(sent.operation === operation)) +
      leaving.filter(call => call.operation === operation).length;
    for (const call of this.#health.breaker.candidates(able)) {
      if (room <= 0) break;
      const lane = this.#lanes.of(call.operation);
      const left = permits.get(lane) ?? 0;
      if (left <= 0 || this.#hasEnded(call, lane)) continue;
      if (!this.#health.canaryOf(call.operation).allows(() => inFlightOf(call.operation))) continue;
      permits.set(lane, left - 1);
      room -= 1;
      leaving.push(Object.assign(call, {dispatch: ++this.#dispatched, sentAt: time}));
    }
    return leaving;
  }

  /** True if another run has bought the answer since the call began to wait: then the call ends with it. */
  #hasEnded(call: Call, lane: Lane): boolean {
    const {store, ledger} = this.#options;
    const outcome = boughtMeanwhile(call, store);
    if (outcome === undefined) return false;
    ledger.adopt(call.entry, outcome);
    lane.end(call, {next: 'settle', outcome});
    this.#lanes.wake();
    return true;
  }

  /** A limit has no credits for this call. Ends the run or only the value, once no call may give credits back. */
  #overBudget(call: Call): void {
    if (this.#options.ledger.inFlight > 0 && !call.renews) return;
    if (!this.#options.publishOn.includes('budget')) {
      this.stop();
      this.#options.events.stopped({kind: 'budget'});
      return;
    }
    this.#lanes.of(call.operation).end(call, {next: 'skip', reason: 'budget'});
    this.#lanes.wake();
  }

  /** Makes no more calls. Stops the run too, except in an outage if `publishOn` includes `outage`. */
  #giveUp(reason: GateStop): void {
    if (this.#refusal !== undefined) return;
    const {publishOn, events} = this.#options;
    if (reason.kind === 'outage' && publishOn.includes('outage')) {
      this.close('outage');
      events.closed(reason);
      return;
    }
    this.stop();
    events.stopped(reason);
  }
}
