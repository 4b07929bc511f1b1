import {randomInt} from 'node:crypto';
import type {Attempt} from '../client/attempt.ts';
import type {Outcome, UnaskedCode} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {Call} from './call.ts';
import type {GateOptions, GateStop, PaceReport} from './gate-options.ts';
import {Lane, Lanes} from './lane.ts';
import {FlowControl} from './pace/flow-control.ts';
import {type Blame, type Refusal, retryMs, sendsLeft} from './policy.ts';
import {Waits} from './waits.ts';

/**
 * The one place that answers "may this call leave now?". A call takes a slot of its lane (p-queue), waits for a permit
 * of the rate (bottleneck), for the throttle, the circuit breaker and the canary ({@link FlowControl}), and for its
 * credits. All calls that leave in one turn of the event loop are reserved in one transaction, with the bookings of
 * all answers that the turn has read.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #flow: FlowControl;
  readonly #lanes: Lanes;
  /** Values that are not settled yet. */
  readonly #open = new Set<Call>();
  /** Number of callers that wait until a queue has room for more values. */
  #blocked = 0;
  readonly #waits = new Waits();
  #slots: number;
  /** Number of the last reservation. Random at first, so that no two sessions of a run use the same numbers. */
  #dispatched = randomInt(2 ** 47);
  /** Set once nothing new is sent: why calls don't leave. */
  #refusal: Refusal | undefined;
  readonly #wake = () => this.#lanes.wake();

  constructor(options: GateOptions) {
    this.#options = options;
    const {lanes, outlet, ledger, policy, events, now} = options;
    this.#slots = options.concurrency ?? lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    const isLast = () => this.#blocked === 0;
    const left = (call: Call) => sendsLeft(call.entry.history, policy);
    const open = this.#open;
    this.#flow = new FlowControl({
      ...options,
      slots: () => this.#slots,
      unsettled: {
        get count() {
          return isLast() ? open.size : Number.POSITIVE_INFINITY;
        },
        get sendsLeft() {
          return isLast() ? [...open].reduce((sum, call) => sum + left(call), 0) : Number.POSITIVE_INFINITY;
        },
        sendsLeftOf: history => sendsLeft(history, policy),
      },
      areHeld: () => this.#waits.held > 0 && this.#waits.held === open.size,
      refusals: operation => ledger.tally.refusals[operation],
      onOpen: this.#wake,
      onStop: reason => this.#giveUp(reason),
      onStreak: events.refused,
    });
    const lease = (lane: Lane, permits: number) => this.#lease(lane, permits);
    this.#lanes = new Lanes(lanes.map(each => new Lane(each, outlet.keepsPace !== true, now, lease)));
  }

  /** Adds a value that needs calls, until it is {@link settled}. */
  open(call: Call): void {
    this.#open.add(call);
  }

  settled(call: Call): void {
    this.#open.delete(call);
    this.#flow.settled(call.key);
    this.#flow.endWithoutResends();
  }

  /** Resolves when another value of the operation may come. */
  async room(operation: Operation): Promise<void> {
    if (this.#refusal !== undefined) return;
    this.#blocked += 1;
    await this.#lanes.of(operation).room();
    this.#blocked -= 1;
    this.#flow.rest();
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

  /** Learns from a call that has ended. Returns who is to blame if it failed. */
  learn(call: Call, attempt: Attempt): Blame {
    const blame = this.#flow.ended(call, attempt);
    const lane = this.#lanes.of(call.operation);
    if (attempt.kind === 'throttled')
      lane.slowDown(call.sentAt, Math.max(this.#options.now(), this.#flow.pause?.untilMs ?? 0));
    if (!this.isOutage) this.#waits.endHeld();
    this.#lanes.wake();
    return blame;
  }

  /** Why nothing new is sent; undefined while calls may leave. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  get isOutage(): boolean {
    return this.#flow.isOutage;
  }

  /** Waits before a value's next attempt. While throttling or an outage holds all values, there is no own backoff. */
  async backOff({entry}: Call, isThrottled = false): Promise<void> {
    const {policy, random} = this.#options;
    if (this.#refusal !== undefined || isThrottled || this.#flow.pause !== undefined) return;
    const delayMs = retryMs(entry.history, this.#flow.onlyFailingLeft, policy, random());
    if (delayMs > 0) await this.#waits.until(delayMs);
  }

  /** Waits until the outage is over: the value has used up its sends. */
  async outageEnds(): Promise<void> {
    if (this.#refusal !== undefined) return;
    const ends = this.#waits.hold();
    this.#flow.endWithoutResends();
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
    const flow = this.#flow.report();
    return {
      ...this.#lanes.ratesAt(this.#options.now()),
      ...flow,
      waiting: Math.max(0, this.#open.size - flow.inFlight),
      pause: this.#options.outlet.pause ?? flow.pause,
    };
  }

  /** Maximum calls in flight from now on, divided among the lanes. */
  set slots(total: number) {
    this.#slots = this.#lanes.slots = total;
  }

  #refuse(refusal: Refusal): void {
    this.#refusal = refusal;
    this.#flow.stop();
    this.#waits.endAll();
    for (const lane of this.#lanes) lane.endAll(refusal);
  }

  /** Why a call need not wait: nothing new is sent, or its credits are lacking. */
  #refused(call: Call): Refusal | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    const {publishOn, ledger} = this.#options;
    if (!publishOn.includes('budget')) return undefined;
    // Only a renewal ends while calls are in flight: one of them may turn out to be free, and give its credits back.
    const isFinal = call.renews || this.#flow.inFlight.count === 0;
    if (!isFinal || ledger.budget.affords(call.cost, call.renews)) return undefined;
    return {next: 'skip', reason: 'budget'};
  }

  /** Lets calls of a lane leave, as many as `permits` and all else allow. Reserves their credits in one transaction. */
  #lease(lane: Lane, permits: number): void {
    try {
      const {ledger, store, now} = this.#options;
      const able = [...lane.waiting.keys()].filter(call => !store.purchases.isOfOther(call, this.#wake));
      const chosen = this.#stillOpen(lane, this.#flow.admit(able, permits));
      for (const call of chosen) Object.assign(call, {dispatch: ++this.#dispatched, sentAt: now()});
      const granted = chosen.length === 0 ? 0 : ledger.reserve(chosen);
      for (const call of chosen.slice(0, granted)) {
        this.#flow.sent(call);
        store.purchases.begin(call);
        lane.end(call);
      }
      if (granted > 0) this.#lanes.sentBy(lane);
      const refused = chosen[granted];
      if (refused !== undefined) this.#overBudget(lane, refused);
      else if (chosen.length > 0) lane.wake();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Returns the calls that are still needed. The others end with the answer that another run has bought. */
  #stillOpen(lane: Lane, chosen: readonly Call[]): readonly Call[] {
    const open = chosen.filter(call => {
      const outcome = this.#boughtMeanwhile(call);
      if (outcome !== undefined) lane.end(call, {next: 'settle', outcome});
      return outcome === undefined;
    });
    if (open.length < chosen.length) this.#lanes.wake();
    return open;
  }

  /** The answer that another run has bought since the call began to wait; undefined without one. */
  #boughtMeanwhile(call: Call): Outcome | undefined {
    const {store, ledger} = this.#options;
    const version = store.version();
    if (call.version === version) return undefined;
    const stored = store.find([call.key], call.operation);
    if (stored === undefined) return undefined;
    call.version = version;
    const {outcome, validity} = stored.get(call.key) ?? {};
    if (outcome === undefined || validity !== 'fresh') return undefined;
    ledger.adopt(call.entry, outcome);
    return outcome;
  }

  /** A limit has no credits for this call. Ends the run or only the value, once no call may give credits back. */
  #overBudget(lane: Lane, call: Call): void {
    if (this.#flow.inFlight.count > 0 && !call.renews) return;
    if (!this.#options.publishOn.includes('budget')) {
      this.stop();
      this.#options.events.stopped({kind: 'budget'});
      return;
    }
    lane.end(call, {next: 'skip', reason: 'budget'});
    lane.wake();
  }

  /** Makes no more calls. Stops the run too, except in an outage if `publishOn` includes `outage`. */
  #giveUp(reason: GateStop): void {
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
