import {callChecks} from '../checks/calls.ts';
import {endChecks, faultOfHealed} from '../checks/ends.ts';
import {fileChecks} from '../checks/files.ts';
import {moneyChecks} from '../checks/money.ts';
import {rowChecks} from '../checks/rows.ts';
import type {Check, Scene} from '../checks/scene.ts';
import {storeChecks} from '../checks/store.ts';
import type {Ended} from './ended.ts';
import {storePath} from './places.ts';
import type {Simulation} from './simulation.ts';

const all: readonly Check[] = [
  ...endChecks,
  ...fileChecks,
  ...moneyChecks,
  ...callChecks,
  ...storeChecks,
  ...rowChecks,
];

/** The first promise that these runs broke, with what speaks against it. */
export function violationOf(simulation: Simulation, ended: readonly Ended[]): string | undefined {
  for (const run of ended) {
    const scene = sceneOf(simulation, run);
    for (const {promise, broken} of all) {
      const why = broken(scene);
      if (why !== undefined) return `${promise} Run ${run.nth}: ${why}`;
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
    lostState: simulation.lostState,
    accountPerDay: simulation.accountPerDay,
    accountRate: simulation.accountRate,
    inputs: simulation.inputTexts(),
    history: simulation.history(),
  };
}
