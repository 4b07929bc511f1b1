import type {Attempt} from '../../../src/client/attempt.ts';
import {currentOutage} from '../../../src/lookup/circuit-breaker.ts';
import {randomOf} from '../../support/random.ts';
import {broken, busy, ok, type Played, type PlayOptions, play, rejected, reset, unsent} from './play.ts';

type Moment = Parameters<NonNullable<PlayOptions['check']>>[0];

/** Plays nights of random rates, limits, faults and outages. Returns each night that breaks a promise, with the promise. */
export function playRandomNights(first: number, count: number): readonly string[] {
  const broken: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    try {
      playRandomNight(seed);
    } catch (error) {
      broken.push(`night ${seed}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return broken;
}

function playRandomNight(seed: number): void {
  const luck = randomOf(seed);
  const pick = <T>(...all: readonly T[]) => all[Math.floor(luck() * all.length)] as T;
  const perSecond = pick(0, 5, 50, 400);
  const rate = perSecond === 0 ? ('unlimited' as const) : {count: perSecond, perMs: 1_000};
  const few = 20 + Math.floor(luck() * 150);
  const maxCredits = luck() < 0.3 ? Math.floor(luck() * 150) : Number.POSITIVE_INFINITY;
  const publishes = luck() < 0.4;
  const latencyMs = 5 + luck() * 300;
  const some = () => (luck() < 0.5 ? luck() * 0.3 : 0);
  const share = {throttled: some(), failed: some(), rejected: luck() * 0.1};
  const from = luck() * 5_000;
  const to = luck() < 0.3 ? from + luck() * 60_000 : from;
  const endsAt = luck() < 0.1 ? luck() * 20_000 : undefined;
  const claimed = luck() < 0.2 ? luck() * 0.5 : 0;
  const hasTwo = luck() < 0.3;
  let charged = 0;
  const charge = (attempt: Attempt) => {
    charged += 1;
    return attempt;
  };
  const resends = pick(0, 1, 2, 4);
  const doubts = new Map<number, number>();
  // One operation is down for a while, or to the end, beside one that is answered.
  const isHalfDown = hasTwo && luck() < 0.5;
  const upAt = luck() < 0.5 ? luck() * 300_000 : Number.POSITIVE_INFINITY;
  const operationOf = (value: number) => (hasTwo && value % (isHalfDown ? 2 : 3) === 0 ? 'email' : 'ip');
  const values = isHalfDown ? 3 * few : few;
  const closesAt = isHalfDown && luck() < 0.5 ? luck() * 10_000 : endsAt;
  const attemptAt = (t: number, value: number, random: () => number): Attempt => {
    if (isHalfDown && t < upAt && operationOf(value) === 'email') return charge(broken);
    if (t > from && t < to) return random() < 0.5 ? unsent : charge(random() < 0.5 ? broken : reset);
    const x = random();
    if (x < share.throttled) return busy(random() < 0.5 ? 0 : random() * 3_000, random() < 0.5 ? 503 : 429);
    if (x < share.throttled + share.failed) return charge(random() < 0.5 ? broken : reset);
    return charge(random() < share.rejected ? rejected(random() < 0.5 ? 'no_data' : 'invalid') : ok);
  };
  const options: PlayOptions = {
    ...{rate, values, latencyMs, maxCredits, seed, maxOutageMs: 120_000, claimed},
    operationOf,
    ...(publishes ? {publishOn: ['budget', 'outage']} : {}),
    ...(closesAt === undefined ? {} : {closesAt}),
    policy: {resends, cost: {throttled: 'free', rejected: 'maybe'} as never},
    check: moment => checkMoment(moment, perSecond, maxCredits),
  };
  const played = play(options, ({t, value, random}) => {
    const attempt = attemptAt(t, value, random);
    if (attempt.kind === 'ambiguous') doubts.set(value, (doubts.get(value) ?? 0) + 1);
    return {attempt, ms: latencyMs * (0.5 + random())};
  });
  const most = Math.max(0, ...doubts.values());
  must(most <= 1 + resends, `a value failed ${most} times with ${resends} resends`);
  checkEnd(played, values, charged);
}

function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(promise);
}

function checkMoment({desk, out, now, sent}: Moment, perSecond: number, maxCredits: number): void {
  const [lane] = desk.lanes;
  const parked = [...desk.parked.values()].flat();
  const queues = [desk.held, desk.backingOff, desk.claimed, lane?.waiting ?? [], parked];
  const places = queues.reduce((sum, {length}) => sum + length, desk.inFlight.size);
  must(places === desk.open.size, `${desk.open.size} values are open, ${places} have a place`);
  must(lane?.inFlight === desk.inFlight.size, 'a lane counts other calls in flight than the desk');
  must(out.send.length === 0 || now >= (lane?.rate.closedUntil ?? 0), 'sent while the service asked to wait');
  must(out.send.length === 0 || desk.refusal === undefined, 'sent after the end of calls');
  if (currentOutage(desk.breaker) !== undefined)
    must(out.send.length <= 1, 'an outage has more than one probe');
  if (perSecond > 0 && sent.length > perSecond) {
    const span = (sent.at(-1) ?? 0) - (sent.at(-1 - perSecond) ?? 0);
    must(span >= 1_000, `over the rate: ${perSecond + 1} calls within ${span} ms`);
  }
  must(desk.inFlight.size <= maxCredits || out.send.length > 0, 'over the limit');
}

function checkEnd({told, desk, stop, booked, sent}: Played, values: number, charged: number): void {
  if (stop === undefined) must(told.size === values, `${told.size} of ${values} values are told`);
  must(desk.inFlight.size === 0 || stop !== undefined, 'calls are left in flight');
  const inFlight = stop === undefined ? 0 : desk.inFlight.size;
  must(booked <= charged && charged <= booked + inFlight, `booked ${booked}, the service has ${charged}`);
  must(sent.length >= booked, 'booked more calls than were sent');
}
