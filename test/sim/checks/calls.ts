import {isStream, MIDNIGHT} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {endpointOf, isKeyOf, outputPath} from '../model/places.ts';
import {type Call, REJECTED} from '../world/service.ts';
import {
  ageOf,
  type Check,
  callsInLedger,
  DAY_MS,
  grouped,
  isBegunAnew,
  isRefusal,
  mayLeaveToStartOver,
  rejectedAs,
  runsOfLedger,
  type Scene,
  SURELY_FRESH,
  scopeOfCall,
  scopeOfSpec,
  storedAs,
  TURN_MS,
  UNTRIED,
} from './scene.ts';

const named: Check = {
  promise: "Every call goes to the run's endpoint, with its account's key.",
  broken({run}) {
    if (run.calls.length === 0) return UNTRIED;
    const stray = run.calls.find(
      ({endpoint, key, spec}) => endpoint !== endpointOf(spec) || !isKeyOf(key, spec),
    );
    return stray === undefined
      ? undefined
      : `${showCall(stray)} went to ${stray.endpoint}, with ${stray.key}`;
  },
};

const within: Check = {
  promise: 'No more calls are in flight than --concurrency says, all operations together.',
  broken({run}) {
    const {concurrency} = run.spec;
    if (run.calls.length <= concurrency) return UNTRIED;
    const most = Math.max(
      0,
      ...run.calls.map(call => run.calls.filter(other => overlaps(other, call)).length),
    );
    return most > concurrency ? `${most} were in flight` : undefined;
  },
};

/** True if `other` was in flight when `call` was sent. */
function overlaps(other: Call, call: Call): boolean {
  if (other.number > call.number) return false;
  return (
    other === call || other.toldMs === undefined || other.toldMs > call.sentMs || other.toldOrder > call.order
  );
}

/** As exact as a run's clock, milliseconds since the epoch in a double, can be. */
const SECOND_MS = 1_000 - 0.001;

const paced: Check = {
  promise: 'In no second are more calls sent than the rate allows.',
  broken({run}) {
    const {rate} = run.spec;
    if (rate === 'unlimited') return UNTRIED;
    const groups = rate === '5/s' ? [run.calls] : grouped(run.calls, ({operation}) => operation);
    const most = rate === '5/s' ? 5 : 10;
    for (const calls of groups)
      for (const {sentMs} of calls) {
        const sent = calls.filter(
          other => other.sentMs <= sentMs && other.sentMs > sentMs - SECOND_MS,
        ).length;
        if (sent > most) return `${sent} in the second until ${sentMs}`;
      }
    return undefined;
  },
};

const pacedByAccount: Check = {
  promise: "In no second are more calls of one run sent than its account's rate allows.",
  broken({run, accountRate}) {
    const isOfAccount = run.spec.endpoint === 0 && run.spec.account === 0;
    if (accountRate === undefined || !isOfAccount || run.healed) return UNTRIED;
    for (const {sentMs} of run.calls) {
      const sent = run.calls.filter(other => other.sentMs <= sentMs && other.sentMs > sentMs - SECOND_MS);
      if (sent.length > accountRate) return `${sent.length} in the second until ${sentMs}`;
    }
    return undefined;
  },
};

/** Maximum time of one turn of the event loop, and delay of a timer. */
const LATE_MS = 200;

const punctual: Check = {
  promise: 'After the time that --until says nothing is sent.',
  broken({run}) {
    const {until} = run.spec;
    if (until === undefined) return UNTRIED;
    const midnight = (Math.floor(run.startedAt / DAY_MS) + 1) * DAY_MS;
    const ends = until === MIDNIGHT ? midnight : run.startedAt + Number.parseInt(until, 10) * 1_000;
    const late = run.calls.filter(({sentAt}) => sentAt > ends + LATE_MS);
    return late.length > 0 ? `${late.length} calls, such as ${showCall(late[0] as Call)}` : undefined;
  },
};

/** The calls for one value in one ledger and scope, in order. */
function histories(scene: Scene): Call[][] {
  const ours = callsInLedger(scene);
  return grouped(ours, call => `${scopeOfCall(call)} ${call.operation} ${call.value}`);
}

const showCall = ({number, operation, value, told}: Call) =>
  `#${number} (${operation} ${value}, ${told ?? 'no answer'})`;

const once: Check = {
  promise:
    'A value is carried out once in a run, but for what was in flight at an end, or may be sent again.',
  broken(scene) {
    let again = 0;
    for (const calls of histories(scene))
      for (const [index, call] of calls.entries()) {
        if (call.process !== scene.run.process) continue;
        again += index;
        const settled = calls.slice(0, index).findLastIndex(before => hasAnswer(before, scene));
        for (const [nth, before] of calls.slice(0, index).entries()) {
          // An answer stands for all that was in doubt before it, and says itself whether it is good still.
          if (nth < settled && isInDoubt(before)) continue;
          const why = objection(before, call, scene);
          if (why !== undefined) return `${showCall(call)} after ${showCall(before)}: ${why}`;
        }
      }
    return again === 0 ? UNTRIED : undefined;
  },
};

function objection(before: Call, call: Call, scene: Scene): string | undefined {
  switch (before.told) {
    case 'throttled':
    case 'not sent':
    case 'fatal':
      return undefined;
    case 'ambiguous':
      return call.spec.resends === 0 ? 'it is never to be sent again' : undefined;
    case undefined:
      return doubtIsKnown(before, call) ? 'it is never to be sent again' : undefined;
    default:
      break;
  }
  // A sent value is written together with the answers before it.
  if (!before.recorded && isFollowed(before, scene))
    return 'its answer came before another call was sent, and is in no ledger';
  // One that came in the moment of a commit may be in it or not.
  if (!before.recorded)
    return !before.mayBeRecorded && doubtIsKnown(before, call) ? 'it is never to be sent again' : undefined;
  const isAnother = isStartedOver(before, call, scene) || runsBetween(before, call, scene).some(isBegunAnew);
  if (!isAnother) return 'the run had its outcome';
  if (before.told !== 'answered') return undefined;
  if (before.operation === 'verify') return 'a verdict is not asked for twice';
  // A resumed run judges by its start, whatever the clock says since.
  const since = Math.max(call.sentAt, ...runsBetween(before, call, scene).map(({startedAt}) => startedAt));
  const fresh = ageOf(call.spec) * SURELY_FRESH;
  return before.toldAt >= since - fresh ? 'the attempt before had its answer' : undefined;
}

function isFollowed({process, toldMs = Number.POSITIVE_INFINITY}: Call, {service}: Scene): boolean {
  return service.calls.some(other => other.process === process && other.sentMs > toldMs);
}

function isInDoubt({told, recorded}: Call): boolean {
  return told === 'ambiguous' || told === undefined || !recorded;
}

/** True if the ledger has an answer, or a rejection that is kept as one. */
function hasAnswer({told, code, recorded, operation, toldOrder, ...call}: Call, {service}: Scene): boolean {
  if (!recorded || told !== 'rejected') return recorded && told === 'answered';
  if (operation === 'verify' || code !== REJECTED) return false;
  const scope = scopeOfSpec(call.spec);
  return service.calls.some(
    other =>
      other.told === 'answered' &&
      other.toldOrder < toldOrder &&
      other.operation === operation &&
      scopeOfCall(other) === scope,
  );
}

/** With --resends 0, what may have been carried out is not sent again; what surely was not, is no matter. */
function doubtIsKnown(before: Call, call: Call): boolean {
  return call.spec.resends === 0 && before.carriedOut;
}

/** True if the run may have restarted between these calls, or by the later one's command. */
function isStartedOver(before: Call, call: Call, scene: Scene): boolean {
  return (
    runsBetween(before, call, scene).some(({spec}) => spec.restart || spec.fromFile) ||
    runsUntil(before, call, scene).some(one => mayLeaveToStartOver(one, scene))
  );
}

/** The runs from the one of a call to the last before another's: one that is refused leaves the next to start over. */
function runsUntil(before: Call, call: Call, {runs}: Scene): readonly Ended[] {
  const placeOf = (of: Call) => runs.findIndex(({process}) => process === of.process);
  return runs.slice(placeOf(before), Math.max(0, placeOf(call)));
}

function runsBetween(before: Call, call: Call, {runs}: Scene): readonly Ended[] {
  const first = runs.findIndex(({process}) => process === before.process);
  const last = runs.findIndex(({process}) => process === call.process);
  return runs.slice(first + 1, last + 1);
}

const resent: Check = {
  promise:
    'A value is sent again no more often than --resends says, outages, kills, resumes and runs begun anew included.',
  broken(scene) {
    let again = 0;
    for (const calls of histories(scene))
      for (const [index, call] of calls.entries()) {
        if (call.process !== scene.run.process) continue;
        const earlier = calls.slice(0, index);
        // A run that begins anew asks again for a value whose answer is too old.
        const doubtful = earlier
          .slice(1 + earlier.findLastIndex(before => hasAnswer(before, scene)))
          .filter(before => mayBeCharged(before) && !isStartedOver(before, call, scene));
        again += doubtful.length;
        if (doubtful.length > call.spec.resends)
          return `${showCall(call)} after ${doubtful.map(showCall).join(', ')}`;
      }
    return again === 0 ? UNTRIED : undefined;
  },
};

/** True if the run may have paid for a call that it has no answer of. */
function mayBeCharged({told, recorded, charged}: Call): boolean {
  return told === 'ambiguous' || told === undefined || (charged && !recorded);
}

/** How long a rejection is good for at most. */
const REJECTED_MS = 7 * DAY_MS;

const known: Check = {
  promise:
    'What the store has a fresh answer of is not asked for, unless the summary says that the store could not be read.',
  broken(scene) {
    const {run, storedBefore} = scene;
    if (run.spec.cache === 'none' || storedBefore.size === 0) return UNTRIED;
    // A resumed run judges by its start, though the clock was set back since.
    const begunAt = Date.parse(run.summary?.started_at ?? '') || 0;
    const isFresh = (at: number | undefined, sentAt: number, age: number) =>
      at !== undefined && at <= sentAt && at >= Math.max(sentAt, begunAt) - age * SURELY_FRESH;
    const again = run.calls.filter(({operation, value, sentAt}) => {
      if (operation === 'verify') return false;
      const age = ageOf(run.spec);
      const at = storedBefore.get(storedAs(operation, value, run.spec));
      const rejectedAt = storedBefore.get(rejectedAs(operation, value, run.spec));
      const isOutdated = (rejectedAt ?? 0) < (at ?? 0);
      return (
        isFresh(at, sentAt, age) || (!isOutdated && isFresh(rejectedAt, sentAt, Math.min(age, REJECTED_MS)))
      );
    });
    const values = new Set(again.map(({operation, value}) => `${operation} ${value}`)).size;
    if (values === 0) return run.calls.length === 0 && run.ledger === undefined ? UNTRIED : undefined;
    if (run.process.killed && !run.storeIsSound) return UNTRIED;
    const unread = run.summary?.store?.not_looked_up ?? 0;
    if (run.storeIsSound || unread < values)
      return `${showCall(again[0] as Call)} and ${values - 1} more, ${unread} are said to be`;
    return /could not be looked up in it|answer store/.test(run.message + run.warnings.join(' '))
      ? undefined
      : 'nobody was told';
  },
};

const kept: Check = {
  promise: 'What a complete run was answered is in the store, or the summary says how many are not.',
  fields: ['store.not_stored'],
  broken({run, storedNow}) {
    const {spec, summary, process, code, stop, storeIsSound} = run;
    const isComplete = code !== undefined && stop === undefined && run.error === undefined;
    if (spec.cache === 'none' || !isComplete || process.killed || !summary?.store) return UNTRIED;
    const answered = run.calls.filter(({operation, told}) => told === 'answered' && operation !== 'verify');
    if (answered.length === 0) return UNTRIED;
    const missing = answered.filter(({operation, value, toldAt}) => {
      const at = storedNow.get(storedAs(operation, value, spec));
      return at === undefined || at < toldAt - TURN_MS;
    });
    const said = storeIsSound ? 0 : summary.store.not_stored;
    return missing.length > said
      ? `${missing.length} are not, ${said} are said to be, such as ${showCall(missing[0] as Call)}`
      : undefined;
  },
};

const HOUR_MS = 3_600_000;

const keptOfAll: Check = {
  promise:
    'So is what the sessions before it were answered, at any endpoint and account, whatever kept them from storing it.',
  broken(scene) {
    const {run, storedNow} = scene;
    const {spec, summary, process, code, stop} = run;
    const isComplete = code !== undefined && stop === undefined && run.error === undefined;
    if (spec.cache === 'none' || !isComplete || process.killed || !summary?.store) return UNTRIED;
    const sessions = runsOfLedger(scene);
    const haveOneStore = sessions.every(one => one.spec.cache === spec.cache && one.storeIsOld);
    if (!haveOneStore || summary.store.not_stored > 0) return UNTRIED;
    const missing = callsInLedger(scene).filter(
      call =>
        call.told === 'answered' &&
        call.recorded &&
        call.operation !== 'verify' &&
        Math.abs(call.toldAt - run.startedAt) < HOUR_MS / 2 &&
        !storedNow.has(storedAs(call.operation, call.value, call.spec)),
    );
    return missing.length > 0
      ? `${missing.length} are not, such as ${showCall(missing[0] as Call)}`
      : undefined;
  },
};

/** So many in a row are not known to be rejected. */
const STREAK = 10;

const unblamed: Check = {
  promise:
    'What is rejected ten times in a row, or in a run that got no answer, is kept for no other run: it may be the account.',
  broken(scene) {
    const {run, storedNow, storedBefore} = scene;
    // Another run beside it may know better.
    if (!run.isAlone) return UNTRIED;
    const isKept = ({operation, value, toldAt}: Call) =>
      Math.abs((storedNow.get(rejectedAs(operation, value, run.spec)) ?? 0) - toldAt) < HOUR_MS / 2;
    const isNews = ({operation, value}: Call) => !storedBefore.has(rejectedAs(operation, value, run.spec));
    for (const calls of grouped(run.calls, ({operation}) => operation)) {
      const [{operation} = {operation: 'ip'}] = calls;
      const isAnswered = callsInLedger(scene).some(
        call => call.operation === operation && call.told === 'answered',
      );
      for (const streak of streaksOf(calls.filter(isNews))) {
        if (isAnswered && streak.length < STREAK) continue;
        const kept = streak.find(call => call.told === 'rejected' && isKept(call));
        if (kept !== undefined) return `${showCall(kept)} is, one of ${streak.length}`;
      }
    }
    return undefined;
  },
};

const streakTold: Check = {
  promise: 'A run in which ten values in a row were refused, over all its sessions, does not end with 0.',
  broken(scene) {
    const {run, storedBefore} = scene;
    const sessions = runsOfLedger(scene).slice(-1 - (run.summary?.resumed.times ?? 0));
    // An earlier attempt's rejection is not news either, and workers hear in another order.
    if (
      run.code !== 0 ||
      run.end === 'complete' ||
      run.spec.fleet ||
      sessions.length < runsOfLedger(scene).length
    )
      return UNTRIED;
    const news = callsInLedger(scene).filter(
      ({operation, value, recorded}) => recorded && !storedBefore.has(rejectedAs(operation, value, run.spec)),
    );
    for (const calls of grouped(news, ({operation}) => operation))
      for (const streak of streaksOf(calls)) {
        const values = new Set(streak.map(({value}) => value)).size;
        if (values >= STREAK) return `${values} values, from ${showCall(streak[0] as Call)} on`;
      }
    return undefined;
  },
};

/** Refusals with nothing answered in between, in the order in which they were heard of. */
function streaksOf(calls: readonly Call[]): Call[][] {
  const streaks: Call[][] = [[]];
  for (const call of calls.toSorted((a, b) => a.toldOrder - b.toldOrder))
    if (call.told === 'answered') streaks.push([]);
    else if (isRefusal(call)) streaks.at(-1)?.push(call);
  return streaks;
}

const streakCounted: Check = {
  promise: 'The longest streak of ten values or more that were refused in a row is told, and no shorter one.',
  fields: ['lookups.*.refused_in_a_row'],
  broken(scene) {
    const {run, storedBefore} = scene;
    if (run.summary === undefined || run.ledger === undefined || runsOfLedger(scene).length > 1)
      return UNTRIED;
    // Where the store could not be read, what it has is news.
    if ((run.summary.store?.not_looked_up ?? 0) > 0) return UNTRIED;
    for (const [name, {refused_in_a_row: told}] of Object.entries(run.summary.lookups)) {
      const news = run.calls.filter(
        ({operation, value}) =>
          operation === name && !storedBefore.has(rejectedAs(operation, value, run.spec)),
      );
      const lengths = streaksOf(news).map(streak => new Set(streak.map(({value}) => value)).size);
      const longest = Math.max(...lengths);
      const expected = longest < STREAK ? 0 : longest;
      if (told !== expected) return `${told} of ${name}, and ${expected} in truth`;
    }
    return undefined;
  },
};

const quiet: Check = {
  promise: 'With --offline nobody is asked.',
  broken({run}) {
    if (run.spec.offline !== true || run.spec.cache === 'none') return UNTRIED;
    return run.calls.length > 0 ? `${run.calls.length} calls` : undefined;
  },
};

const apart: Check = {
  promise: 'Two runs do not write one output at the same time: one is refused before it sends anything.',
  broken({run, runs}) {
    const beside = runs.find(
      one => one !== run && one.before === run.before && outputPath(one.spec) === outputPath(run.spec),
    );
    const [first, last] = [run.calls[0], run.calls.at(-1)];
    const [others, othersLast] = [beside?.calls[0], beside?.calls.at(-1)];
    if (beside === undefined || isStream(run.spec)) return UNTRIED;
    if (!first || !last || !others || !othersLast) return undefined;
    return first.order < othersLast.order && others.order < last.order
      ? `#${first.number} to #${last.number}, and #${others.number} to #${othersLast.number} of run ${beside?.nth}`
      : undefined;
  },
};

/** Of a fleet's calls only the workers know how they went, and the books what the run was told. */
const ofOneProcess = (check: Check): Check => ({
  ...check,
  broken: scene => (scene.run.spec.fleet ? UNTRIED : check.broken(scene)),
});

/** Also of a fleet where nothing was cut off, so that no chunk is left over: its workers ask for this very run. */
const alsoOfCalmFleets = (check: Check): Check => ({
  ...check,
  broken: scene => (!scene.run.spec.fleet || isCalm(scene) ? check.broken(scene) : UNTRIED),
});

function isCalm({runs}: Scene): boolean {
  return runs.every(
    ({process, stop, error, isAlone}) =>
      !process.killed && !process.leftOut && stop === undefined && error === undefined && isAlone,
  );
}

const united: Check = {
  promise: 'As long as a fleet has a run, one of another endpoint or account is refused and sends nothing.',
  broken({run, runs, service}) {
    const first = runs.find(
      one => one !== run && one.before === run.before && scopeOfSpec(one.spec) !== scopeOfSpec(run.spec),
    );
    const isLater = first !== undefined && first.startedAt < run.startedAt && run.startedAt < first.endedAt;
    // A claim lasts a while after a kill.
    if (!run.spec.fleet || !isLater || first.process.killed || run.process.killed) return UNTRIED;
    const own = service.calls.filter(call => scopeOfCall(call) === scopeOfSpec(run.spec));
    if (own.length > 0) return `${own.length} calls`;
    return run.error?.code === 'fleet_refused' ? undefined : `it was not: ${run.message}`;
  },
};

/** Members say this often that they are there. */
const BEAT_MS = 2_000;

const claimed: Check = {
  promise: "A fleet's claims are renewed long before they end: no other run gets in between.",
  broken({run, hadTrouble}) {
    if (!run.spec.fleet || run.healed || hadTrouble || run.calls.length === 0) return UNTRIED;
    const late = run.calls.find(({claimedMs}) => claimedMs < 2 * BEAT_MS);
    return late && `${showCall(late)} was made with ${late.claimedMs} ms of them left`;
  },
};

/** False also for a call that was told of in the moment of a commit: its answer may be in it or not. */
function surelyCarriedOut({carriedOut, recorded, mayBeRecorded}: Call): boolean {
  return carriedOut && (recorded || !mayBeRecorded);
}

const neverTwice: Check = {
  promise: 'With --resends 0 no worker sends again what may have been carried out.',
  broken(scene) {
    const sessions = runsOfLedger(scene);
    if (sessions.some(run => run.spec.resends > 0 || run.spec.restart || run.spec.fromFile)) return UNTRIED;
    let doubts = 0;
    for (const calls of histories(scene)) {
      const carried = calls.findIndex(call => surelyCarriedOut(call) && !hasAnswer(call, scene));
      if (carried >= 0) doubts += 1;
      const again = carried < 0 ? undefined : calls[carried + 1];
      if (again !== undefined && scene.run.calls.includes(again))
        return `${showCall(again)} after ${showCall(calls[carried] as Call)}`;
    }
    return doubts === 0 ? UNTRIED : undefined;
  },
};

export const callChecks: readonly Check[] = [
  named,
  united,
  claimed,
  neverTwice,
  ...[known, kept, quiet].map(alsoOfCalmFleets),
  ...[within, paced, pacedByAccount, punctual, once, resent, keptOfAll].map(ofOneProcess),
  ...[unblamed, streakTold, streakCounted, apart].map(ofOneProcess),
];
