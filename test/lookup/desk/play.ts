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
  /** At this time the run's limit of time is reached. */
  readonly closesAt?: number;
  /** Share of calls whose value another run is buying, for up to two seconds; half of these get its answer. */
  readonly claimed?: number;
  /** All are IP addresses without it. */
  readonly operationOf?: (value: number) => 'ip' | 'email';
  readonly check?: (moment: {
    readonly desk: Desk;
    readonly out: Effects;
    readonly now: number;
    readonly sent: readonly number[];
  }) => void;
}

export function play(options: PlayOptions, service: Service): Played {
  const {
    operationOf = () => 'ip',
    claimed = 0,
    rate = 'unlimited',
    values,
    latencyMs,
    maxCredits = Number.POSITIVE_INFINITY,
    seed = 1,
    check,
  } = options;
  const random = randomOf(seed);
  const desk = newDesk(
    {
      lanes: [{name: 'all', operations: ['ip', 'email'], rate}],
      ...{
        concurrency: undefined,
        isPaced: true,
        policy: {resends: 2, cost: {throttled: 'free', rejected: 'maybe'} as never},
      },
      ...{
        maxOutageMs: 900_000,
        mayAllFail: false,
        isSuspect: false,
        publishOn: [],
        refusals: emptyTally().refusals,
      },
      ...{isAnswered: () => false, hadSignals: () => false, random, ...options},
    },
    0,
  );
  const lease = rate === 'unlimited' ? undefined : leaseOf(perSecond(rate));
  const happens: (readonly [number, DeskEvent])[] = [];
  const at = (t: number, event: DeskEvent) => {
    let low = 0;
    let high = happens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((happens[middle]?.[0] ?? 0) <= t) low = middle + 1;
      else high = middle;
    }
    happens.splice(low, 0, [t, event]);
  };
  const told = new Map<number, Outcome | {readonly status: 'skipped'}>();
  const state = {
    now: 0,
    open: 0,
    wake: Number.POSITIVE_INFINITY,
    refused: 0,
    leases: 0,
    leaseAt: 0,
    lastTold: 0,
    booked: 0,
  };
  let asked = 0;
  let stop: StopReason | undefined;
  const claims = new Map<Call, {readonly until: number; readonly isBought: boolean}>();
  const sent: number[] = [];
  const notices: string[] = [];
  /** As a run does: so many values wait at a time, until the list ends. */
  const ask = () => {
    const due = Math.min(values - asked, 256 - desk.lanes.reduce((sum, lane) => sum + freshIn(lane), 0));
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
    state.now = Math.min(happens[0]?.[0] ?? Number.POSITIVE_INFINITY, state.wake);
    if (state.now === Number.POSITIVE_INFINITY) break;
    while ((happens[0]?.[0] ?? Number.POSITIVE_INFINITY) <= state.now) {
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
    state.wake = out.wakeAt === Number.POSITIVE_INFINITY ? out.wakeAt : Math.max(now + 1, out.wakeAt);
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

const bucket = (rate: number, burst: number) => {
  let level = burst;
  let last = 0;
  return (t: number) => {
    level = Math.min(burst, level + ((t - last) / 1_000) * rate);
    last = t;
    if (level < 1) return false;
    level -= 1;
    return true;
  };
};
const windowed = (count: number, ms: number, waits: boolean): Service => {
  let start = 0;
  let n = 0;
  return ({t}) => {
    if (t - start >= ms) [start, n] = [t - (t % ms), 0];
    return {attempt: n++ < count ? ok : busy(waits ? Math.ceil((start + ms - t) / 1_000) * 1_000 : 0)};
  };
};
const s = (count: number) => ({count, perMs: 1_000});
const m = (count: number) => ({count, perMs: 60_000});
const share = (p: number, other: Reply, seed: number): Service => {
  const luck = randomOf(seed);
  return () => (luck() < p ? other : {attempt: ok});
};
const limited = (rate: number, burst: number, waitMs: number): Service => {
  const may = bucket(rate, burst);
  return ({t}) => ({attempt: may(t) ? ok : busy(waitMs)});
};

/** Services as they are: name, options, the service, its ideal in calls a second. */
export const services: readonly (readonly [
  string,
  Omit<PlayOptions, 'values'> & {readonly values?: number},
  () => Service,
  number,
])[] = [
  ['calm, 50/s', {rate: s(50), latencyMs: 20}, () => () => ({attempt: ok}), 50],
  ['slow answers (1.5 s), 40/s', {rate: s(40), latencyMs: 1_500}, () => () => ({attempt: ok}), 40],
  ['10 a minute', {rate: m(10), latencyMs: 20, values: 60}, () => () => ({attempt: ok}), 10 / 60],
  [
    '4% 503, Retry-After 1',
    {rate: s(50), latencyMs: 20},
    () => share(0.04, {attempt: busy(1_000, 503)}, 3),
    48,
  ],
  [
    '4% 429, Retry-After 1 (all wait)',
    {rate: s(50), latencyMs: 20},
    () => share(0.04, {attempt: busy(1_000)}, 3),
    1 / (1 / 50 + 0.04 * 1.04),
  ],
  ['5% 429 without a word', {rate: s(50), latencyMs: 20}, () => share(0.05, {attempt: busy()}, 7), 47.5],
  ['8% 500', {rate: s(50), latencyMs: 20}, () => share(0.08, {attempt: broken}, 9), 46],
  [
    '8% 500 at once, answers 1.5 s',
    {rate: s(40), latencyMs: 1_500},
    () => share(0.08, {attempt: broken, ms: 5}, 9),
    36.8,
  ],
  ['3% reset', {rate: s(50), latencyMs: 20}, () => share(0.03, {attempt: reset}, 11), 48.5],
  ['bucket 40/s under 200/s, Retry-After 1', {rate: s(200), latencyMs: 20}, () => limited(40, 40, 1_000), 40],
  ['bucket 40/s under 200/s, silent', {rate: s(200), latencyMs: 20}, () => limited(40, 40, 0), 40],
  ['bucket 5/s under 200/s, silent', {rate: s(200), latencyMs: 20}, () => limited(5, 5, 0), 5],
  [
    '10 in each second under 100/s, Retry-After 1',
    {rate: s(100), latencyMs: 100},
    () => windowed(10, 1_000, true),
    10,
  ],
  [
    '40 in each second under 200/s, silent',
    {rate: s(200), latencyMs: 20},
    () => windowed(40, 1_000, false),
    40,
  ],
  ['150 in each 5 s, Retry-After', {rate: s(200), latencyMs: 20}, () => windowed(150, 5_000, true), 30],
  ['600 a minute, Retry-After', {rate: s(50), latencyMs: 20}, () => windowed(600, 60_000, true), 10],
  ['600 a minute, silent', {rate: s(50), latencyMs: 20}, () => windowed(600, 60_000, false), 10],
  ['60 a minute, silent', {rate: s(50), latencyMs: 20, values: 300}, () => windowed(60, 60_000, false), 1],
  [
    '1,000 an hour, silent',
    {rate: s(50), latencyMs: 20, values: 3_500, maxOutageMs: 7_200_000},
    () => windowed(1_000, 3_600_000, false),
    1_000 / 3_600,
  ],
  [
    '8 at once, 100 ms',
    {rate: s(200), latencyMs: 100},
    () =>
      ({open}) => ({attempt: open > 8 ? busy() : ok}),
    80,
  ],
  [
    'latency that rises with load',
    {rate: s(200), latencyMs: 50},
    () =>
      ({open}) => ({attempt: ok, ms: 50 + Math.max(0, open - 8) * 6.25}),
    160,
  ],
  [
    'connections break above 20 at once',
    {rate: s(400), latencyMs: 100},
    () =>
      ({open}) => ({attempt: open > 20 ? reset : ok}),
    200,
  ],
  ['unlimited, 64 at once, 20 ms', {latencyMs: 20, values: 20_000}, () => () => ({attempt: ok}), 3_200],
];
