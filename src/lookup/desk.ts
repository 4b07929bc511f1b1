import type {Operation} from '../operations/table.ts';
import type {Call} from './call.ts';
import {endCall, refuseWaiting, settleHeld, stopCalls} from './call-ends.ts';
import {isDown, isSuspect} from './canary.ts';
import {breakerRoom, chooseProbe, currentOutage, judgeDueEnds, noteSent} from './circuit-breaker.ts';
import {slotsOf} from './concurrency.ts';
import {
  canaryOf,
  type Desk,
  type DeskEvent,
  type Effects,
  type Lane,
  laneOf,
  notePause,
  settle,
  takeOut,
  type UnsentReason,
} from './desk-state.ts';
import {operationRoom, park, parks, wakeParked} from './parked.ts';
import {
  addPermits,
  givePermitBack,
  missingPermits,
  nextPermitAt,
  permittedCalls,
  probeRoom,
  takePermit,
} from './rate-limit.ts';
import {sendsLeft} from './retry-policy.ts';

/*
 * The desk: all that decides about calls, as one function without clock, promise, socket or database.
 *
 *   step(desk, events, now) → what to send, book, tell, and when to step again
 *
 * One step for all that a turn of the event loop brought. The executor carries out what the desk decides.
 */

/** Milliseconds after which values that another process buys are looked at again. */
const LOOK_EVERY_MS = 100;
/** Milliseconds for which lacking credits are believed: a shared limit may have been renewed. */
const LACKING_MS = 1_000;
/** From this many kills in a row on, values in flight at all of them may be the reason: they are sent one at a time. */
const KILLS_BEFORE_APART = 4;

export function step(desk: Desk, events: readonly DeskEvent[], now: number): Effects {
  const out: Effects = {
    ...{book: [], send: [], tell: [], look: [], notices: []},
    ...{wakeAt: Number.POSITIVE_INFINITY, wants: new Map()},
  };
  passTime(desk, now);
  for (const event of events) applyEvent(desk, event, out);
  judgeDueEnds(desk);
  if (desk.refusal === undefined) letCallsLeave(desk, out);
  // Last: a value that ends for want of credits may have been the one that tests the service for these.
  settleHeld(desk, out);
  if (desk.refusal !== undefined) refuseWaiting(desk, out);
  notePause(desk);
  for (const lane of desk.lanes) lane.couldSend = lane.waiting.length > 0;
  return out;
}

/** Only time in which a lane's calls could leave counts for what it learns. */
function passTime(desk: Desk, now: number): void {
  for (const {rate, concurrency, couldSend} of desk.lanes) {
    if (!couldSend) continue;
    const from = Math.max(
      desk.now,
      Math.min(now, Math.max(rate.askedUntil, currentOutage(desk.breaker)?.nextProbe ?? 0)),
    );
    rate.learned.clockMs += now - from;
    concurrency.connections.clockMs += now - from;
  }
  desk.now = now;
  // As long as answers take, and some time more.
  desk.patienceMs = Math.max(1_000, ...desk.lanes.map(({concurrency}) => 3 * (concurrency.latencyMs ?? 0)));
}

function applyEvent(desk: Desk, event: DeskEvent, out: Effects): void {
  switch (event.kind) {
    case 'asked':
      admitCall(desk, event.call);
      return;
    case 'ended':
      endCall(desk, event.call, event.attempt, out);
      return;
    case 'unsent':
      takeBack(desk, event.call, event.why, out);
      return;
    case 'freed':
      desk.claimed = desk.claimed.filter(call => call !== event.call);
      if (event.isBought) desk.open.delete(event.call.key);
      else laneOf(desk, event.call).waiting.unshift(event.call);
      return;
    case 'left':
      for (const {departure} of event.calls) departure.at = event.at;
      return;
    case 'permits':
      for (const {settings, rate} of desk.lanes)
        if (settings.name === event.lane) addPermits(rate, event.count);
      return;
    case 'slots':
      desk.slots = event.count;
      for (const {concurrency} of desk.lanes)
        concurrency.max = Math.max(1, Math.floor(event.count / desk.lanes.length));
      return;
    case 'more':
      desk.hasMore = event.isMore;
      return;
    case 'stop':
      stopCalls(desk, event.reason, out);
      return;
    case 'close':
      desk.refusal ??= {kind: 'skip', reason: event.reason};
      return;
    default:
      event satisfies never;
  }
}

function admitCall(desk: Desk, call: Call): void {
  desk.open.set(call.key, call);
  if (sendsLeft(call.entry.history, desk.options.policy) === 0) desk.held.push(call);
  else laneOf(desk, call).waiting.push(call);
}

// --- Who leaves now ------------------------------------------------------------------------------------------------------------

function letCallsLeave(desk: Desk, out: Effects): void {
  wakeDueCalls(desk, out);
  const {now, breaker, inFlight} = desk;
  let room = Math.min(desk.slots - inFlight.size, breakerRoom(desk));
  const outage = currentOutage(breaker);
  if (outage !== undefined && outage.nextProbe > now) out.wakeAt = Math.min(out.wakeAt, outage.nextProbe);
  // The lane that sent last is the last to use free slots.
  const lanes = desk.lanes.length === 1 ? desk.lanes : desk.lanes.toSorted((a, b) => a.lastSent - b.lastSent);
  for (const lane of lanes) {
    if (lane.waiting.length === 0) continue;
    const permitted = permittedCalls(lane.rate, now);
    const slots = slotsOf(lane.concurrency) - lane.inFlight;
    const most = Math.min(room, permitted, slots, probeRoom(lane.rate) - lane.inFlight);
    if (slots <= 0) lane.concurrency.isShort = true;
    const leaving = takeCalls(desk, lane, most, out);
    send(desk, lane, leaving, out);
    room -= leaving.length;
    if (lane.waiting.length > 0 && slots > leaving.length) wakeForRate(lane, now, out);
  }
}

/** Puts calls whose backoff is over, and values that others bought, back among those that may leave. */
function wakeDueCalls(desk: Desk, out: Effects): void {
  const {now, backingOff, claimed} = desk;
  let due = 0;
  while ((backingOff[due]?.at ?? Number.POSITIVE_INFINITY) <= now) due += 1;
  for (const {call} of backingOff.splice(0, due)) laneOf(desk, call).waiting.push(call);
  out.wakeAt = Math.min(out.wakeAt, backingOff[0]?.at ?? Number.POSITIVE_INFINITY);
  if (claimed.length > 0) {
    if (now >= desk.lookAt) {
      out.look.push(...claimed);
      desk.lookAt = now + LOOK_EVERY_MS;
    }
    out.wakeAt = Math.min(out.wakeAt, desk.lookAt);
  }
  const {ended} = desk.breaker;
  if (ended.length > 0) out.wakeAt = Math.min(out.wakeAt, now + desk.patienceMs);
  wakeParked(desk, out);
}

/** Takes the first calls that may leave out of the queue, at most so many; in an outage, the best probe. */
function takeCalls(desk: Desk, lane: Lane, most: number, out: Effects): readonly Call[] {
  if (desk.lacking !== undefined)
    lane.waiting = lane.waiting.filter(call => !lacksCredits(desk, call) || !endsForCredits(desk, call, out));
  if (most <= 0 || desk.refusal !== undefined) return [];
  const {breaker, options} = desk;
  const isAble = (call: Call) => !lacksCredits(desk, call);
  if (currentOutage(breaker) !== undefined) {
    const able = lane.waiting.filter(isAble);
    // The calls of an operation that was down before the outage do not tell if that is over.
    const up = able.filter(({operation}) => !isDown(canaryOf(desk, operation)));
    const probe = chooseProbe(breaker, up.length > 0 ? up : able, options.policy);
    lane.waiting = lane.waiting.filter(call => call !== probe);
    return probe === undefined ? [] : [probe];
  }
  const chosen: Call[] = [];
  const passed: Call[] = [];
  const rooms = new Map<Operation, number>();
  let looked = 0;
  for (const call of lane.waiting) {
    if (chosen.length >= most) break;
    looked += 1;
    const room = rooms.get(call.operation) ?? operationRoom(desk, call.operation);
    const isChosen =
      room > 0 &&
      isAble(call) &&
      !waitsForOthers(desk, lane, call, chosen.length) &&
      !isPassedOver(desk, lane, call);
    rooms.set(call.operation, room - Number(isChosen));
    if (!isChosen && room <= 0 && parks(desk, call.operation)) park(desk, call, out);
    else (isChosen ? chosen : passed).push(call);
  }
  lane.waiting = [...passed, ...lane.waiting.slice(looked)];
  return chosen;
}

/** Values in flight at a kill go last, after several kills in a row while nothing else is in flight: one may be the cause. */
function waitsForOthers({inFlight}: Desk, {waiting}: Lane, {entry}: Call, chosen: number): boolean {
  const {kills} = entry.history;
  if (kills === 0) return false;
  if (kills >= KILLS_BEFORE_APART && inFlight.size + chosen > 0) return true;
  return waiting.some(other => other.entry.history.kills === 0);
}

/** While the account is in doubt, values that were never sent go first: the others were refused, or cost a call. */
function isPassedOver(desk: Desk, {waiting}: Lane, {operation, entry}: Call): boolean {
  if (entry.sendOrder === 0 || !isSuspect(canaryOf(desk, operation))) return false;
  return waiting.some(other => other.operation === operation && other.entry.sendOrder === 0);
}

function send(desk: Desk, lane: Lane, calls: readonly Call[], out: Effects): void {
  const {now, inFlight, breaker} = desk;
  for (const call of calls) {
    Object.assign(call, {sentAt: now, seq: ++desk.seq, departure: takePermit(lane.rate, now)});
    inFlight.set(call.key, call);
    noteSent(breaker, call.key);
    out.send.push(call);
  }
  lane.inFlight += calls.length;
  if (calls.length > 0) lane.lastSent = now;
}

/** Says how many permits would be used, and when the next call may leave. */
function wakeForRate(lane: Lane, now: number, out: Effects): void {
  const wanted = missingPermits(lane.rate, lane.waiting.length, now);
  if (wanted > 0) out.wants.set(lane.settings.name, wanted);
  out.wakeAt = Math.min(out.wakeAt, nextPermitAt(lane.rate, now));
}

// --- Credits -----------------------------------------------------------------------------------------------------------------

function lacksCredits({lacking, now}: Desk, call: Call): boolean {
  return lacking !== undefined && now < lacking.until && call.cost >= lacking.cost;
}

/** Ends a value for which there are no credits, once no call in flight may give some back. Returns false if it waits. */
function endsForCredits(desk: Desk, call: Call, out: Effects): boolean {
  if (desk.inFlight.size > 0 && !call.renews) return false;
  if (!desk.options.publishOn.includes('budget')) stopCalls(desk, {kind: 'budget'}, out);
  else settle(desk, call, {kind: 'skipped', reason: 'budget'}, out);
  return desk.refusal === undefined;
}

/** Takes back a call that was not sent after all. */
function takeBack(desk: Desk, call: Call, why: UnsentReason, out: Effects): void {
  const lane = takeOut(desk, call);
  givePermitBack(lane.rate, call.departure);
  if (desk.breaker.outage?.probe === call.key) desk.breaker.outage.probe = undefined;
  if (why === 'bought') {
    desk.open.delete(call.key);
    return;
  }
  if (why === 'claimed') {
    if (desk.claimed.length === 0) desk.lookAt = desk.now + LOOK_EVERY_MS;
    desk.claimed.push(call);
    return;
  }
  if (why === 'credits' && call.renews && desk.options.publishOn.includes('budget')) {
    settle(desk, call, {kind: 'skipped', reason: 'budget'}, out);
    return;
  }
  lane.waiting.unshift(call);
  if (why === 'credits') desk.lacking = {cost: call.cost, until: desk.now + LACKING_MS};
}
