import type {Attempt} from '../client/attempt.ts';
import type {LastingOutcome, UnaskedCode} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {Executor, ExecutorStop, PaceReport, Task} from './executor.ts';
import {idleWithin, Lane, ratesOf} from './lane.ts';
import {FlowControl} from './pace/flow-control.ts';
import {Unsettled} from './pace/unsettled.ts';
import {retryMs, sendsLeft, usedUp} from './policy.ts';
import type {QueueExecutorOptions} from './queue-options.ts';
import {
  concluded,
  firstDispatch,
  isKnownRejection,
  noteDoubt,
  orKnown,
  Renewals,
  reservationOf,
  type TaskState,
  taskState,
} from './task-state.ts';

/**
 * `queue → pace → send`: p-queue holds the slots, the outlet paces and sends; what follows from an answer is decided here.
 * The life of a task:
 *
 *               slot           permit, reserved        outcome
 *     queued ─────────▶ waiting ─────────────▶ in flight ─────▶ settled
 *       ▲                  │                       │               ▲
 *       │                  └───────────────────────┼───────────────┘
 *       │                    answered meanwhile,   │
 *       │                    or it can't be asked  │ no outcome yet
 *       └───────────────── backing off ◀───────────┘
 *
 * Each state has a method: `#enqueue`, `#attempt`, `#send`, `#retry` and `#hold`, `#settle`. Only `#lease` and `close` let a
 * task leave `waiting`, and only a task that may still be sent gets there. Once closed, nothing is sent and all that is
 * left is unasked; once stopped, nothing enters a state any more but `settled`.
 */
export class QueueExecutor implements Executor {
  readonly #options: QueueExecutorOptions;
  readonly #flow: FlowControl;
  readonly #laneOf = new Map<Operation, Lane>();
  /** Each lane once; the one that sent last is the last to be offered what becomes free. */
  readonly #turns: Lane[] = [];
  #slots: number;
  #dispatched = firstDispatch();
  readonly #unsettled: Unsettled;
  readonly #renewals: Renewals;
  #stopped = false;
  /** Why nothing more is sent, though the run goes on. */
  #closed: UnaskedCode | undefined;

  constructor(options: QueueExecutorOptions) {
    this.#options = options;
    this.#unsettled = new Unsettled(options.policy);
    this.#renewals = new Renewals(options.renewals);
    this.#slots = options.concurrency ?? options.lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    this.#flow = new FlowControl({
      ...options,
      slots: () => this.#slots,
      tasks: this.#unsettled,
      onOpen: () => this.#wakeLanes(),
      onStop: reason => this.#giveUp(reason),
      onStreak: (operation, streak) => options.events.refused?.(operation, streak),
    });
    for (const settings of options.lanes) {
      const lane = new Lane(settings, options.outlet, (some, permits) => this.#lease(some, permits));
      this.#turns.push(lane);
      for (const operation of settings.operations) this.#laneOf.set(operation, lane);
    }
  }

  async submit(task: Task): Promise<void> {
    const lane = this.#laneOf.get(task.lookup.operation);
    if (lane === undefined) throw new Error(`no lane for ${task.lookup.operation}`);
    const state = taskState(task);
    this.#unsettled.add(state);
    this.#enqueue(state, lane);
    if (this.#stopped) return;
    await this.#unsettled.blocked(lane.room());
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#flow.stop();
    this.#unsettled.takeBackingOff();
    for (const lane of this.#turns) lane.stop();
  }

  close(reason: UnaskedCode): void {
    if (this.#stopped || this.#closed !== undefined) return;
    this.#closed = reason;
    this.#flow.stop();
    void this.#options.outlet.withdraw?.();
    for (const task of this.#unsettled.takeBackingOff()) this.#leave(task, reason);
    for (const lane of this.#turns) {
      for (const task of [...lane.waiting]) {
        lane.release(task, false);
        this.#leave(task, reason);
      }
    }
  }

  drained(graceMs: number): Promise<void> {
    return idleWithin(graceMs, this.#turns);
  }

  pace(): PaceReport {
    const {inFlight, inFlightMs, pause, paused} = this.#flow;
    return {
      ...ratesOf(this.#turns, this.#options.now()),
      inFlight,
      inFlightMs,
      pause: this.#options.outlet.pause ?? pause,
      pauses: paused.count,
      pausedMs: paused.ms,
    };
  }

  /** From here on so many calls may be in flight, shared out among the lanes. */
  set slots(total: number) {
    this.#slots = total;
    for (const lane of this.#turns) lane.slots = Math.max(1, Math.floor(total / this.#turns.length));
  }

  /** → queued. */
  #enqueue(task: TaskState, lane: Lane): void {
    if (this.#stopped) return;
    // What goes wrong in here is no failed call but a failed ledger: it ends the run.
    lane.inSlot(() => this.#attempt(task, lane)).catch(error => this.#fail(error));
  }

  /** queued → waiting. */
  async #attempt(task: TaskState, lane: Lane): Promise<void> {
    if (this.#stopped) return;
    if (!this.#isWanted(task)) this.#drop(task);
    else if (this.#closed !== undefined) this.#leave(task, this.#closed);
    else if (sendsLeft(task.doubts, this.#options.policy) === 0) this.#useUp(task);
    else if (this.#isOverBudget(task) || !this.#renewals.admit(task)) this.#leave(task, 'budget');
    else if (await lane.permit(task)) await this.#send(task, lane);
  }

  /** Whether this task can't be afforded, and no call is under way that may turn out free and give credits back. */
  #isOverBudget(task: Task): boolean {
    const {onBudget, ledger} = this.#options;
    return onBudget === 'publish' && this.#flow.inFlight === 0 && !ledger.budget.affords(task.cost);
  }

  /** waiting → in flight: those that may be sent now are reserved together, in one transaction. */
  #lease(lane: Lane, permits: number): void {
    try {
      this.#dropUnwanted(lane);
      const chosen = this.#stillOpen(lane, this.#flow.admit(lane.waiting, permits));
      const granted = this.#options.ledger.reserve(chosen.map(one => reservationOf(one, ++this.#dispatched)));
      for (const task of chosen.slice(0, granted)) {
        this.#flow.sent(task.lookup);
        lane.release(task, true);
      }
      if (granted > 0) this.#turns.push(...this.#turns.splice(this.#turns.indexOf(lane), 1));
      const refused = chosen[granted];
      if (refused !== undefined) this.#overBudget(lane, refused);
      else if (chosen.length > 0) lane.wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Those of the chosen that no other run has been answered meanwhile; for the others, waiting → settled. */
  #stillOpen(lane: Lane, chosen: readonly TaskState[]): readonly TaskState[] {
    const answered = this.#options.answeredMeanwhile?.(chosen);
    if (answered === undefined || answered.size === 0) return chosen;
    for (const task of chosen) {
      if (!answered.has(task.lookup.key)) continue;
      lane.release(task, false);
      this.#ended(task);
    }
    this.#wakeLanes();
    return chosen.filter(task => !answered.has(task.lookup.key));
  }

  /** Calls in flight may turn out free and give their credits back; without any, the limit is reached. */
  #overBudget(lane: Lane, task: TaskState): void {
    if (this.#flow.inFlight > 0) return;
    if (this.#options.onBudget === 'stop') {
      this.stop();
      this.#options.events.stopped({kind: 'budget'});
      return;
    }
    lane.release(task, false);
    this.#leave(task, 'budget');
    lane.wake();
  }

  /** in flight → settled, or backing off. */
  async #send(task: TaskState, lane: Lane): Promise<void> {
    const {outlet, ledger, policy, now} = this.#options;
    const sentAt = now();
    task.known = true;
    const answer = outlet.send(task.lookup.operation, task.lookup.params, task.dispatch);
    lane.sent(sentAt);
    const attempt = await answer;
    noteDoubt(task, attempt, policy);
    const isKnown = isKnownRejection(task, attempt);
    const blame = this.#flow.ended(task.lookup, attempt, isKnown);
    if (attempt.kind === 'throttled') lane.slowDown(sentAt, Math.max(now(), this.#flow.pause?.untilMs ?? 0));
    const isTrusted = isKnown || (attempt.kind === 'rejected' && this.#flow.trusts(task.lookup.operation));
    const {step, booked} = concluded(task, attempt, policy, blame, isTrusted);
    // Its slot is used again before that is written: in one transaction with what is sent next.
    ledger.record(booked).catch(error => this.#fail(error));
    if (step.next === 'settle') this.#settle(task, step.outcome);
    else if (this.#stopped) return;
    else if (this.#closed !== undefined) this.#leave(task, this.#closed);
    else if (step.next === 'retry') this.#retry(task, lane, attempt);
    else if (step.next === 'hold') this.#hold(task);
    if (!this.#flow.isOutage) for (const held of this.#unsettled.takeHeld()) this.#useUp(held);
    this.#wakeLanes();
  }

  /** in flight → backing off → queued. While everybody waits, no task has to wait for itself. */
  #retry(task: TaskState, lane: Lane, attempt: Attempt): void {
    const {policy, random} = this.#options;
    const everybodyWaits = attempt.kind === 'throttled' || this.#flow.pause !== undefined;
    const delayMs = everybodyWaits ? 0 : retryMs(task.doubts, this.#flow.onlyFailingLeft, policy, random());
    if (delayMs === 0) this.#enqueue(task, lane);
    else this.#unsettled.backOff(task, delayMs, () => this.#enqueue(task, lane));
  }

  /** → backing off, until the outage is over. */
  #hold(task: TaskState): void {
    this.#unsettled.hold(task);
    this.#flow.endWithoutResends();
  }

  /** queued or held → settled or held: it was sent as often as it may be. */
  #useUp(task: TaskState): void {
    const {policy, ledger} = this.#options;
    const step = orKnown(usedUp(task.lastCode, policy, this.#flow.isOutage ? 'service' : 'value'), task);
    if (step.next === 'settle') {
      ledger.adopt(task.lookup.operation, task.lookup.key, step.outcome, task.known);
      this.#settle(task, step.outcome);
    } else this.#hold(task);
  }

  #isWanted(task: TaskState): boolean {
    return this.#options.isWanted?.(task) !== false;
  }

  #dropUnwanted(lane: Lane): void {
    if (this.#options.isWanted === undefined) return;
    for (const task of lane.waiting.filter(one => !this.#isWanted(one))) {
      lane.release(task, false);
      this.#drop(task);
    }
  }

  /** queued or waiting → out: a value that nobody waits for any more costs nothing. */
  #drop(task: TaskState): void {
    this.#ended(task);
    this.#options.events.dropped?.(task);
  }

  /** → settled, for good. */
  #settle(task: TaskState, outcome: LastingOutcome): void {
    this.#ended(task);
    this.#options.events.settled(task, outcome);
  }

  /** → settled, without an outcome of this run. */
  #leave(task: TaskState, reason: UnaskedCode): void {
    this.#ended(task);
    this.#options.events.unasked(task, reason);
  }

  #ended(task: TaskState): void {
    this.#unsettled.delete(task);
    this.#flow.settled(task.lookup.key);
    this.#flow.endWithoutResends();
  }

  /** The service can't be asked any more: all stops, or it is an outage that the run is to go on without. */
  #giveUp(reason: ExecutorStop): void {
    if (reason.kind === 'outage' && this.#options.onOutage === 'publish') {
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

  #wakeLanes(): void {
    for (const lane of this.#turns) lane.wake();
  }
}
