import {randomInt} from 'node:crypto';
import PQueue from 'p-queue';
import type {Attempt} from '../client/attempt.ts';
import type {Reservation} from '../ledger/entry.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Settled} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {Ask, Executor, ExecutorEvents, PaceReport} from './executor.ts';
import type {LanePacer, LaneSettings, Outlet} from './outlet.ts';
import {perSecond, RateController} from './pace/rate-controller.ts';
import {Traffic} from './pace/traffic.ts';
import {chargeOf, type History, nextStep, type PolicySettings, retryMs} from './policy.ts';

export interface QueueExecutorOptions {
  readonly outlet: Outlet;
  readonly ledger: Pick<Ledger, 'reserve' | 'record' | 'affords'>;
  readonly lanes: readonly LaneSettings[];
  /** Calls in flight at most, of all lanes together; as many as the lanes have by default. */
  readonly concurrency?: number | undefined;
  readonly policy: PolicySettings;
  readonly maxOutageMs: number;
  /** At the credit limit: stop, or settle the rest as skipped. */
  readonly onBudget: 'stop' | 'publish';
  readonly events: ExecutorEvents;
  /** Values among these that need no call any more; whoever wanted to know them has been told. */
  readonly answeredMeanwhile?: (asks: readonly Ask[]) => ReadonlySet<string>;
  /** Whether an answer of this operation is known from before, in this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Milliseconds since the epoch, and a random number in [0, 1). */
  readonly now: () => number;
  readonly random: () => number;
}

/** A value under way, with what counts against it. */
interface Task {
  readonly operation: Operation;
  readonly key: string;
  readonly ask: Ask;
  attempts: number;
  sends: number;
  /** Those of them that reached, or may have reached, the service. */
  calls: number;
  ambiguous: boolean;
  /** What its last sending is reserved under. */
  dispatch: number;
  permit: (granted: boolean) => void;
}

interface Lane {
  readonly queue: PQueue;
  readonly pacer: LanePacer;
  readonly controller: RateController;
  readonly settings: LaneSettings;
  /** Tasks that hold a slot and wait for a permit. */
  readonly waiting: Task[];
  /** Send times of the last second, to know the rate that the service really sees. */
  readonly recent: number[];
}

/** So many tasks may wait in a lane's queue, per slot: enough to keep it busy, few enough to hold no memory. */
const QUEUED_PER_SLOT = 4;
/** Where a session begins to number its dispatches: so far apart that no two of a run's sessions meet. */
const MOST_FIRST_DISPATCH = 2 ** 47;

/** `queue → pace → send`: p-queue holds the slots, the outlet paces and sends; what follows from an answer is decided here. */
export class QueueExecutor implements Executor {
  readonly #options: QueueExecutorOptions;
  readonly #traffic: Traffic;
  readonly #lanes = new Map<Operation, Lane>();
  /** Each lane once; the one that sent last is the last to be offered what becomes free. */
  readonly #turns: Lane[] = [];
  #slots: number;
  readonly #backoffs = new Set<NodeJS.Timeout>();
  #dispatched = randomInt(MOST_FIRST_DISPATCH);
  /** Values taken and not settled yet. */
  #unsettled = 0;
  /** Callers that wait until more values may be taken. */
  #blocked = 0;
  #stopped = false;

  constructor(options: QueueExecutorOptions) {
    this.#options = options;
    this.#slots = options.concurrency ?? options.lanes.reduce((sum, lane) => sum + lane.concurrency, 0);
    this.#traffic = new Traffic({
      slots: () => this.#slots,
      maxOutageMs: options.maxOutageMs,
      pending: () => (this.#blocked > 0 ? Number.POSITIVE_INFINITY : this.#unsettled),
      isAnswered: options.isAnswered,
      now: options.now,
      random: options.random,
      onOpen: () => this.#pump(),
      onStop: reason => {
        this.stop();
        options.events.stopped(reason);
      },
    });
    for (const settings of options.lanes) {
      const lane = this.#lane(settings);
      this.#turns.push(lane);
      for (const operation of settings.operations) this.#lanes.set(operation, lane);
    }
  }

  async submit(ask: Ask): Promise<void> {
    const {operation, key} = ask.lookup;
    const {ambiguous} = ask;
    const counts = {attempts: 0, sends: 0, calls: 0, dispatch: 0};
    const task: Task = {operation, key, ask, ...counts, ambiguous, permit: () => {}};
    const lane = this.#laneOf(task);
    this.#unsettled += 1;
    this.#enqueue(task);
    if (this.#stopped) return;
    this.#blocked += 1;
    await lane.queue.onSizeLessThan(lane.queue.concurrency * QUEUED_PER_SLOT);
    this.#blocked -= 1;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#traffic.stop();
    for (const timer of this.#backoffs) clearTimeout(timer);
    for (const lane of this.#turns) {
      lane.pacer.stop();
      for (const task of lane.waiting.splice(0)) task.permit(false);
    }
  }

  async drained(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>(resolve => {
      timer = setTimeout(resolve, graceMs);
    });
    const idle = Promise.all(this.#turns.map(lane => lane.queue.onIdle()));
    await Promise.race([idle, grace]);
    clearTimeout(timer);
  }

  pace(): PaceReport {
    const sum = (of: (lane: Lane) => number) => {
      const total = this.#turns.reduce((soFar, lane) => soFar + of(lane), 0);
      return Number.isFinite(total) ? total : undefined;
    };
    const {count: pauses, ms: pausedMs} = this.#traffic.paused;
    return {
      limit: sum(lane => perSecond(lane.settings.rate)),
      current: sum(lane => lane.controller.perSecond(this.#options.now())),
      inFlight: this.#traffic.inFlight,
      pause: this.#options.outlet.pause ?? this.#traffic.pause,
      pauses,
      pausedMs,
    };
  }

  /** From here on so many calls may be in flight, shared out among the lanes. */
  set slots(total: number) {
    this.#slots = total;
    const each = Math.max(1, Math.floor(total / this.#turns.length));
    for (const lane of this.#turns) lane.queue.concurrency = each;
  }

  #lane(settings: LaneSettings): Lane {
    const controller = new RateController(perSecond(settings.rate));
    const lane: Lane = {
      settings,
      controller,
      queue: new PQueue({concurrency: settings.concurrency}),
      pacer: this.#options.outlet.pacer(settings, controller, permits => this.#lease(lane, permits)),
      waiting: [],
      recent: [],
    };
    return lane;
  }

  #laneOf(task: Task): Lane {
    const lane = this.#lanes.get(task.operation);
    if (lane === undefined) throw new Error(`no lane for ${task.operation}`);
    return lane;
  }

  #enqueue(task: Task): void {
    if (this.#stopped) return;
    const lane = this.#laneOf(task);
    // What goes wrong in here is no failed call but a failed ledger: it ends the run.
    lane.queue.add(() => this.#attempt(task, lane)).catch(error => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.events.stopped({kind: 'error', error});
  }

  async #attempt(task: Task, lane: Lane): Promise<void> {
    if (this.#stopped) return;
    if (this.#spent(task)) {
      this.#settle(task, {status: 'skipped', error: 'budget'});
      return;
    }
    const granted = await new Promise<boolean>(resolve => {
      task.permit = resolve;
      lane.waiting.push(task);
      lane.pacer.request();
    });
    if (granted) await this.#send(task, lane);
  }

  /** A lease: those that may go now are reserved together, in one transaction, and sent. */
  #lease(lane: Lane, permits: number): void {
    try {
      const chosen = this.#stillOpen(lane, this.#traffic.admit(lane.waiting, permits));
      const granted =
        chosen.length === 0 ? 0 : this.#options.ledger.reserve(chosen.map(task => this.#reservation(task)));
      for (const task of chosen.slice(0, granted)) {
        lane.waiting.splice(lane.waiting.indexOf(task), 1);
        this.#traffic.sent(task);
        task.permit(true);
      }
      if (granted > 0) this.#turns.push(...this.#turns.splice(this.#turns.indexOf(lane), 1));
      if (granted < chosen.length) this.#overBudget(lane, chosen[granted] as Task);
      else if (chosen.length > 0 && lane.waiting.length > 0) lane.pacer.request();
    } catch (error) {
      this.#fail(error);
    }
  }

  #reservation(task: Task): Reservation {
    const {key, operation, ask, sends} = task;
    this.#dispatched += 1;
    task.dispatch = this.#dispatched;
    return {key, operation, cost: ask.cost, known: ask.known || sends > 0, dispatch: task.dispatch};
  }

  /** Whether this value can't be afforded, and no call is under way that may turn out free and give credits back. */
  #spent(task: Task): boolean {
    const {onBudget, ledger} = this.#options;
    return onBudget === 'publish' && this.#traffic.inFlight === 0 && !ledger.affords(task.ask.cost);
  }

  /** Those of the chosen that no other run has been answered meanwhile. */
  #stillOpen(lane: Lane, chosen: readonly Task[]): readonly Task[] {
    const answered = this.#options.answeredMeanwhile?.(
      chosen.map(task => ({...task.ask, known: task.ask.known || task.sends > 0})),
    );
    if (answered === undefined || answered.size === 0) return chosen;
    for (const task of chosen) {
      if (!answered.has(task.key)) continue;
      this.#drop(task, lane);
      this.#unsettled -= 1;
      this.#traffic.settled(task.key);
    }
    this.#pump();
    return chosen.filter(task => !answered.has(task.key));
  }

  /** Takes a task out of its lane without sending it. */
  #drop(task: Task, lane: Lane): void {
    lane.waiting.splice(lane.waiting.indexOf(task), 1);
    task.permit(false);
  }

  /** Calls in flight may turn out free and give their credits back; without any, the limit is reached. */
  #overBudget(lane: Lane, task: Task): void {
    if (this.#traffic.inFlight > 0) return;
    if (this.#options.onBudget === 'stop') {
      this.stop();
      this.#options.events.stopped({kind: 'budget'});
      return;
    }
    this.#drop(task, lane);
    this.#settle(task, {status: 'skipped', error: 'budget'});
    if (lane.waiting.length > 0) lane.pacer.request();
  }

  async #send(task: Task, lane: Lane): Promise<void> {
    const {outlet, ledger, policy} = this.#options;
    const sentAt = this.#options.now();
    this.#noteSend(lane, sentAt);
    task.sends += 1;
    const answer = outlet.send(task.operation, task.ask.lookup.params, task.dispatch);
    // Noted after it has left, never before: so no window is ever too short, not by a fraction of a millisecond.
    lane.pacer.sent();
    const attempt = await answer;
    const counting = this.#traffic.heard(task, attempt, attempts => {
      task.attempts -= attempts;
    });
    if (attempt.kind === 'throttled') this.#slowDown(lane, sentAt);
    const history: History = {attempts: task.attempts, ambiguous: task.ambiguous};
    const step = nextStep(task.operation, attempt, history, policy, counting);
    const settled = step.next === 'settle' && step.settled.status !== 'skipped' ? step.settled : undefined;
    if (step.next === 'retry' && step.counts) task.attempts += 1;
    task.ambiguous ||= attempt.kind === 'ambiguous';
    const retry = task.calls > 0 || task.ask.ambiguous;
    if (attempt.kind !== 'not_sent') task.calls += 1;
    const charge = task.ask.cost === 0 ? 'free' : chargeOf(attempt, policy);
    const {operation, key, ask} = task;
    await ledger.record({operation, key, cost: ask.cost, attempt, charge, retry, settled});
    if (settled !== undefined) this.#settle(task, settled);
    else if (step.next === 'retry') this.#retry(task, this.#delayOf(task, attempt));
    this.#pump();
  }

  #settle(task: Task, settled: Settled): void {
    this.#unsettled -= 1;
    this.#traffic.settled(task.key);
    this.#options.events.settled(task.ask, settled);
  }

  /** While everybody waits, nobody has to wait for himself. */
  #delayOf(task: Task, attempt: Attempt): number {
    if (attempt.kind === 'throttled' || this.#traffic.pause !== undefined) return 0;
    return retryMs(task.attempts, this.#traffic.alone, this.#options.policy, this.#options.random());
  }

  #retry(task: Task, delayMs: number): void {
    if (this.#stopped) return;
    if (delayMs === 0) {
      this.#enqueue(task);
      return;
    }
    const timer = setTimeout(() => {
      this.#backoffs.delete(timer);
      this.#enqueue(task);
    }, delayMs);
    this.#backoffs.add(timer);
  }

  #noteSend(lane: Lane, now: number): void {
    lane.recent.push(now);
    while (lane.recent.length > 0 && (lane.recent[0] as number) < now - 1_000) lane.recent.shift();
  }

  #slowDown(lane: Lane, sentAt: number): void {
    const now = this.#options.now();
    const resumes = Math.max(now, this.#traffic.pause?.untilMs ?? 0);
    lane.controller.throttled(sentAt, resumes, lane.recent.length);
  }

  #pump(): void {
    for (const lane of this.#turns) if (lane.waiting.length > 0) lane.pacer.request();
  }
}
