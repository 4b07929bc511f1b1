import {randomInt} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import type {Attempt} from '../client/attempt.ts';
import type {UnaskedCode} from '../ledger/lookup-outcome.ts';
import type {Operation} from '../operations/table.ts';
import {type Call, findNewlyStoredAnswer, type LookupOptions, type StopReason} from './call.ts';
import {Lane, sumOfRates} from './lane.ts';
import {perSecond} from './pace/rate-controller.ts';
import {ServiceHealth} from './pace/service-health.ts';
import {type Blame, retryMs, type UnsentStep} from './retry-policy.ts';

/**
 * The one place that answers "may this call leave now?". A call takes a slot of its lane and waits for a permit of the
 * rate ({@link Lane}), for the throttle, the circuit breaker and the canary ({@link ServiceHealth}), and for its
 * credits.
 *
 * It admits calls once a turn of the event loop, over all lanes: first the turn books all answers that it has read. One
 * transaction then writes these bookings with the reservations of all calls that leave next. Then the calls leave, and
 * the rows with the answers continue.
 */
export class Gate {
  readonly options: LookupOptions;
  readonly #health: ServiceHealth;
  readonly #lanes: readonly Lane[];
  /** The values that need calls and are not settled yet. */
  readonly #open = new Set<Call>();
  /** Number of callers with more values, which wait until a queue has room. */
  #blocked = 0;
  /** Ends of the waits before a next attempt: with a timer, or without one until an outage is over. */
  readonly #waits = new Map<() => void, NodeJS.Timeout | undefined>();
  #slots: number;
  /** Number of the last reservation. Random at first, so that no two sessions of a run use the same numbers. */
  #dispatched = randomInt(2 ** 47);
  /** Why nothing new is sent; undefined while calls may leave. Only the gate sets it. */
  refusal: UnsentStep | undefined;
  /** Ends the waits for this turn's transaction; undefined without a due admission. */
  #written: (() => void)[] | undefined;
  /** Milliseconds that the service had the calls that ended, summed over them. */
  #servedMs = 0;

  /** Plans leases for the calls that wait. While none may leave, they would expire: then this is done later. */
  readonly #wake = () => {
    if (this.refusal === undefined && this.#health.isOpen(this.options.now()))
      for (const lane of this.#lanes) lane.wake();
  };

  constructor(options: LookupOptions) {
    const {lanes, dispatcher, now} = options;
    this.options = options;
    this.#slots = options.concurrency ?? lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    const admitSoon = () => void this.#admitSoon();
    this.#lanes = lanes.map(one => new Lane(one, dispatcher.keepsPace !== true, now, admitSoon));
    this.#health = new ServiceHealth(
      options,
      () => (this.#blocked > 0 ? undefined : [...this.#open]),
      this.#wake,
      reason => this.stop(reason),
    );
  }

  /** The value needs no more calls. Resolves once its booking is written. */
  settled(call: Call): Promise<void> {
    this.#open.delete(call);
    this.#health.breaker.settled(call.key);
    this.#rest();
    return new Promise(resolve => void this.#admitSoon().push(resolve));
  }

  /** Resolves when another value of the operation may come; undefined if it may come now. */
  room(operation: Operation): Promise<void> | undefined {
    const ready = this.refusal === undefined ? this.#lane(operation).room() : undefined;
    if (ready === undefined) return undefined;
    this.#blocked += 1;
    return ready.then(() => {
      this.#blocked -= 1;
      this.#rest();
    });
  }

  /** Runs `send` in a slot once the call may leave, its credits reserved. Resolves with what it returns, or why not. */
  pass<Step>(call: Call, send: (perSecond: number) => Promise<Step>): Promise<Step | UnsentStep> {
    const lane = this.#lane(call.operation);
    this.#open.add(call);
    return lane.slots.add(async () => {
      const refusal = this.#refused(call) ?? (await lane.mayLeave(call, this.#wake));
      if (refusal !== undefined) return refusal;
      const sending = send(lane.controller.perSecond(call.sentAt));
      lane.sent();
      return sending;
    });
  }

  /** Learns from a call that has ended, before it is booked. Returns who is to blame if it failed. */
  learn(call: Call, attempt: Attempt, isKnown: boolean): Blame {
    const now = this.options.now();
    this.#servedMs += now - call.sentAt;
    const blame = this.#health.ended(call, attempt, isKnown, now);
    if (attempt.kind === 'throttled')
      this.#lane(call.operation).slowDown(call.sentAt, Math.max(now, this.#health.pause?.untilMs ?? 0));
    if (!this.isOutage) for (const [end, timer] of this.#waits) if (timer === undefined) end();
    this.#wake();
    this.#admitSoon();
    return blame;
  }

  get isOutage(): boolean {
    return this.#health.breaker.current !== undefined;
  }

  /**
   * Waits before a value's next attempt: if it has used up its sends (`hold`), until the outage is over. Otherwise it
   * backs off, except while throttling or an outage holds all values.
   */
  async again(call: Call, next: 'retry' | 'hold'): Promise<void> {
    const {policy, random} = this.options;
    this.#open.add(call);
    if (this.refusal !== undefined || (next === 'retry' && this.#health.pause !== undefined)) return;
    const {onlyFailingLeft} = this.#health.breaker;
    const delayMs =
      next === 'hold' ? undefined : retryMs(call.entry.history, onlyFailingLeft, policy, random());
    const ends = delayMs === 0 ? undefined : this.#wait(delayMs);
    this.#rest();
    await ends;
  }

  /** Sends nothing new. Values with a call in flight are still settled. All others stay open, except in an outage. */
  stop(reason?: StopReason): void {
    if (this.refusal?.next === 'stop') return;
    const {publishOn, events} = this.options;
    if (reason?.kind === 'outage' && publishOn.includes('outage')) {
      this.close('outage');
      events.closed(reason);
      return;
    }
    this.#refuse({next: 'stop'});
    for (const lane of this.#lanes) lane.stop();
    if (reason !== undefined) events.stopped(reason);
  }

  /** Sends nothing new. Values without an outcome end without a call, for this reason. */
  close(reason: UnaskedCode): void {
    if (this.refusal !== undefined) return;
    void this.options.dispatcher.withdraw?.();
    this.#refuse({next: 'skip', reason});
  }

  /** Resolves once no call is in flight, at the latest after `graceMs`. */
  async drained(graceMs: number): Promise<void> {
    const idle = Promise.all(this.#lanes.map(({slots}) => slots.onIdle()));
    await Promise.race([idle, delay(graceMs, undefined, {ref: false})]);
  }

  pace() {
    const {ledger, dispatcher, now: clock} = this.options;
    const now = clock();
    const health = this.#health.report();
    return {
      /** The configured calls per second, and the current ones, lowered by throttling; undefined without a limit. */
      limit: sumOfRates(this.#lanes, ({settings}) => perSecond(settings.rate)),
      current: sumOfRates(this.#lanes, ({controller}) => controller.perSecond(now)),
      inFlight: ledger.inFlight,
      /** Milliseconds that calls were in flight, summed over all calls. */
      inFlightMs: this.#servedMs + ledger.sumInFlight(({sentAt = now}) => now - sentAt),
      /** Number of values that wait for a slot, a permit or their next attempt. */
      waiting: Math.max(0, this.#open.size - ledger.inFlight),
      ...health,
      pause: dispatcher.pause ?? health.pause,
    };
  }

  /** Maximum calls in flight from now on. Each lane gets an equal share, and at least one. */
  set slots(total: number) {
    this.#slots = total;
    for (const {slots} of this.#lanes)
      slots.concurrency = Math.max(1, Math.floor(total / this.#lanes.length));
  }

  /** The lane of an operation: each operation of a run has one. */
  #lane(operation: Operation): Lane {
    return this.#lanes.find(({settings}) => settings.operations.includes(operation)) as Lane;
  }

  /** Without open values, lets the process end. Ends the run if an outage holds all of them: none can test if it is over. */
  #rest(): void {
    if (this.#blocked === 0 && this.#open.size === 0) this.#health.rest();
    const held = [...this.#waits.values()].filter(timer => timer === undefined).length;
    if (held > 0 && held === this.#open.size) this.#health.endWithoutResends();
  }

  #wait(delayMs?: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(this.#waits.get(end));
        this.#waits.delete(end);
        resolve();
      };
      this.#waits.set(end, delayMs === undefined ? undefined : setTimeout(end, delayMs));
    });
  }

  #refuse(refusal: UnsentStep): void {
    this.refusal = refusal;
    this.#health.stop();
    for (const end of this.#waits.keys()) end();
    for (const lane of this.#lanes) for (const call of lane.waiting.keys()) lane.end(call, refusal);
  }

  /** Why a call need not wait: nothing new is sent, or its credits are lacking. */
  #refused(call: Call): UnsentStep | undefined {
    if (this.refusal !== undefined) return this.refusal;
    const {publishOn, ledger} = this.options;
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
    try {
      const {ledger, store} = this.options;
      const leaving = this.refusal === undefined ? this.#choose() : [];
      const granted = ledger.reserve(leaving);
      for (const call of leaving.slice(0, granted)) {
        this.#health.breaker.sent(call.key);
        store.purchases.begin(call);
        this.#lane(call.operation).end(call);
      }
      if (granted < leaving.length) this.#overBudget(leaving[granted] as Call);
      else if (granted > 0) this.#wake();
      for (const end of written) end();
    } catch (error) {
      // The ledger's: a failed call does not throw.
      this.stop({kind: 'error', error});
    }
  }

  /** The calls that may leave now, in order: as many as their lanes' permits, free slots and the service's state allow. */
  #choose(): Call[] {
    const {ledger, store, now} = this.options;
    const time = now();
    let room = Math.min(this.#slots - ledger.inFlight, this.#health.room(time, ledger.inFlight));
    // The lane that sent last is the last to use free slots.
    const lanes = this.#lanes.toSorted((a, b) => a.lastSent - b.lastSent);
    const permits = new Map(lanes.map(lane => [lane, lane.takePermits()]));
    const leaving: Call[] = [];
    if (room <= 0) return leaving;
    const isFree = (call: Call) => !store.purchases.isOfOther(call, this.#wake);
    const able = [...permits].flatMap(([{waiting}, left]) =>
      left > 0 ? [...waiting.keys()].filter(isFree) : [],
    );
    const inFlightOf = (operation: Operation) =>
      ledger.sumInFlight(sent => Number(sent.operation === operation)) +
      leaving.filter(call => call.operation === operation).length;
    const version = able.length > 0 ? store.version() : 0;
    for (const call of this.#health.breaker.candidates(able)) {
      if (room <= 0) break;
      const lane = this.#lane(call.operation);
      const left = permits.get(lane) ?? 0;
      if (left <= 0 || this.#isBought(call, lane, version)) continue;
      if (!this.#health.canaryOf(call.operation).allows(() => inFlightOf(call.operation))) continue;
      permits.set(lane, left - 1);
      room -= 1;
      leaving.push(Object.assign(call, {dispatch: ++this.#dispatched, sentAt: time}));
    }
    return leaving;
  }

  /** True if another run has bought the answer since the call began to wait: then the call ends with it. */
  #isBought(call: Call, lane: Lane, version: number): boolean {
    const {store, ledger} = this.options;
    const outcome = findNewlyStoredAnswer(call, store, version);
    if (outcome === undefined) return false;
    ledger.adopt(call.entry, outcome);
    lane.end(call, {next: 'settle', outcome});
    this.#wake();
    return true;
  }

  /** A limit has no credits for this call. Ends the run or only the value, once no call may give credits back. */
  #overBudget(call: Call): void {
    const {ledger, publishOn} = this.options;
    if (ledger.inFlight > 0 && !call.renews) return;
    if (!publishOn.includes('budget')) this.stop({kind: 'budget'});
    this.#lane(call.operation).end(call, {next: 'skip', reason: 'budget'});
    this.#wake();
  }
}
