import {expect, test, vi} from 'vitest';
import type {Console} from '../../src/cli/console.ts';
import {watchSignals} from '../../src/cli/signals.ts';
import {Stopper} from '../../src/run/stop.ts';
import {whole} from '../support/whole.ts';

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a first %s stops the run, a second ends the process, both with %i', (signal, code) => {
  const stopper = new Stopper();
  const said: string[] = [];
  const console = whole<Console>({say: line => said.push(String(line)), draw() {}});
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const end = watchSignals(stopper, console);
  process.emit(signal, signal);
  expect(stopper.reason).toMatchObject({reason: 'signal', exitCode: code});
  expect([exit.mock.calls, said]).toEqual([[], [expect.stringContaining('calls in flight get 5 seconds')]]);
  process.emit(signal, signal);
  end();
  process.emit(signal, signal);
  expect(exit.mock.calls).toEqual([[code]]);
  exit.mockRestore();
});
