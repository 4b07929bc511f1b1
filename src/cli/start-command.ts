import {exitCodes, systemCode, systemReason} from '../errors.ts';
import {main} from './program.ts';
import {outliveTerminal} from './signals.ts';
import {print} from './terminal/printable.ts';

/** Runs the command that this process was started with, and sets its exit code. */
export async function startCommand(): Promise<void> {
  outliveReaders();
  outliveTerminal();
  // Every user of the machine can read a process's arguments with `ps`, and these may hold e-mail addresses or
  // other looked-up values. So the title has only the command's name.
  process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(
    ' ',
  );
  process.exitCode = await main(process.argv);
  // An interrupted command ends within 1 s, even if a reader never takes the rest of its output.
  if (process.exitCode >= exitCodes.interrupted) setTimeout(() => process.exit(), 1_000).unref();
}

/**
 * Lets the command continue if the reader of stdout closes the pipe, as `head` does. A run that writes its
 * rows to stdout stops even so: its output notices the closed pipe. Any other error of stdout, such as a full
 * disk, fails the command.
 */
function outliveReaders(): void {
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
