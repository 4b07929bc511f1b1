import {statePath} from '../model/places.ts';
import {type Check, type Scene, UNTRIED} from './scene.ts';

/** True for a sample whose state waits beside the output, for the next command to take over. */
export function waits({run}: Scene, state: string): boolean {
  return [...run.after.keys()].some(path => path.startsWith(`${state}-sample/`));
}

const paidOnce: Check = {
  promise: 'What a sample was answered, killed or not, the run after it does not pay for again.',
  broken(scene) {
    const {run, samples, service} = scene;
    const own = samples.filter(({spec}) => statePath(spec) === statePath(run.spec));
    if (own.length === 0 || run.spec.cache === 'none' || !run.storeIsSound || !run.isAlone) return UNTRIED;
    const processes = new Set(own.map(({process}) => process));
    const answered = service.calls.filter(call => processes.has(call.process) && call.recorded);
    const known = answered.filter(({told}) => told === 'answered');
    if (known.length === 0) return UNTRIED;
    const twice = run.calls.find(call =>
      known.some(({operation, value}) => operation === call.operation && value === call.value),
    );
    return twice && `${twice.operation} of ${twice.value}, call #${twice.nth}`;
  },
};

const takenOver: Check = {
  promise: 'A run that ends takes over what a killed sample left, and leaves nothing of it.',
  broken(scene) {
    const {run, samples} = scene;
    const left = samples.filter(
      ({spec, process}) => process.killed && statePath(spec) === statePath(run.spec),
    );
    if (left.length === 0 || run.end !== 'wrote' || !run.isAlone) return UNTRIED;
    return waits(scene, statePath(run.spec)) ? `${statePath(run.spec)}-sample is still there` : undefined;
  },
};

export const sampleChecks: readonly Check[] = [paidOnce, takenOver];
