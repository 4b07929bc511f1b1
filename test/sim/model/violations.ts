import {accountChecks} from '../checks/account.ts';
import {callChecks} from '../checks/calls.ts';
import {endChecks, faultOfHealed} from '../checks/ends.ts';
import {fileChecks} from '../checks/files.ts';
import {keyChecks} from '../checks/keys.ts';
import {moneyChecks} from '../checks/money.ts';
import {nightChecks} from '../checks/nights.ts';
import {numberChecks} from '../checks/numbers/numbers.ts';
import {rowChecks} from '../checks/rows.ts';
import type {Check, Scene} from '../checks/scene.ts';
import {storeChecks} from '../checks/store.ts';
import {streamChecks} from '../checks/streams.ts';
import {toldChecks} from '../checks/told.ts';
import type {Ended} from './ended.ts';
import {storePath} from './places.ts';
import type {Simulation} from './simulation.ts';

export const checks: readonly Check[] = [
  ...endChecks,
  ...fileChecks,
  ...moneyChecks,
  ...accountChecks,
  ...callChecks,
  ...storeChecks,
  ...rowChecks,
  ...numberChecks,
  ...toldChecks,
  ...keyChecks,
  ...nightChecks,
  ...streamChecks,
];

/** How often each promise was tried, by its sentence: since this was loaded. */
export const tried = new Map<string, number>(checks.map(({promise}) => [promise, 0]));

/** The first promise that these runs broke, with what speaks against it. */
export function violationOf(simulation: Simulation, ended: readonly Ended[]): string | undefined {
  for (const run of ended) {
    const scene = sceneOf(simulation, run);
    for (const {promise, broken} of checks) {
      const why = broken(scene);
      if (typeof why === 'string') return `${promise} Run ${run.nth}: ${why}`;
      if (why === undefined) tried.set(promise, (tried.get(promise) ?? 0) + 1);
    }
  }
  return undefined;
}

export function violationOfHealed(run: Ended): string | undefined {
  const why = faultOfHealed(run);
  return (
    why &&
    `What was interrupted ends right when the same command is run again, and the cause is gone. Run ${run.nth}: ${why}`
  );
}

function sceneOf(simulation: Simulation, run: Ended): Scene {
  const {service, runs, stored, disk} = simulation;
  const {cache} = run.spec;
  const store = cache === 'none' ? undefined : disk.files.get(storePath(cache));
  return {
    run,
    service,
    runs,
    storedBefore: run.storedBefore,
    storedNow: stored.copyOf(store),
    upkeep: stored.upkeepOf(store),
    lostState: simulation.troubles.lostState,
    hadTrouble: simulation.hadTrouble,
    accountPerDay: simulation.accountPerDay,
    accountPerMonth: simulation.accountPerMonth,
    accountRate: simulation.accountRate,
    inputs: simulation.inputBytes(),
    history: simulation.history(),
    keyIn: simulation.keyIn(run),
  };
}
