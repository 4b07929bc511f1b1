import type {Attempt} from '../client/attempt.ts';
import type {UnaskedCode} from '../ledger/lookup.ts';
import type {Ended, Executor, ExecutorStop, PaceReport, Task} from './executor.ts';
import {type Lane, Lanes} from './lane.ts';
import {FlowControl} from './pace/flow-control.ts';
import {Unsettled} from './pace/unsettled.ts';
import {nextStep, retryMs, usedUp} from './policy.ts';
import type {QueueExecutorOptions} from './queue-options.ts';
import {
  counted,
  firstDispatch,
  isKnownRejection,
  renews,
  reservationOf,
  type TaskState,
  taskState,
} from './task-state.ts';

/**
 * Each task needs a slot (a place among the calls in flight, kept by p-queue), then a permit of the outlet, which
 * paces and sends the calls. This class decides what follows from an answer. The life of a task:
 *
 *               slot           permit, reserved        outcome
 *     queued ─────────▶ waiting ─────────────▶ in flight ─────▶ settled
 *       ▲                  │                       │               ▲
 *       │                  └───────────────────────┼───────────────┘
 *       │                    answered meanwhile,   │
 *       │                    or no call possible   │ no outcome yet
 *       └───────────────── backing off ◀───────────┘
 *
 * Each state has a method: `#enqueue`, `#awaitPermit`, `#send`, `#retry` and `#hold`, `#settle`. A task leaves
 * `waiting` through `#lease` or `close`. `close` and `stop` send nothing more. Calls in flight still settle their
 * tasks; other tasks end as unasked only after `close`.
 */
export class QueueExecutor implements Executor {
  readonly #options: QueueExecutorOptions;
  readonly #flow: FlowControl;
  readonly #lanes: Lanes;
  #slots: number;
  #dispatched = firstDispatch();
  readonly #unsettled: Unsettled;
  #stopped = false;
  /** Set by `close`: the reason with which tasks without an outcome end. The run continues without calls. */
  #closed: UnaskedCode | undefined;

  constructor(options: QueueExecutorOptions) {
    this.#options = options;
    this.#unsettled = new Unsettled(options.policy);
    this.#slots = options.concurrency ?? options.lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    this.#flow = new FlowControl({
      ...options,
      slots: () => this.#slots,
      tasks: this.#unsettled,
      refusals: operation => options.ledger.tally.refusals[operation],
      onOpen: () => this.#lanes.wake(),
      onStop: reason => this.#giveUp(reason),
      onStreak: (operation, streak) => options.events.refused?.(operation, streak),
    });
    this.#lanes = new Lanes(options.lanes, options.outlet, (lane, permits) => this.#lease(lane, permits));
  }

  async submit(task: Task): Promise<void> {
    const lane = this.#lanes.of(task.lookup.operation);
    const state = taskState(task);
    this.#unsettled.add(state);
    this.#enqueue(state, lane);
    if (this.#stopped) return;
    await this.#unsettled.blocked(lane.room());
    this.#flow.rest();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#flow.stop();
    this.#unsettled.takeBackingOff();
    this.#lanes.stop();
  }

  close(reason: UnaskedCode): void {
    if (this.#stopped || this.#closed !== undefined) return;
    this.#closed = reason;
    this.#flow.stop();
    void this.#options.outlet.withdraw?.();
    for (const task of this.#unsettled.takeBackingOff()) this.#settle(task, {unasked: reason});
    for (const lane of this.#lanes) for (const task of lane.takeOut()) this.#settle(task, {unasked: reason});
  }

  drained(graceMs: number): Promise<void> {
    return this.#lanes.idleWithin(graceMs);
  }

  pace(): PaceReport {
    const flow = this.#flow.report();
    return {
      ...this.#lanes.ratesAt(this.#options.now()),
      ...flow,
      waiting: Math.max(0, this.#unsettled.size - flow.inFlight),
      pause: this.#options.outlet.pause ?? flow.pause,
    };
  }

  /** Maximum calls in flight from now on, divided among the lanes. */
  set slots(total: number) {
    this.#slots = this.#lanes.slots = total;
  }

  /** → queued: the task waits for a slot of its lane. */
  #enqueue(task: TaskState, lane: Lane): void {
    if (this.#stopped) return;
    // A failed call does not throw. So an error that arrives here is the ledger's, and it ends the run.
    lane.inSlot(() => this.#awaitPermit(task, lane)).catch(error => this.#fail(error));
  }

  /** queued → waiting: the task has a slot and waits for a permit. Settles a task that needs no call any more. */
  async #awaitPermit(task: TaskState, lane: Lane): Promise<void> {
    if (this.#stopped) return;
    if (this.#closed !== undefined) this.#settle(task, {unasked: this.#closed});
    else if (this.#unsettled.sendsLeftOf(task) === 0) this.#useUp(task);
    else if (this.#isOverBudget(task)) this.#settle(task, {unasked: 'budget'});
    else if (await lane.permit(task)) await this.#send(task, lane);
  }

  /**
   * True if the task ends without a call, since there are too few credits. Only a renewal ends while calls are in
   * flight. Any other task waits: one of these calls may turn out to be free, and give its credits back.
   */
  #isOverBudget(task: Task): boolean {
    const {publishOn, ledger} = this.#options;
    if (!publishOn.includes('budget')) return false;
    const isRenewal = renews(task, publishOn);
    return (isRenewal || this.#flow.inFlight.count === 0) && !ledger.budget.affords(task.cost, isRenewal);
  }

  /** waiting → in flight. Reserves the credits of all tasks that may be sent now, in one transaction. */
  #lease(lane: Lane, permits: number): void {
    try {
      const {publishOn} = this.#options;
      const chosen = this.#stillOpen(lane, this.#flow.admit(lane.waiting, permits));
      const reservations = chosen.map(task =>
        reservationOf(task, ++this.#dispatched, renews(task, publishOn)),
      );
      const granted = chosen.length === 0 ? 0 : this.#options.ledger.reserve(reservations);
      for (const task of chosen.slice(0, granted)) {
        this.#flow.sent(task.lookup);
        lane.release(task, true);
      }
      if (granted > 0) this.#lanes.sentBy(lane);
      const refused = chosen[granted];
      if (refused !== undefined) this.#overBudget(lane, refused);
      else if (chosen.length > 0) lane.wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Returns the chosen tasks that still need a call. The others: waiting → settled. */
  #stillOpen(lane: Lane, chosen: readonly TaskState[]): readonly TaskState[] {
    const open = chosen.filter(task => {
      if (!task.isAnsweredMeanwhile()) return true;
      lane.release(task, false);
      this.#forget(task);
      return false;
    });
    if (open.length < chosen.length) this.#lanes.wake();
    return open;
  }

  /** The credit limit refused a task's call. Ends the run or only the task, once no call may give credits back. */
  #overBudget(lane: Lane, task: TaskState): void {
    if (this.#flow.inFlight.count > 0 && !renews(task, this.#options.publishOn)) return;
    if (!this.#options.publishOn.includes('budget')) {
      this.stop();
      this.#options.events.stopped({kind: 'budget'});
      return;
    }
    lane.release(task, false);
    this.#settle(task, {unasked: 'budget'});
    lane.wake();
  }

  /** in flight → settled or backing off. Sends the task and books the attempt. */
  async #send(task: TaskState, lane: Lane): Promise<void> {
    const {outlet, ledger, policy, events, now} = this.#options;
    const sentAt = now();
    const sending = outlet.send(task.lookup.operation, task.lookup.params, task.dispatch);
    lane.sent(sentAt);
    const attempt = await sending;
    const booked = counted(task, attempt, policy.cost);
    events.attempted?.(booked, task.rows());
    const isKnown = isKnownRejection(task, attempt);
    const blame = this.#flow.ended(task.lookup, attempt, isKnown);
    if (attempt.kind === 'throttled') lane.slowDown(sentAt, Math.max(now(), this.#flow.pause?.untilMs ?? 0));
    const isTrusted = isKnown || (attempt.kind === 'rejected' && this.#flow.trusts(task.lookup.operation));
    const step = nextStep(task.lookup.operation, attempt, task.history, policy, blame, isTrusted);
    const outcome = step.next === 'settle' ? step.outcome : undefined;
    // Does not wait until the booking is written. So the next reservations are written in the same transaction.
    ledger.record({...booked, outcome}).catch(error => this.#fail(error));
    if (step.next === 'settle') this.#settle(task, step);
    else if (this.#stopped) return;
    else if (this.#closed !== undefined) this.#settle(task, {unasked: this.#closed});
    else if (step.next === 'retry') this.#retry(task, lane, attempt);
    else if (step.next === 'hold') this.#hold(task);
    if (!this.#flow.isOutage) for (const held of this.#unsettled.takeHeld()) this.#useUp(held);
    this.#lanes.wake();
  }

  /** in flight → backing off → queued. While throttling or an outage holds all tasks, there is no own backoff. */
  #retry(task: TaskState, lane: Lane, attempt: Attempt): void {
    const {policy, random} = this.#options;
    const everybodyWaits = attempt.kind === 'throttled' || this.#flow.pause !== undefined;
    const delayMs = everybodyWaits ? 0 : retryMs(task.history, this.#flow.onlyFailingLeft, policy, random());
    if (delayMs === 0) this.#enqueue(task, lane);
    else this.#unsettled.backOff(task, delayMs, () => this.#enqueue(task, lane));
  }

  /** → backing off: the task has used up its sends, and waits until the outage is over. */
  #hold(task: TaskState): void {
    this.#unsettled.hold(task);
    this.#flow.endWithoutResends();
  }

  /** queued or held → settled, or held while an outage lasts: the task has used up its sends. */
  #useUp(task: TaskState): void {
    const {policy, ledger} = this.#options;
    const step = usedUp(task.history, policy, this.#flow.isOutage ? 'service' : 'value');
    if (step.next === 'settle') {
      ledger.adopt(task.entry, step.outcome);
      this.#settle(task, step);
    } else this.#hold(task);
  }

  /** → settled: with an outcome, or without a call for a reason. */
  #settle(task: TaskState, end: Ended): void {
    this.#forget(task);
    task.ended(end);
  }

  #forget(task: TaskState): void {
    this.#unsettled.delete(task);
    this.#flow.settled(task.lookup.key);
    this.#flow.endWithoutResends();
  }

  /** Makes no more calls. Stops the run too, except in an outage if `publishOn` includes `outage`. */
  #giveUp(reason: ExecutorStop): void {
    if (reason.kind === 'outage' && this.#options.publishOn.includes('outage')) {
      this.close('outage');
      this.#options.events.closed(reason);
      return;
    }
    this.stop();
    this.#options.events.stopped(reason);
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.events.stopped({kind: 'error', error});
  }
}
