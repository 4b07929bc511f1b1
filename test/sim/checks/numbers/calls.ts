import {startsFresh} from '../../model/commands.ts';
import {type Call, hasOddType, hasUnknownField} from '../../world/service.ts';
import {
  type Check,
  callsInLedger,
  credits,
  grouped,
  isBooked,
  isDoubtful,
  priceOf,
  runsOfLedger,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
  UNTRIED,
} from '../scene.ts';
import {differing, outside} from './written.ts';

/** Counts of calls and what they cost, from the service's own ledger. */

/** The run's calls at its endpoint and account, in all its sessions; undefined where the books begin anew among them. */
function bookedCalls(scene: Scene): readonly Call[] | undefined {
  const {run, lostState} = scene;
  const runs = runsOfLedger(scene);
  const isKnown = run.summary !== undefined && run.ledger !== undefined && !lostState && !run.spec.fleet;
  if (!isKnown || runs.some(({spec}) => startsFresh(spec))) return undefined;
  return callsInLedger(scene).filter(call => scopeOfCall(call) === scopeOfSpec(run.spec));
}

const isSent = ({told}: Call) => told !== 'not sent';

/** True if no kill and no full disk leaves open which of the calls that were heard of are in the books. */
function isExact(scene: Scene): boolean {
  const isOpen = (call: Call) => call.mayBeRecorded && !isBooked(call, scene);
  return !runsOfLedger(scene).some(({process}) => process.killed) && !callsInLedger(scene).some(isOpen);
}

/** Bounds of how many calls there are: those that are in the books for sure, and those that were heard of. */
function countOf(calls: readonly Call[], scene: Scene): readonly [number, number] {
  const booked = calls.filter(call => isBooked(call, scene)).length;
  return [booked, isExact(scene) ? booked : calls.filter(({told}) => told !== undefined).length];
}

const ofCalls: Check = {
  promise: 'The summary counts calls by what the service said, each once, over all sessions.',
  fields: ['calls.by_status', 'calls.by_error', 'calls.unsent', 'calls.unconfirmed', 'lookups.*.calls'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    const {by_status: byStatus, by_error: byError, unsent, unconfirmed, total} = summary.calls;
    const statuses = new Set([
      ...calls.flatMap(({status}) => status ?? []).map(String),
      ...Object.keys(byStatus),
    ]);
    const codes = new Set(calls.filter(({status}) => status === undefined).map(({code}) => code));
    for (const code of [...codes, ...Object.keys(byError)]) if (code !== 'interrupted') codes.add(code);
    const bounds = {
      ...Object.fromEntries(
        [...statuses].map(status => [
          status,
          countOf(
            calls.filter(call => String(call.status) === status),
            scene,
          ),
        ]),
      ),
    };
    const ofCodes = Object.fromEntries(
      [...codes].map(code => [
        code,
        countOf(
          calls.filter(call => call.status === undefined && call.code === code),
          scene,
        ),
      ]),
    );
    const known = countOf(
      calls.filter(({told}) => told === 'not sent'),
      scene,
    );
    const wrong =
      outside(byStatus, bounds, 'calls.by_status.') ??
      outside(byError, ofCodes, 'calls.by_error.') ??
      outside({unsent}, {unsent: known}, 'calls.') ??
      outside(byError, {interrupted: [unconfirmed, unconfirmed]}, 'calls.by_error.');
    if (wrong !== undefined) return wrong;
    const all = [...Object.values(byStatus), ...Object.values(byError)].reduce(
      (sum, count) => sum + count,
      0,
    );
    if (all !== total + unsent + unconfirmed)
      return `${all} by status and error, of ${total} calls, ${unsent} unsent and ${unconfirmed} unconfirmed`;
    for (const [name, {calls: told}] of Object.entries(summary.lookups)) {
      const own = calls.filter(call => call.operation === name && isSent(call));
      const other = outside({calls: told}, {calls: countOf(own, scene)}, `lookups.${name}.`);
      if (other !== undefined) return other;
    }
    return undefined;
  },
};

const ofRetries: Check = {
  promise: "Each call beyond a value's first is a retry.",
  fields: ['calls.retries', 'lookups.*.retries'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    let sum = 0;
    for (const [name, {retries}] of Object.entries(summary.lookups)) {
      const bounds: [number, number] = [0, 0];
      for (const own of grouped(
        calls.filter(call => call.operation === name && isSent(call)),
        ({value}) => value,
      ))
        for (const [index, call] of own.entries()) {
          const before = own.slice(0, index);
          // A session's first sending is a retry if the ledger has a doubt of the value.
          const isSure = before.some(one => one.process === call.process && isBooked(one, scene));
          if (isSure && isBooked(call, scene)) bounds[0] += 1;
          if (before.length > 0 && call.told !== undefined) bounds[1] += 1;
        }
      // What a kill or a full disk kept out of the ledger may have been sent, by the ledger.
      if (runsOfLedger(scene).some(({process}) => process.killed || process.refused))
        bounds[1] += summary.calls.unconfirmed;
      const wrong = outside({retries}, {retries: bounds}, `lookups.${name}.`);
      if (wrong !== undefined) return wrong;
      sum += retries;
    }
    return differing(summary.calls, {retries: sum}, 'calls.');
  },
};

const ofLatency: Check = {
  promise: 'Latencies are those of the calls: the longest as it was, percentiles within 5%.',
  fields: ['calls.latency_ms'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    if (!isExact(scene)) return UNTRIED;
    const took = calls.filter(call => isSent(call) && isBooked(call, scene)).map(({latencyMs}) => latencyMs);
    const {max, p50, p95, p99} = summary.calls.latency_ms;
    if (took.length === 0)
      return differing({max, p50, p95, p99}, {max: null, p50: null, p95: null, p99: null});
    const longest = Math.ceil(Math.max(...took));
    if (max !== longest) return `the longest is said to have taken ${max}, and took ${longest}`;
    for (const [share, told] of [
      [0.5, p50],
      [0.95, p95],
      [0.99, p99],
    ] as const) {
      const at = Math.ceil(share * took.length) - 1;
      const nth = took.toSorted((a, b) => a - b)[at] ?? 0;
      if (Math.abs((told ?? 0) - nth) > nth * 0.06 + 1)
        return `${100 * share}% are said to have taken ${told}: ${took.join(', ')}`;
    }
    return undefined;
  },
};

const ofTypes: Check = {
  promise: 'Fields with another type than the interface has are counted, and unknown ones.',
  fields: ['calls.wrong_types', 'calls.unknown_fields'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    const answered = calls.filter(({told}) => told === 'answered');
    const sum = (counts: Readonly<Record<string, number>>) =>
      Object.values(counts).reduce((all, count) => all + count, 0);
    const {wrong_types: odd, unknown_fields: unknown} = summary.calls;
    return outside(
      {wrong_types: sum(odd), unknown_fields: sum(unknown)},
      {
        wrong_types: countOf(answered.filter(hasOddType), scene),
        unknown_fields: countOf(answered.filter(hasUnknownField), scene),
      },
      'calls.',
    );
  },
};

const ofSession: Check = {
  promise: "What a session is told to have spent, its own calls cost: no earlier session's.",
  fields: ['session.by_operation'],
  broken(scene) {
    const {run} = scene;
    const {summary, spec, ledger, calls, process} = run;
    if (summary === undefined || ledger === undefined || spec.fleet || process.killed) return UNTRIED;
    for (const [name, told] of Object.entries(summary.session.by_operation)) {
      const own = calls.filter(call => call.operation === name);
      const charged = credits(own);
      const doubtful = own.filter(isDoubtful).reduce((sum, call) => sum + priceOf(call), 0);
      const heard = own.filter(call => isSent(call) && call.told !== undefined).length;
      const wrong = outside(
        {...told, together: told.spent + told.maybe_spent},
        {
          calls: [heard, heard],
          spent: [0, charged],
          maybe_spent: [0, doubtful],
          together: [charged, Number.POSITIVE_INFINITY],
        },
        `session.by_operation.${name}.`,
      );
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  },
};

const ofPace: Check = {
  promise: 'Pace and timeline are those of the calls and rows.',
  fields: ['pace', 'timeline'],
  broken(scene) {
    const {run} = scene;
    const {summary, spec} = run;
    const calls = bookedCalls(scene);
    if (summary === undefined || calls === undefined) return UNTRIED;
    const {pace, timeline} = summary;
    const {ms, ...lists} = timeline;
    if (Object.values(lists).some(list => list.length !== ms.length)) return 'its lists differ in length';
    const sum = (list: readonly number[]) => list.reduce((all, each) => all + each, 0);
    if (sum(timeline.calls) > summary.calls.total) return `${sum(timeline.calls)} calls in the timeline`;
    if (sum(timeline.rows) > summary.rows.read) return `${sum(timeline.rows)} rows in the timeline`;
    const isRated = spec.rate !== 'unlimited' || scene.accountRate !== undefined;
    if ((pace.rate_limit === null) === (spec.rate !== 'unlimited') && (spec.rate !== 'unlimited' || !isRated))
      return `its rate is ${pace.rate_limit}, of ${spec.rate}`;
    const troubled = run.calls.some(({told}) => told !== 'answered' && told !== 'rejected');
    if (pace.pauses > 0 && !troubled) return `it paused ${pace.pauses} times, and nothing was wrong`;
    const asked = Math.max(0, ...run.calls.map(({order}) => order));
    const isFollowed = ({told, toldOrder}: Call) => told === 'throttled' && toldOrder < asked;
    if (pace.pauses === 0 && run.stop === undefined && run.calls.some(isFollowed)) return 'it did not pause';
    const first = Math.min(...calls.map(({number}) => number));
    const isAll = runsOfLedger(scene).length === 1 && Number.isFinite(first);
    const achieved = summary.duration_ms > 0 ? (1_000 * summary.calls.total) / summary.duration_ms : 0;
    return isAll && Math.abs(pace.achieved - achieved) > 1e-5
      ? `it made ${pace.achieved} calls a second, ${achieved} in truth`
      : undefined;
  },
};

export const callsChecks: readonly Check[] = [ofCalls, ofRetries, ofLatency, ofTypes, ofSession, ofPace];
