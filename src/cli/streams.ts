import {exitCodes, systemCode, systemReason} from '../errors.ts';
import {print} from './terminal/printable.ts';

/**
 * Whoever reads what is written may go away, as `head` does: that is no error, and a run goes on to its end. Anything
 * else that stdout has against being written, such as a full disk, is the command's failure.
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
