import {type ExitCode, exitCodes} from '../errors.ts';
import type {Stopper} from '../run/stop.ts';
import type {Console} from './console.ts';
import {broken} from './terminal/lines.ts';

/** Exit codes by signal. A closed terminal or a logout (SIGHUP) is a request to stop like any other. */
const codes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.terminated,
} as const;

/** The signals at which a command finishes its work in progress, and then ends. */
export const endSignals = Object.keys(codes) as readonly (keyof typeof codes)[];

const STOPPING =
  'Stopping: calls in flight get 5 seconds, and no new ones are made. Press Ctrl-C again to stop now.';

/**
 * Stops the run at the first signal: calls in flight get 5 s to finish. A second signal ends the process
 * immediately. The files are consistent in both cases. Returns a function that ends the watch.
 */
export function watchSignals(stopper: Stopper, console: Console): () => void {
  let asked = false;
  const listener = (signal: keyof typeof codes) => {
    const exitCode: ExitCode = codes[signal];
    if (asked) {
      console.draw('');
      process.exit(exitCode);
    }
    asked = true;
    console.say(broken(STOPPING));
    stopper.stop({status: 'interrupted', reason: 'signal', exitCode, message: `Interrupted by ${signal}.`});
  };
  for (const signal of endSignals) process.on(signal, listener);
  return () => {
    for (const signal of endSignals) process.off(signal, listener);
  };
}
