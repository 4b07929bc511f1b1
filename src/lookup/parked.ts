import type {Operation} from '../operations/table.ts';
import type {Call} from './call.ts';
import {giveUp} from './call-ends.ts';
import {canaryRoom, isDown} from './canary.ts';
import {canaryOf, type Desk, type Effects, laneOf, settle} from './desk-state.ts';

/*
 * Calls of an operation that is down while others are answered. The others' calls leave at their pace, and these wait
 * apart from the lane: so they hold up no reading, and cost one call each half minute.
 */

/** Lets a call wait until its operation is up. */
export function park(desk: Desk, call: Call, out: Effects): void {
  const {operation} = call;
  desk.parked.get(operation)?.push(call);
  const {since, tryAt} = canaryOf(desk, operation).failures;
  const at = Math.min(tryAt, since + desk.options.maxOutageMs);
  out.wakeAt = Math.min(out.wakeAt, Math.max(desk.now, at));
}

export function wakeParked(desk: Desk, out: Effects): void {
  for (const [operation, parked] of desk.parked)
    if (parked.length > 0) wakeOperation(desk, operation, parked, out);
}

/**
 * Puts parked calls back once their operation is up. Until then one at a time tests if it is, chosen at random: some
 * values may break the service. After the longest outage they end without a call, or the run ends once it has no others.
 */
function wakeOperation(desk: Desk, operation: Operation, parked: Call[], out: Effects): void {
  const lane = laneOf(desk, {operation});
  if (!parks(desk, operation)) {
    lane.waiting = [...parked.splice(0), ...lane.waiting];
    return;
  }
  const {since, tryAt, code: cause} = canaryOf(desk, operation).failures;
  const {maxOutageMs, publishOn, random} = desk.options;
  const isOverdue = desk.now - since >= maxOutageMs;
  const publishes = publishOn.includes('outage');
  if (isOverdue && !publishes && parked.length === desk.open.size) {
    giveUp(desk, {cause, sinceMs: since, why: 'too long'}, out);
    return;
  }
  if (desk.now < tryAt) out.wakeAt = Math.min(out.wakeAt, tryAt);
  else if (operationRoom(desk, operation) > 0 && !lane.waiting.some(call => call.operation === operation))
    lane.waiting.unshift(...parked.splice(Math.floor(random() * parked.length), 1));
  if (isOverdue && publishes)
    for (const call of parked.splice(0)) settle(desk, call, {kind: 'skipped', reason: 'outage'}, out);
}

/** True while the operation is down and others are not. In an outage, or without credits, none is treated apart. */
export function parks(desk: Desk, operation: Operation): boolean {
  const {breaker, lacking} = desk;
  return breaker.outage === undefined && lacking === undefined && isDown(canaryOf(desk, operation));
}

/** Further calls of an operation that may leave: few before its first answer, and one at a time while it is down. */
export function operationRoom(desk: Desk, operation: Operation): number {
  const canary = canaryOf(desk, operation);
  let room = parks(desk, operation) ? Number(desk.now >= canary.failures.tryAt) : canaryRoom(canary);
  if (room < Number.POSITIVE_INFINITY)
    for (const call of desk.inFlight.values()) room -= Number(call.operation === operation);
  return room;
}
