import type {Call} from '../world/service.ts';
import {type Check, UNTRIED} from './scene.ts';

/** True for a call that was refused since its key had been renewed. */
function hasOldKey({told, code, spec}: Call): boolean {
  return told === 'fatal' && code === 'invalid_token' && spec.keyFile === true;
}

const stopped: Check = {
  promise: 'A run whose key is replaced stops: nobody reads the new one before the next run.',
  broken({run}) {
    const refused = run.calls.filter(hasOldKey);
    if (refused.length === 0 || run.process.killed) return UNTRIED;
    return run.stop === undefined ? `it went on after ${refused.length} refusals` : undefined;
  },
};

const hidden: Check = {
  promise: 'No key, old or new, gets into a file or a message, though answers repeat it.',
  broken: ({keyIn, run}) => (run.calls.length === 0 ? UNTRIED : keyIn),
};

export const keyChecks: readonly Check[] = [stopped, hidden];
