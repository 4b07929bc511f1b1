import {randomInt} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import PQueue from 'p-queue';
import type {LookupKey, UnaskedCode} from '../ledger/lookup-outcome.ts';
import type {Operation} from '../operations/table.ts';
import {type Call, findNewlyStoredAnswer, type LookupOptions, resultOf, type StopReason} from './call.ts';
import {slotsOf} from './concurrency.ts';
import {step} from './desk.ts';
import {
  type Desk,
  type DeskEvent,
  type DeskNotice,
  type Effects,
  freshIn,
  laneOf,
  newDesk,
  pauseOf,
} from './desk-state.ts';
import {Leases} from './leases.ts';
import {perSecond} from './rate-limit.ts';
import {answerToKeep} from './retry-policy.ts';

/** Calls per slot that may wait, and the least: enough to keep a lane busy, without using much memory. */
const WAITING_PER_SLOT = 4;
const LEAST_WAITING = 64;
/** Callers that wait for room continue once so much of it is left: a wait costs CPU. */
const RESUME_SHARE = 0.875;
/** Longest delay of a timer of Node.js is 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Carries out what the desk decides, and knows no rule itself. Once a turn of the event loop, it hands the desk all that
 * happened. One transaction then writes the bookings of all calls that have ended, with the reservations of those that
 * leave next. Then the calls leave, by the library p-queue, and the rows with the answers continue.
 */
export class Executor {
  readonly options: LookupOptions;
  readonly #desk: Desk;
  readonly #queue = new PQueue();
  /** The lanes' permits; none for a lane without a rate. */
  readonly #leases: ReadonlyMap<string, Leases>;
  #events: DeskEvent[] = [];
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** Number of the last reservation. Random at first, so that no two sessions of a run use the same numbers. */
  #dispatched = randomInt(2 ** 47);
  /** Callers with more values, which wait until fewer calls of an operation wait. */
  #blocked: {readonly operation: Operation; readonly resume: () => void}[] = [];
  /** Calls that were asked for since the last step. */
  #asked = 0;
  /** Milliseconds that the service had the calls that ended, summed over them. */
  #servedMs = 0;

  constructor(options: LookupOptions) {
    const {lanes, dispatcher, ledger, now} = options;
    const isPaced = dispatcher.keepsPace !== true;
    this.options = options;
    this.#desk = newDesk({...options, isPaced, refusals: ledger.tally.refusals}, now());
    const paced = isPaced ? lanes.filter(({rate}) => rate !== 'unlimited') : [];
    const grant = (lane: string) => (count: number) => this.#happened({kind: 'permits', lane, count});
    this.#leases = new Map(paced.map(({name, rate}) => [name, new Leases(perSecond(rate), grant(name))]));
  }

  /** Looks a value up. Its `settle` is called once it has a result. */
  ask(call: Call): void {
    this.#asked += 1;
    this.#happened({kind: 'asked', call});
  }

  /** Resolves when another value of the operation may come; undefined if it may come now. */
  waitForRoom(operation: Operation): Promise<void> | undefined {
    if (this.#hasRoom(operation, 1, this.#asked)) return undefined;
    if (this.#blocked.length === 0) this.#happened({kind: 'more', isMore: true});
    return new Promise(resume => void this.#blocked.push({operation, resume}));
  }

  /** Sends nothing new. Values with a call in flight are still settled. All others stay open, except in an outage. */
  stop(reason?: StopReason): void {
    this.#happened({kind: 'stop', reason});
  }

  /** Sends nothing new. Values without an outcome end without a call, for this reason. */
  close(reason: UnaskedCode): void {
    if (this.#desk.refusal !== undefined) return;
    void this.options.dispatcher.withdraw?.();
    this.#happened({kind: 'close', reason});
  }

  /** Resolves once no call is in flight and all that ended is booked, at the latest after `graceMs`. */
  async drained(graceMs: number): Promise<void> {
    await Promise.race([this.#queue.onIdle(), delay(graceMs, undefined, {ref: false})]);
    this.#turn();
  }

  pace() {
    const {dispatcher, now: clock, ledger} = this.options;
    const {lanes, open, pauses, refusal} = this.#desk;
    const now = clock();
    const pause = refusal === undefined ? pauseOf({...this.#desk, now}) : undefined;
    const sum = (rates: readonly number[]) => {
      const all = rates.reduce((soFar, rate) => soFar + rate, 0);
      return Number.isFinite(all) ? all : undefined;
    };
    return {
      /** The configured calls per second, and the current ones, lowered by throttling; undefined without a limit. */
      limit: sum(lanes.map(({settings}) => perSecond(settings.rate))),
      current: sum(lanes.map(({rate}) => rate.learned.limit)),
      inFlight: ledger.inFlight,
      /** Milliseconds that calls were in flight, summed over all calls. */
      inFlightMs: this.#servedMs + ledger.sumInFlight(({sentAt = now}) => now - sentAt),
      /** Number of values that wait for a slot, a permit or their next attempt. */
      waiting: Math.max(0, open.size - ledger.inFlight),
      pause: dispatcher.pause ?? pause,
      pauses: pauses.count,
      pausedMs: Math.round(pauses.ms + (pauses.since === undefined ? 0 : now - pauses.since)),
    };
  }

  /** Calls that may be in flight now. Set: the maximum from now on. */
  get slots(): number {
    const {slots, lanes} = this.#desk;
    return Math.min(
      slots,
      lanes.reduce((sum, {concurrency}) => sum + slotsOf(concurrency), 0),
    );
  }

  set slots(count: number) {
    this.#happened({kind: 'slots', count});
  }

  #happened(event: DeskEvent): void {
    this.#events.push(event);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      if (this.#isDue) this.#turn();
    });
  }

  /** One step of the desk, and what follows from it. */
  #turn(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    const {now} = this.options;
    this.#asked = 0;
    const time = now();
    const out = step(this.#desk, this.#events.splice(0), time);
    let leaving: readonly Call[] = [];
    try {
      this.#book(out);
      leaving = this.#claim(out.send);
      for (const call of leaving) call.dispatch = ++this.#dispatched;
      const granted = this.options.ledger.reserve(leaving);
      for (const [index, call] of leaving.slice(granted).entries())
        this.#happened({kind: 'unsent', call, why: index === 0 ? 'credits' : 'order'});
      this.options.store.release(leaving.slice(granted));
      this.#send(leaving.slice(0, granted));
      for (const {call, end} of out.tell) call.settle(resultOf(call, end));
      this.#look(out.look);
    } catch (error) {
      // The ledger's: a failed call does not throw. What was not written is not told.
      for (const call of out.send) this.#happened({kind: 'unsent', call, why: 'order'});
      this.options.store.release(leaving);
      if (this.#desk.refusal?.kind !== 'stop') this.stop({kind: 'error', error});
    }
    for (const notice of out.notices) this.#notify(notice);
    if (this.#desk.refusal === undefined)
      for (const [lane, wanted] of out.wants) this.#leases.get(lane)?.plan(wanted);
    else for (const leases of this.#leases.values()) leases.end();
    this.#resumeBlocked();
    const waitMs = Math.min(LONGEST_TIMER_MS, Math.max(1, out.wakeAt - time));
    if (out.wakeAt < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#turn(), waitMs);
  }

  #book({book, tell}: Effects): void {
    const {ledger, store, events} = this.options;
    // A value that is sent again keeps its claim.
    const unanswered: LookupKey[] = [];
    for (const {booked, call} of book) {
      events.attempted(booked, call.waiters[0]?.row);
      ledger.bookAttempt(booked);
      if (booked.outcome !== undefined || booked.charge !== 'free') store.noteAsked(call);
      const answer = answerToKeep(booked);
      if (answer !== undefined) store.put(answer);
      else if (booked.outcome !== undefined) unanswered.push(booked);
    }
    for (const {call, end} of tell) {
      if (end.kind === 'adopted') ledger.settleWithoutCall(call.entry, end.outcome);
      if (end.kind !== 'outcome' && call.dispatch > 0) unanswered.push(call);
    }
    store.release(unanswered);
  }

  /** Claims the calls' values. Returns the calls whose values no other run is buying, or has bought meanwhile. */
  #claim(calls: readonly Call[]): readonly Call[] {
    if (calls.length === 0) return calls;
    const {store} = this.options;
    const claimed = store.claim(calls);
    if (claimed.length < calls.length) {
      const ours = new Set(claimed);
      for (const call of calls) if (!ours.has(call)) this.#happened({kind: 'unsent', call, why: 'claimed'});
    }
    const version = store.version();
    const bought = claimed.filter(call => this.#settleIfBought(call, version));
    if (bought.length === 0) return claimed;
    for (const call of bought) this.#happened({kind: 'unsent', call, why: 'bought'});
    store.release(bought);
    return claimed.filter(call => !bought.includes(call));
  }

  /** Looks at values again that other runs were buying. */
  #look(calls: readonly Call[]): void {
    if (calls.length === 0) return;
    const {store} = this.options;
    const freed = new Set(store.findFreed(calls));
    const version = store.version();
    for (const call of calls) {
      const isBought = this.#settleIfBought(call, version);
      if (isBought || freed.has(call)) this.#happened({kind: 'freed', call, isBought});
    }
  }

  /** Settles a value whose answer another run has stored since it was searched. True if there is one. */
  #settleIfBought(call: Call, version: number): boolean {
    const {store, ledger} = this.options;
    const outcome = findNewlyStoredAnswer(call, store, version);
    if (outcome === undefined) return false;
    ledger.settleWithoutCall(call.entry, outcome);
    call.settle(outcome);
    return true;
  }

  #send(calls: readonly Call[]): void {
    if (calls.length === 0) return;
    const {dispatcher, now} = this.options;
    for (const call of calls) {
      const {learned} = laneOf(this.#desk, call).rate;
      void this.#queue.add(async () => {
        const attempt = await dispatcher.send(call, learned.limit);
        this.#servedMs += now() - call.sentAt;
        this.#happened({kind: 'ended', call, attempt});
      });
    }
    if (this.#leases.size > 0) this.#events.push({kind: 'left', calls, at: now()});
  }

  #notify(notice: DeskNotice): void {
    const {events, dispatcher} = this.options;
    if (notice.kind === 'refused') events.refused(notice.operation, notice.streak);
    else if (notice.kind === 'down') events.down(notice.operation, notice.code);
    else if (notice.kind === 'stopped') events.stopped(notice.reason);
    else {
      void dispatcher.withdraw?.();
      events.closed(notice.reason);
    }
  }

  #hasRoom(operation: Operation, share: number, more = 0): boolean {
    if (this.#desk.refusal !== undefined) return true;
    const lane = laneOf(this.#desk, {operation});
    const most = share * Math.max(LEAST_WAITING, slotsOf(lane.concurrency) * WAITING_PER_SLOT) - more;
    return lane.waiting.length < most || freshIn(this.#desk, lane) < most;
  }

  /** Resumes callers once their lane has room for many values again. */
  #resumeBlocked(): void {
    if (this.#blocked.length === 0) return;
    const ready = this.#blocked.filter(({operation}) => this.#hasRoom(operation, RESUME_SHARE));
    if (ready.length === 0) return;
    this.#blocked = this.#blocked.filter(each => !ready.includes(each));
    if (this.#blocked.length === 0) this.#happened({kind: 'more', isMore: false});
    for (const {resume} of ready) resume();
  }
}
