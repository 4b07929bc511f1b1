import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {compile} from '../../sim/compile.mjs';

/** Faults planted in the desk, one at a time: its nights or its services must break a promise. */
const faults: readonly (readonly [name: string, file: string, from: string, to: string])[] = [
  ['a told value stays open', 'desk-state.ts', '  desk.open.delete(call.key);\n  out.tell', '  out.tell'],
  ['a lane forgets which calls have ended', 'desk-state.ts', 'lane.inFlight -= 1', 'lane.inFlight -= 0'],
  [
    'calls leave while the service asked to wait',
    'rate-limit.ts',
    'if (now < rate.closedUntil) {',
    'if (now < rate.closedUntil - 200) {',
  ],
  ['a window is shorter than a second', 'rate-limit.ts', 'JITTER_MS = 15', 'JITTER_MS = -100'],
  [
    'an outage has many probes',
    'circuit-breaker.ts',
    'outage.probe !== undefined || now < outage.nextProbe ? 0 : 1',
    '5',
  ],
  ['a refused share lowers no rate', 'rate-limit.ts', 'if (isOver) lowerLimit', 'if (false) lowerLimit'],
  [
    'a limit is lost at once',
    'learned-limit.ts',
    'learned.climbAtMs = learned.clockMs + learned.climbAfterMs',
    'learned.climbAtMs = 0',
  ],
  [
    'a limit never climbs',
    'learned-limit.ts',
    'if (limit >= ceiling || clockMs < learned.climbAtMs) return;',
    'return;',
  ],
  ['each 503 holds all', 'rate-limit.ts', 'attempt.status !== 503 || isOver || rate.throttled > 1', 'true'],
  ['a call without credits is lost', 'desk.ts', '  lane.waiting.unshift(call);\n  if (why', '  if (why'],
  ['held values are never told', 'desk.ts', '  settleHeld(desk, out);\n', ''],
  [
    'no timer is set for the end of a backoff',
    'desk.ts',
    '  out.wakeAt = Math.min(out.wakeAt, backingOff[0]?.at ?? Number.POSITIVE_INFINITY);\n',
    '',
  ],
  [
    'the end of calls ends none',
    'desk.ts',
    '  if (desk.refusal !== undefined) refuseWaiting(desk, out);\n',
    '',
  ],
  ['concurrency does not grow', 'concurrency.ts', 'most: 256', 'most: 16'],
  [
    'a failed call is not booked',
    'call-ends.ts',
    '  out.book.push',
    "  if (attempt.kind !== 'ambiguous') out.book.push",
  ],
  [
    'a value has one send more',
    'retry-policy.ts',
    'Math.max(0, mostSends(settings) - doubts)',
    'Math.max(0, mostSends(settings) + 1 - doubts)',
  ],
];

test.each(faults)('%s: falls', async (name, file, from, to) => {
  const fault = {file: `lookup/${file}`, from, to};
  const {file: compiled} = await compile(name.replaceAll(' ', '-'), 'test/lookup/desk/promises.ts', fault);
  const {brokenPromises} = (await import(pathToFileURL(compiled).href)) as typeof import('./promises.ts');
  expect(brokenPromises()).not.toEqual([]);
});
