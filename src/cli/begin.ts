import {exitCodes} from '../errors.ts';
import {main} from './program.ts';
import {outliveReaders} from './streams.ts';

/** Runs the command that this process was started with, and sets its exit code. */
export async function begin(): Promise<void> {
  outliveReaders();
  // Arguments may hold addresses, and every user of the machine can read them. So `ps` shows the command's name only.
  process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(
    ' ',
  );
  process.exitCode = await main(process.argv);
  // An interrupted run ends, even if a reader of its output never takes the rest.
  if (process.exitCode >= exitCodes.interrupted) setTimeout(() => process.exit(), 1_000).unref();
}
