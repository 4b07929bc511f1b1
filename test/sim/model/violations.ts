import type {Ended} from './ended.ts';
import type {Simulation} from './simulation.ts';

export function violationOf(_simulation: Simulation, _ended: readonly Ended[]): string | undefined {
  return undefined;
}
