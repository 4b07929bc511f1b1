import {type Command, CommanderError} from 'commander';
import {CodedError, exitCodes, foreseen, UsageError} from '../errors.ts';
import {painter} from './terminal/colour.ts';
import {broken} from './terminal/lines.ts';
import {explained, tried} from './terminal/mistyped.ts';
import {print} from './terminal/printable.ts';
import {remedied} from './terminal/remedied.ts';

/** Shows the error that ended a command, and returns the exit code. */
export async function failed(
  error: unknown,
  argv: readonly string[],
  program: Command | undefined,
): Promise<number> {
  const misused = error instanceof CommanderError && error.message.startsWith(MISUSED);
  const shown = misused ? new UsageError('settings', sentenceOf(error)) : foreseen(error);
  const command = program?.commands.find(command => command.name() === argv[2]);
  if (misused && command?.name() === 'run') {
    const {refuseRun} = await import('./commands/run.ts');
    const told = await refuseRun(shown as UsageError, command.opts());
    if (told !== undefined) return told;
  }
  if (asksForJson(argv) && !(shown instanceof CommanderError))
    return (await import('./console.ts')).logFailure(shown);
  if (misused && program !== undefined) print('stderr', misuse(error, argv, program));
  return report(misused ? error : shown, argv);
}

/** Prefix of Commander's messages about a wrong command line. */
const MISUSED = 'error: ';

function sentenceOf({message}: CommanderError): string {
  return message.slice(MISUSED.length);
}

function misuse({message}: CommanderError, argv: readonly string[], program: Command): string {
  return explained(`${message}\n`, argv, program).replace(/^error:/, inRed('Error:'));
}

/** True if flags ask for a log in JSON. A job file does not count: it is not read after a failure. */
function asksForJson(argv: readonly string[]): boolean {
  const given = argv.flatMap((word, at) =>
    word === '--log' ? (argv[at + 1] ?? []) : (word.split('--log=')[1] ?? []),
  );
  return given.some(words => words.split(',').includes('json'));
}

/** Prints a foreseen error as a sentence, any other with its stack trace, and returns the exit code. */
function report(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) return exitCodes.usage;
  if (error instanceof CodedError) {
    const stop = /[.!?…]$/.test(error.message) ? '' : '.';
    // This exit code means that the user cancelled at a question, so the message is not marked as an error.
    const mark = error.exitCode === exitCodes.interrupted ? '' : `${inRed('Error:')} `;
    print('stderr', `${broken(`${mark}${error.message}${stop}`)}\n`);
    print('stderr', tried(remedied(argv, error.remedy)));
    return error.exitCode;
  }
  print(
    'stderr',
    `${inRed('Internal error:')} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return exitCodes.internal;
}

function inRed(text: string): string {
  return painter(process.stderr, process.env)('red', text);
}
