import {ageOf, type Check, DAY_MS, isTimeOf, type Scene, STALE_MS, storedAs} from './scene.ts';

/** So long after a job's run others leave what it may use. */
const IN_USE_MS = 35 * DAY_MS;

const useful: Check = {
  promise: 'From the store goes only what is past every age that a job went by in the last 35 days.',
  broken({runs, upkeep: {uses, removals}}: Scene) {
    const early = removals.filter(({cameAt, removed}) => {
      const ages = uses
        .filter(({noted}) => noted.steadyMs <= removed.steadyMs && noted.wallMs >= removed.wallMs - IN_USE_MS)
        .flatMap(({process}) => runs.find(run => run.process === process) ?? [])
        .map(({spec}) => ageOf(spec) + (spec.stale ? STALE_MS : 0));
      return ages.length === 0 || cameAt >= removed.wallMs - Math.max(...ages);
    });
    return early.length > 0 ? `${early.length} answers, such as one of ${early[0]?.cameAt}` : undefined;
  },
};

const dated: Check = {
  promise: 'What is in the store has the time at which it was bought, wherever it was kept in between.',
  broken({run, service, storedBefore, storedNow}: Scene) {
    const changed = [...storedNow].filter(([name, at]) => storedBefore.get(name) !== at);
    if (changed.length === 0 || run.spec.fleet) return undefined;
    const calls = service.calls.filter(({told}) => told === 'answered' || told === 'rejected');
    const isBought = ([name, at]: readonly [string, number]) =>
      calls.some(call => isTimeOf(call, at) && storedAs(call.operation, call.value, call.spec) === name);
    const odd = changed.find(one => !isBought(one));
    return odd === undefined ? undefined : `${odd[0]} is of ${odd[1]}, when nothing was bought`;
  },
};

export const storeChecks: readonly Check[] = [useful, dated];
