import {type ExitCode, exitCodes} from '../job/errors.ts';
import type {Stopper} from '../run/stop.ts';
import type {Console} from './console.ts';

const codes = {SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated} as const;

/** The first signal stops the run in good order, a second one at once; what is on disk is consistent either way. */
export function watchSignals(stopper: Stopper, console: Console): () => void {
  let asked = false;
  const listener = (signal: keyof typeof codes) => {
    const exitCode: ExitCode = codes[signal];
    if (asked) {
      console.draw('');
      process.exit(exitCode);
    }
    asked = true;
    console.say('Stopping: nothing new is sent, calls in flight get 5 seconds. Once more to stop at once.');
    stopper.stop({status: 'interrupted', reason: 'signal', exitCode, message: `Interrupted by ${signal}.`});
  };
  for (const signal of Object.keys(codes) as (keyof typeof codes)[]) process.on(signal, listener);
  return () => {
    for (const signal of Object.keys(codes) as (keyof typeof codes)[]) process.off(signal, listener);
  };
}
