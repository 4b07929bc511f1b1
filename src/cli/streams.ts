import {exitCodes, systemCode, systemReason} from '../errors.ts';
import {print} from './terminal/printable.ts';

/**
 * Continues when the reader of stdout closes it, as `head` does: that is not an error, and a run continues to its end.
 * Any other error of stdout, such as a full disk, fails the command.
 */
export function outliveReaders(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', error => {
    if (systemCode(error) !== 'EPIPE') process.once('exit', code => endWithout(error, code));
  });
}

function endWithout(error: unknown, code: number): void {
  if (code !== exitCodes.ok) return;
  print('stderr', `Error: stdout can't be written (${systemReason(error)}).\n`);
  process.exitCode = exitCodes.output;
}
