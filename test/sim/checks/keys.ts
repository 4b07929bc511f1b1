import type {Call} from '../world/service.ts';
import {type Check, UNTRIED} from './scene.ts';

/** True for a call that was refused since its key had been renewed. */
function hasOldKey({told, code, spec}: Call): boolean {
  return told === 'fatal' && code === 'invalid_token' && spec.keyFile === true;
}

const readAgain: Check = {
  promise: 'A run whose key is renewed in its file reads it again, and goes on.',
  broken({run}) {
    const {calls, course, process} = run;
    const refused = calls.filter(hasOldKey);
    if (refused.length === 0 || process.killed || course.faults.some(({kind}) => kind === 'no access'))
      return UNTRIED;
    // One that is renewed again before the service has taken it is as good as a wrong one.
    const isTaken = (key: string) => calls.some(call => call.key === key && call.told === 'answered');
    if (refused.some(({key}) => key !== calls[0]?.key && !isTaken(key))) return UNTRIED;
    return run.stop === 'credentials' || run.stop === 'refused' ? run.message : undefined;
  },
};

const hidden: Check = {
  promise: 'No key, old or new, gets into a file or a message, though answers repeat it.',
  broken: ({keyIn, run}) => (run.calls.length === 0 ? UNTRIED : keyIn),
};

export const keyChecks: readonly Check[] = [readAgain, hidden];
