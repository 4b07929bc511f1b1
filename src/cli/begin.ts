import {exitCodes, systemCode, systemReason} from '../errors.ts';
import {main} from './program.ts';
import {print} from './terminal/printable.ts';

/** Runs the command that this process was started with, and sets its exit code. */
export async function begin(): Promise<void> {
  outliveReaders();
  // Arguments may hold addresses, and every user of the machine can read them. So `ps` shows the command's name only.
  process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(
    ' ',
  );
  process.exitCode = await main(process.argv);
  // An interrupted command ends within 1 s, even if a reader never takes the rest of its output.
  if (process.exitCode >= exitCodes.interrupted) setTimeout(() => process.exit(), 1_000).unref();
}

/**
 * If the reader of stdout closes the pipe, as `head` does, that is not an error: a run continues to its end. Any other
 * error of stdout, such as a full disk, fails the command.
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
