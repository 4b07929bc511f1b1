import type {Ended} from '../model/ended.ts';
import type {Moment} from '../world/process.ts';
import type {Call} from '../world/service.ts';
import {
  ageOf,
  type Check,
  DAY_MS,
  HOUR_MS,
  isTimeOf,
  rejectedAs,
  type Scene,
  STALE_MS,
  SURELY_FRESH,
  storedAs,
  UNTRIED,
} from './scene.ts';

/** So long after a job's run others leave what it may use. */
const IN_USE_MS = 35 * DAY_MS;

/** Runs that agree on a date are on different days, and no longer apart than a job may be away. */
const APART_MS = 20 * HOUR_MS;

/** The newest date, by the clocks of these runs, which a later one of another day confirmed. */
function agreedDate(noted: readonly Moment[]): number {
  const dates = noted.map(({wallMs}) => wallMs);
  const agreed = dates.filter((date, index) =>
    dates.slice(index + 1).some(later => later - date >= APART_MS && later - date <= IN_USE_MS),
  );
  return Math.max(0, ...agreed);
}

const useful: Check = {
  promise:
    'From the store goes only what is past every age that a job went by in the last 35 days, by a date that two runs agree on.',
  broken({runs, upkeep: {uses, dated: noted, removals}}: Scene) {
    if (removals.length === 0) return UNTRIED;
    const early = removals.filter(({cameAt, removed}) => {
      const before = uses.filter(({noted}) => noted.steadyMs <= removed.steadyMs);
      const ages = before
        .filter(({noted}) => noted.wallMs >= removed.wallMs - IN_USE_MS)
        .flatMap(({process}) => runs.find(run => run.process === process) ?? [])
        .map(({spec}) => ageOf(spec) + (spec.stale ? STALE_MS : 0));
      const agreed = agreedDate(noted.filter(({steadyMs}) => steadyMs <= removed.steadyMs));
      const date = Math.min(removed.wallMs, agreed);
      return ages.length === 0 || cameAt >= date - Math.max(...ages);
    });
    return early.length > 0 ? `${early.length} answers, such as one of ${early[0]?.cameAt}` : undefined;
  },
};

/** How the store knows the outcome of a call. */
function nameOf({told, operation, value, spec}: Call): string {
  return told === 'rejected' ? rejectedAs(operation, value, spec) : storedAs(operation, value, spec);
}

const dated: Check = {
  promise: 'What is in the store has the time at which it was bought, wherever it was kept in between.',
  broken({run, service, storedBefore, storedNow}: Scene) {
    const changed = [...storedNow].filter(([name, at]) => storedBefore.get(name) !== at);
    if (changed.length === 0 || run.spec.fleet) return UNTRIED;
    const calls = service.calls.filter(({told}) => told === 'answered' || told === 'rejected');
    const isBought = ([name, at]: readonly [string, number]) =>
      calls.some(call => isTimeOf(call, at) && nameOf(call) === name);
    const odd = changed.find(one => !isBought(one));
    return odd === undefined ? undefined : `${odd[0]} is of ${odd[1]}, when nothing was bought`;
  },
};

/** A call of the run for what complete runs before the wrong one had answered, and is surely fresh. */
function paidAgain({run, service}: Scene, before: readonly Ended[], until: number): Call | undefined {
  // A run's knowledge of the time in between may be a day old.
  if (run.spec.fleet || ageOf(run.spec) <= DAY_MS) return undefined;
  const fresh = run.startedAt - ageOf(run.spec) * SURELY_FRESH;
  const whole = before.filter(one => isComplete(one) && one.spec.maxAge === run.spec.maxAge);
  const known = service.calls.filter(
    ({told, operation, toldAt, process}) =>
      told === 'answered' &&
      operation !== 'verify' &&
      toldAt >= fresh &&
      toldAt <= until &&
      whole.some(one => one.process === process),
  );
  const name = ({operation, value, spec}: Call) => storedAs(operation, value, spec);
  return run.calls.find(call => known.some(one => name(one) === name(call)));
}

const outlived: Check = {
  promise:
    'One run whose clock is ahead costs the next one nothing: what was fresh before is fresh after it.',
  broken(scene: Scene) {
    const {run, runs} = scene;
    const earlier = runs.filter(one => one.nth < run.nth && one.spec.cache === run.spec.cache);
    const ahead = earlier.filter(one => one.startedAt > run.startedAt);
    const [wrong] = ahead;
    if (wrong === undefined || ahead.length > 1 || !run.storeIsSound || !run.storeIsOld) return UNTRIED;
    const before = earlier.filter(one => one.nth < wrong.nth);
    const again = paidAgain(scene, before, Number.POSITIVE_INFINITY);
    return again && `#${again.number} (${again.operation} ${again.value}) after run ${wrong.nth}`;
  },
};

/** The newest start of a complete run that one of a later day confirmed, as the store notes it. */
function confirmedStart(runs: readonly Ended[]): number {
  const [first = 0, ...later] = runs.filter(isComplete).map(({startedAt}) => startedAt);
  let [confirmed, said] = [0, first];
  for (const date of later)
    if (date - said >= APART_MS && date - said <= IN_USE_MS) [confirmed, said] = [said, date];
  return confirmed;
}

const undated: Check = {
  promise:
    'One run whose clock is behind costs the next one nothing: answers keep a date that two runs agreed on.',
  broken(scene: Scene) {
    const {run, runs} = scene;
    const earlier = runs.filter(one => one.nth < run.nth && one.spec.cache === run.spec.cache);
    const behind = earlier.filter(one =>
      earlier.some(other => other.nth < one.nth && other.startedAt - one.startedAt > HOUR_MS),
    );
    const [wrong] = behind;
    if (wrong === undefined || behind.length > 1 || !run.storeIsSound || !run.storeIsOld) return UNTRIED;
    const before = earlier.filter(one => one.nth < wrong.nth);
    // Later runs than the wrong one may leap from its date.
    if (earlier.some(one => one.nth > wrong.nth) || before.some(one => one.startedAt > run.startedAt))
      return UNTRIED;
    const again = paidAgain(scene, before, confirmedStart(before));
    return again && `#${again.number} (${again.operation} ${again.value}) after run ${wrong.nth}`;
  },
};

function isComplete({code, stop, error}: Ended): boolean {
  return code !== undefined && stop === undefined && error === undefined;
}

export const storeChecks: readonly Check[] = [useful, dated, outlived, undated];
