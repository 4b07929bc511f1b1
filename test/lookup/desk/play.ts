import type {Attempt} from '../../../src/client/attempt.ts';
import type {Rate} from '../../../src/job/setting-types.ts';
import type {Outcome} from '../../../src/ledger/lookup-outcome.ts';
import {newEntry} from '../../../src/ledger/run/ledger-entry.ts';
import {emptyTally} from '../../../src/ledger/run/tally.ts';
import {type Call, newCall, type StopReason} from '../../../src/lookup/call.ts';
import {step} from '../../../src/lookup/desk.ts';
import {
  type Desk,
  type DeskEvent,
  type DeskOptions,
  type Effects,
  freshIn,
  newDesk,
} from '../../../src/lookup/desk-state.ts';
import {leaseOf} from '../../../src/lookup/leases.ts';
import {perSecond} from '../../../src/lookup/rate-limit.ts';
import {randomOf} from '../../support/random.ts';

/** Plays a desk against a service, in virtual time: no event loop, no ledger, no socket. */

/** The reply to a call that leaves at `t`, with the milliseconds until it comes. `open`: calls in flight with it. */
export type Service = (call: {
  readonly t: number;
  readonly open: number;
  readonly value: number;
  readonly random: () => number;
}) => Reply;

export interface Reply {
  readonly attempt: Attempt;
  readonly ms?: number;
}

export interface Played {
  readonly told: ReadonlyMap<number, Outcome | {readonly status: 'skipped'}>;
  readonly sent: readonly number[];
  readonly refused: number;
  readonly lastTold: number;
  readonly desk: Desk;
  readonly stop: StopReason | undefined;
  readonly notices: readonly string[];
  /** Charged by the desk's bookings. */
  readonly booked: number;
}

const NEVER = Number.POSITIVE_INFINITY;
const heard = {latencyMs: 1, pace: {limits: {}}};
const interface_ = {unknownFields: [], wrongTypes: []};
export const ok: Attempt = {kind: 'answered', status: 200, ...heard, data: {n: 1}, ...interface_};
export const broken: Attempt = {kind: 'ambiguous', status: 500, code: 'http_500', ...heard};
export const unsent: Attempt = {kind: 'not_sent', code: 'econnrefused', latencyMs: 1};
export const reset: Attempt = {kind: 'ambiguous', code: 'econnreset', latencyMs: 1};
export const rejected = (code: string): Attempt => ({
  kind: 'rejected',
  about: 'value',
  status: 400,
  code,
  ...heard,
});
export const busy = (waitMs = 0, status = 429): Attempt => {
  const retryAfter = waitMs > 0 ? {retryAfter: String(waitMs / 1_000)} : {};
  return {kind: 'throttled', status, code: `http_${status}`, latencyMs: 1, pace: {limits: {}, ...retryAfter}};
};

export interface PlayOptions extends Partial<DeskOptions> {
  readonly rate?: Rate | 'unlimited';
  readonly values: number;
  readonly latencyMs: number;
  readonly maxCredits?: number;
  readonly seed?: number;
  /** The rows hold so many values without an end, at most. */
  readonly mostOpen?: number;
  /** At this time the run's limit of time is reached. */
  readonly closesAt?: number;
  /** Share of calls whose value another run is buying, for up to two seconds; half of these get its answer. */
  readonly claimed?: number;
  /** All are IP addresses without it. */
  readonly operationOf?: (value: number) => 'ip' | 'email' | 'phone';
  readonly check?: (moment: {
    readonly desk: Desk;
    readonly out: Effects;
    readonly now: number;
    readonly sent: readonly number[];
  }) => void;
}

export function play(options: PlayOptions, service: Service): Played {
  const {values, latencyMs, check, operationOf = () => 'ip'} = options;
  const {claimed = 0, rate = 'unlimited', maxCredits = NEVER, mostOpen = NEVER, seed = 1} = options;
  const random = randomOf(seed);
  const desk = newDesk(
    {
      lanes: [{name: 'all', operations: ['ip', 'email', 'phone'], rate}],
      ...{concurrency: undefined, isPaced: true, maxOutageMs: 900_000, mayAllFail: false, isSuspect: false},
      ...{publishOn: [], refusals: emptyTally().refusals},
      policy: {resends: 2, cost: {throttled: 'free', rejected: 'maybe'} as never},
      ...{isAnswered: () => false, hadSignals: () => false, random, ...options},
    },
    0,
  );
  const lease = rate === 'unlimited' ? undefined : leaseOf(perSecond(rate));
  const happens: (readonly [number, DeskEvent])[] = [];
  const at = (t: number, event: DeskEvent) =>
    happens.splice(happens.findLastIndex(([time]) => time <= t) + 1, 0, [t, event]);
  const told = new Map<number, Outcome | {readonly status: 'skipped'}>();
  const state = {now: 0, open: 0, wake: NEVER, refused: 0, leases: 0, leaseAt: 0, lastTold: 0, booked: 0};
  let asked = 0;
  let stop: StopReason | undefined;
  const claims = new Map<Call, {readonly until: number; readonly isBought: boolean}>();
  const sent: number[] = [];
  const notices: string[] = [];
  /** As a run does: so many values wait at a time, and the next ones come once there is room for many. */
  const ask = () => {
    const room = 256 - desk.lanes.reduce((sum, lane) => sum + freshIn(desk, lane), 0);
    const due = room < 32 ? 0 : Math.min(values - asked, room, mostOpen - desk.open.size);
    for (let n = 0; n < due; n++) {
      const key = String(asked++);
      const operation = operationOf(Number(key));
      const lookup = {operation, key, params: {[operation]: key}};
      at(state.now, {kind: 'asked', call: newCall(lookup, newEntry(lookup), 1, () => {})});
    }
    if (due > 0 && asked === values) at(state.now, {kind: 'more', isMore: false});
  };
  at(0, {kind: 'more', isMore: true});
  if (options.closesAt !== undefined) at(options.closesAt, {kind: 'close', reason: 'deadline'});
  ask();
  for (let guard = 0; told.size < values && stop === undefined && guard < 300_000; guard++) {
    const events: DeskEvent[] = [];
    state.now = Math.min(happens[0]?.[0] ?? NEVER, state.wake);
    if (state.now === NEVER) break;
    while ((happens[0]?.[0] ?? NEVER) <= state.now) {
      const [, event] = happens.shift() as (typeof happens)[number];
      if (event.kind === 'ended') state.open -= 1;
      if (event.kind === 'permits') state.leases -= 1;
      events.push(event);
    }
    const {now} = state;
    const out = step(desk, events, now);
    for (const {booked} of out.book) if (booked.charge !== 'free') state.booked += 1;
    const afford = Math.max(0, maxCredits - state.booked - state.open);
    for (const [nth, call] of out.send.slice(afford).entries())
      at(now, {kind: 'unsent', call, why: nth === 0 ? 'credits' : 'order'});
    for (const call of out.send.slice(0, afford)) {
      if (random() < claimed) {
        claims.set(call, {until: now + random() * 2_000, isBought: random() < 0.5});
        at(now, {kind: 'unsent', call, why: 'claimed'});
        continue;
      }
      state.open += 1;
      sent.push(now);
      const {attempt, ms} = service({t: now, open: state.open, value: Number(call.key), random});
      if (attempt.kind === 'throttled') state.refused += 1;
      const tookMs = ms ?? (attempt.kind === 'throttled' ? Math.min(20, latencyMs) : latencyMs);
      at(now + tookMs, {kind: 'ended', call, attempt: {...attempt, latencyMs: tookMs, boughtAt: 0}});
    }
    for (const call of out.look) {
      const claim = claims.get(call);
      if (claim === undefined || claim.until > now) continue;
      claims.delete(call);
      at(now, {kind: 'freed', call, isBought: claim.isBought});
      if (claim.isBought) told.set(Number(call.key), {status: 'skipped'});
    }
    check?.({desk, out, now, sent});
    for (const {call, end} of out.tell) {
      if (told.has(Number(call.key))) throw new Error(`${call.key} is told twice`);
      told.set(Number(call.key), end.kind === 'skipped' ? {status: 'skipped'} : end.outcome);
      state.lastTold = now;
    }
    for (const notice of out.notices) {
      notices.push(notice.kind);
      if (notice.kind === 'stopped') stop = notice.reason;
    }
    state.wake = out.wakeAt === NEVER ? out.wakeAt : Math.max(now + 1, out.wakeAt);
    const most = Math.min(
      out.wants.get('all') ?? 0,
      rate === 'unlimited' ? 0 : Math.max(1, perSecond(rate) / 4),
    );
    while (lease !== undefined && state.leases * lease.permits < most) {
      state.leases += 1;
      state.leaseAt = Math.max(now, state.leaseAt + lease.minTimeMs);
      at(state.leaseAt, {kind: 'permits', lane: 'all', count: lease.permits});
    }
    if (asked < values) ask();
  }
  const {refused, lastTold, booked} = state;
  return {told, sent, refused, lastTold, desk, stop, notices, booked};
}
