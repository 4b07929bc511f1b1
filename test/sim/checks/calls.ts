import {asksOf} from '../model/fleet.ts';
import {ENDPOINT, keyOf, type Operation} from '../model/places.ts';
import type {Ended} from '../model/simulation.ts';
import type {Call} from '../world/service.ts';
import {
  ageOf,
  type Check,
  earlier,
  isKnown,
  type Scene,
  SURELY_FRESH,
  show,
  UNTRIED,
  WEEK_MS,
} from './scene.ts';

/** Promises about calls: which are sent, how often and when. */

const named: Check = {
  promise: "Every call goes to the endpoint, with the account's key, and says what the interface has.",
  broken({run, simulation}) {
    if (run.calls.length === 0) return UNTRIED;
    const [violation] = simulation.service.core.ledger.violations;
    if (violation !== undefined) return violation;
    const stray = run.calls.find(({url, key}) => url.origin !== ENDPOINT || key !== keyOf(run.spec));
    return stray && `${show(stray)} went to ${stray.url}, with ${stray.key}`;
  },
};

/** A time within which a verdict that was bought is never asked for again. */
const VERDICT_MS = 24 * 24 * 3_600_000;

const paidOnce: Check = {
  promise: 'What was answered is not asked for again while it is fresh, after whatever kill, stop or resume.',
  broken(scene) {
    let again = 0;
    for (const call of scene.run.calls.filter(({chunk}) => chunk?.isLost !== true))
      for (const before of earlier(call, scene.calls)) {
        if (isSettled(before) && before.process === call.process)
          return `${show(call)} after ${show(before)}: it was ${before.told}`;
        if (before.told !== 'answered') continue;
        again += 1;
        const why = isFresh(before, scene) && reasonToKnow(before, call, scene);
        if (why) return `${show(call)} after ${show(before)}: ${why}`;
      }
    return again === 0 && scene.run.calls.length > 0 ? UNTRIED : undefined;
  },
};

/** A session judges by its start. */
function isFresh({operation, toldAt, process, ledger}: Call, {run, sessions}: Scene): boolean {
  const {startedAt, spec} = run;
  // By a clock that was set back, it is from the future: that is fresh within a week of the run's own first start alone.
  const first = sessions.find(session => session.ledger === ledger && ledger !== undefined);
  const isHeld = ledger === run.ledger && first !== undefined && startedAt - first.startedAt <= WEEK_MS;
  if (toldAt > startedAt && process !== run.process && !isHeld) return false;
  return toldAt >= startedAt - (operation === 'verify' ? VERDICT_MS : ageOf(spec) * SURELY_FRESH);
}

/** So long Redis keeps a chunk at least. */
const CHUNK_MS = 23 * 3_600_000;

/** Why the answer to `before` is known to the session of `call`; undefined if it need not be. */
function reasonToKnow(before: Call, call: Call, scene: Scene): string | undefined {
  const {run, calls} = scene;
  if (before.process === call.process) return 'the session had it';
  // What no session collects is gone from Redis after a day.
  const isGone = before.chunk !== undefined && run.startedAt - before.toldAt > CHUNK_MS;
  if (before.ledger !== undefined && before.ledger === call.ledger && isKnown(before, calls) && !isGone)
    return 'the run had it';
  return isInStore(before, scene) ? `the answer store had it when session ${run.nth} began` : undefined;
}

/** Answers are written to the store this often, whatever ends their session. */
const STORED_WITHIN_MS = 1_000;

/** True if the store surely has this answer, and the run may use it. */
function isInStore(call: Call, {run, calls, sessions}: Scene): boolean {
  const {process, operation, spec, toldMs, toldAt, chunk} = call;
  const maker = sessions.find(one => one.process === process);
  if (maker === undefined || operation === 'verify' || !spec.store || !run.spec.store) return false;
  if (maker.endedMs >= run.startedMs || process.refused !== false || run.process.refused !== false)
    return false;
  // A run removes what is older than the ages in use, and this one's may be longer.
  const isPruned = sessions.some(
    one => one.nth < run.nth && one.spec.store && one.startedAt - toldAt > ageOf(one.spec) * SURELY_FRESH,
  );
  // The store keeps what was bought last, also by a clock that was set back.
  const isReplaced = calls.some(
    later => later.toldMs < run.startedMs && later.toldAt < toldAt && earlier(later, [call]).length > 0,
  );
  if (isReplaced) return false;
  // Others may have ended before the news of a chunk came to them.
  if (chunk !== undefined) return !isPruned && maker.end === 'wrote' && toldMs < maker.endedMs;
  return !isPruned && (!process.killed || toldMs < maker.endedMs - STORED_WITHIN_MS);
}

const sharedOnce: Check = {
  promise:
    'Two runs at once over one store buy a value once; of one that is killed, what it had in flight is bought again.',
  broken({run, calls, sessions}) {
    const beside = sessions.filter(
      other => other !== run && other.endedMs > run.startedMs && other.startedMs < run.endedMs,
    );
    const bought = beside.flatMap(other =>
      other.calls.filter(call => isShareable(call) && call.told === 'answered'),
    );
    if (bought.length === 0 || !run.spec.store) return UNTRIED;
    for (const call of run.calls.filter(isShareable))
      for (const before of earlier(call, bought)) {
        const {process, toldMs, sentAt} = before;
        // A clock that is set back ends the claims of before.
        if (toldMs < run.startedMs || sentAt > call.sentAt) continue;
        const other = beside.find(session => session.process === process);
        const isAlive = !process.killed || (other?.endedMs ?? 0) > call.sentMs;
        const wasTold = before.heardOrder < call.sentOrder;
        if (isAlive || (wasTold && isKnown(before, calls))) return `${show(call)} after ${show(before)}`;
      }
    return undefined;
  },
};

/** True if runs beside this call's see its value claimed, and its answer stored. */
function isShareable({operation, spec, process, chunk}: Call): boolean {
  return spec.store && operation !== 'verify' && process.refused === false && chunk === undefined;
}

/** True if the call brought no answer, but settled its value: no other call of the session can bring one. */
function isSettled({told}: Call): boolean {
  return told === 'rejected' || told === 'unreadable';
}

/** True if the call may have been paid for, and the run surely has no answer: a kill may come before it is booked. */
function isInDoubt({told}: Call): boolean {
  return told === 'ambiguous' || told === 'unreadable' || told === undefined;
}

const resent: Check = {
  promise:
    'What may have been paid for is sent again no more often than resends says, over all resumes; a kill counts without resends.',
  broken({run, calls, sessions}) {
    let again = 0;
    for (const call of run.calls) {
      const own = earlier(call, calls).filter(({ledger, process}) =>
        ledger === undefined ? process === call.process : ledger === call.ledger,
      );
      const answered = own.findLastIndex(before => before.told === 'answered' && isKnown(before, calls));
      const isCounted = (before: Call) =>
        isInDoubt(before) && (call.spec.resends === 0 || isKnown(before, calls));
      const doubts = own.slice(answered + 1).filter(isCounted);
      again += doubts.length;
      if (doubts.length > call.spec.resends && !wasRefused(doubts[0], run, sessions))
        return `${show(call)} after ${doubts.map(show).join(', ')}`;
    }
    return again === 0 ? UNTRIED : undefined;
  },
};

/** So many rejections in a row end a run. */
const STREAK = 10;

/** True if a session since may have stopped since the service refused everything: what it asked is asked again. */
function wasRefused(first: Call | undefined, run: Ended, sessions: readonly Ended[]): boolean {
  const from = sessions.findIndex(({process}) => process === first?.process);
  return sessions.slice(Math.max(0, from)).some(({nth, process, said, calls}) => {
    if (nth >= run.nth) return false;
    if (!process.killed) return ['refused', 'credentials'].includes(said?.reason ?? '');
    // It may be killed between its stop and its last word.
    const answered = new Set(calls.map(({told, operation}) => told === 'answered' && operation));
    // Those in flight at its stop may be answered.
    const isStreak = calls.filter(({told}) => told === 'rejected').length >= STREAK;
    return calls.length === 0 || isStreak || calls.some(({operation}) => !answered.has(operation));
  });
}

const within: Check = {
  promise: 'No more calls are in flight than concurrency says, all operations together.',
  broken({run}) {
    const {concurrency} = run.spec;
    if (run.calls.length <= concurrency) return UNTRIED;
    const crowded = run.calls.find(call => {
      if (call.chunk?.isLost === true) return false;
      const inFlight = (other: Call) =>
        other.sentOrder <= call.sentOrder && (other.heardOrder > call.sentOrder || other.told === undefined);
      return run.calls.filter(inFlight).length > concurrency;
    });
    return crowded && `more than ${concurrency} were in flight when ${show(crowded)} was sent`;
  },
};

/** As exact as a clock of milliseconds since the epoch in a double can be. */
const SECOND_MS = 1_000 - 0.001;

const paced: Check = {
  promise: 'In no second are more calls sent than the rate allows.',
  broken({run, calls}) {
    const {rate, fleet} = run.spec;
    if (rate === 'unlimited' || run.calls.length === 0) return UNTRIED;
    const most = rate === '5/s' ? 5 : 10;
    const isSame = (a: Operation, b: Operation) => rate === '5/s' || a === b;
    for (const {sentMs, operation} of run.calls) {
      // A fleet has one rate for all of its runs.
      const all = fleet
        ? calls.filter(({spec, chunk}) => chunk !== undefined && spec.rate === rate)
        : run.calls;
      const sent = all.filter(
        other =>
          isSame(other.operation, operation) && other.sentMs <= sentMs && other.sentMs > sentMs - SECOND_MS,
      ).length;
      if (sent > most) return `${sent} in the second until ${sentMs}`;
    }
    return undefined;
  },
};

/** Longest turn of the event loop and delay of a timer. */
const LATE_MS = 200;

const punctual: Check = {
  promise: 'After the time that until says, nothing is sent.',
  broken({run}) {
    const {until} = run.spec;
    if (until === undefined) return UNTRIED;
    const ends = run.startedMs + Number.parseInt(until, 10) * 1_000;
    // A worker finishes the chunks that it has.
    const late = run.calls.find(({sentMs, chunk}) => (chunk?.takenMs ?? sentMs) > ends + LATE_MS);
    return late && show(late);
  },
};

const bounded: Check = {
  promise: 'A lost worker costs at most twice the values of its concurrency, or two chunks.',
  broken({simulation: {fleet}}) {
    if (fleet === undefined || fleet.lost.size === 0) return UNTRIED;
    for (const [worker, concurrency] of fleet.workers) {
      // One that was cut off may have been lost a second time.
      if (!worker.alive && fleet.redis.cutUntilMs.has(worker)) continue;
      const sizes = [...fleet.lost].filter(({holder}) => holder === worker).map(job => asksOf(job).length);
      const sum = sizes.reduce((a, b) => a + b, 0);
      if (sum > 2 * Math.max(concurrency, ...sizes)) return `${worker.name} (${concurrency}) had ${sizes}`;
    }
    return undefined;
  },
};

export const callChecks = [named, paidOnce, sharedOnce, resent, within, paced, punctual, bounded];
