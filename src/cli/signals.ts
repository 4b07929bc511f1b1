import {isatty} from 'node:tty';
import {exitCodes} from '../errors.ts';
import type {Stopper} from '../run/stop.ts';
import type {Console} from './console.ts';
import {breakLines} from './terminal/lines.ts';

/** Exit codes by signal. A closed terminal (SIGHUP) is a request to stop like any other, if the command uses it. */
const codes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.terminated,
} as const;

const hasTerminal = [0, 1, 2].some(isatty);

/** The signals that ask a command to finish its work in progress and end. */
export const endSignals = (Object.keys(codes) as EndSignal[]).filter(
  signal => signal !== 'SIGHUP' || hasTerminal,
);

/** Ignores the end of a terminal that this command does not use. Node would end, although `nohup` started it. */
export function outliveTerminal(): void {
  if (!hasTerminal) process.on('SIGHUP', () => {});
}

type EndSignal = keyof typeof codes;

const STOPPING =
  'Stopping: calls in flight get 5 seconds, and no new ones are made. Press Ctrl-C again to stop now.';

/** Stops the run at the first signal: calls in flight get 5 s. A second ends the process. Returns what ends the watch. */
export function watchSignals(stopper: Stopper, console: Console): () => void {
  const stop = (signal: EndSignal) => {
    console.say(breakLines(STOPPING));
    const message = `Interrupted by ${signal}.`;
    stopper.stop({status: 'interrupted', reason: 'signal', exitCode: codes[signal], message});
  };
  return onEndSignals(stop, signal => {
    console.draw('');
    process.exit(codes[signal]);
  });
}

/** Calls `first` at the first signal and `again` at every later one. Returns a function that ends the watch. */
export function onEndSignals(
  first: (signal: EndSignal) => void,
  again: (signal: EndSignal) => never,
): () => void {
  let isFirst = true;
  const listener = (signal: EndSignal) => {
    if (!isFirst) again(signal);
    isFirst = false;
    first(signal);
  };
  for (const signal of endSignals) process.on(signal, listener);
  return () => {
    for (const signal of endSignals) process.off(signal, listener);
  };
}
