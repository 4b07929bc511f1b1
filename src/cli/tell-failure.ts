import {type Command, CommanderError} from 'commander';
import {CodedError, exitCodes, toOutputError, UsageError} from '../errors.ts';
import {closestName} from '../sentence.ts';
import {examplesOf} from './declared-commands.ts';
import {applyRemedy, type CommandLine} from './terminal/command-line.ts';
import {breakLines} from './terminal/lines.ts';
import {createPainter, print} from './terminal/printable.ts';

/** Shows the error that ended a command, and returns the exit code. */
export async function showFailure(
  error: unknown,
  argv: readonly string[],
  program: Command | undefined,
): Promise<number> {
  const misused = error instanceof CommanderError && error.message.startsWith(MISUSED);
  const command = program && commandIn(argv, program);
  const sentence = misused ? withoutValue(error.message.slice(MISUSED.length), command) : '';
  const shown = misused ? new UsageError('settings', sentence) : toOutputError(error);
  if (misused && command?.name() === 'run') {
    const {refuseRun} = await import('./commands/run.ts');
    const told = await refuseRun(shown as UsageError, command.opts());
    if (told !== undefined) return told;
  }
  if (asksForJson(argv) && !(shown instanceof CommanderError))
    return (await import('./console.ts')).logFailure(shown);
  if (!(misused && command)) return report(shown, command);
  print('stderr', `${inRed('Error:')} ${misuse(sentence, command)}\n`);
  return exitCodes.usage;
}

/** Prefix of Commander's messages about a wrong command line. */
const MISUSED = 'error: ';

/** The sentence on an option that does not exist, without its value, which may be a key: `--api-key=KEY`. */
function withoutValue(sentence: string, command: Command | undefined): string {
  const [, name] = /^unknown option '([^'=]+)=/.exec(sentence) ?? [];
  const isKnown = name === undefined || command?.options.some(({long}) => long === name);
  return isKnown ? sentence : `unknown option '${name}'`;
}

/** The command that `argv` names. For an unknown subcommand, its group; for an unknown command, the program. */
function commandIn(argv: readonly string[], program: Command): Command {
  let command: Command = program;
  for (const word of argv.slice(2)) {
    const below = command.commands.find(known => known.name() === word);
    if (below === undefined) break;
    command = below;
  }
  return command;
}

/** Advice on flags that other programs have. */
const OTHERS: Readonly<Record<string, string>> = {
  '-f': 'To replace an output: --force. Name the list without a flag.',
  '-i': 'Name the list without a flag.',
  '--dry-run': 'plan shows what run would do, and sends nothing.',
  '--input': 'Name the list without a flag.',
  '--file': 'Name the list without a flag.',
  '--api-key': 'The key is never on the command line: set BULK_ENRICH_API_KEY, or BULK_ENRICH_API_KEY_FILE.',
  '--verbose': 'Log lines say more: --log debug.',
  '--resume': 'The same command resumes by itself.',
};

/** Commander's sentence, with the word that was probably meant, or with examples. */
function misuse(sentence: string, command: Command): string {
  if (/^(missing required argument|required option) /.test(sentence))
    return `${sentence}\n${examplesOf(command)}`;
  const [, flag] = /^unknown option '([^'=]+)/.exec(sentence) ?? [];
  const [, word, choices] = /'([^']*)' is invalid\. Allowed choices are (.*)\.$/.exec(sentence) ?? [];
  const [, name] = /^unknown command '([^']+)/.exec(sentence) ?? [];
  // Of other programs' flags, only the long ones are compared: any two single letters are too similar.
  const long = Object.keys(OTHERS).filter(other => other.startsWith('--'));
  const flags = command.options.flatMap(option => option.long ?? []);
  const known = name === undefined ? choices?.split(', ') : command.commands.map(below => below.name());
  const given = flag ?? word ?? name ?? '';
  const near = Object.hasOwn(OTHERS, given) ? given : closestName(given, known ?? [...flags, ...long]);
  if (near === undefined) return sentence;
  return `${sentence}\n(${(flag && OTHERS[near]) ?? `Did you mean ${near}?`})`;
}

/** True if flags ask for a log in JSON. A job file does not count: it is not read after a failure. */
function asksForJson(argv: readonly string[]): boolean {
  const given = argv.flatMap((word, at) =>
    word === '--log' ? (argv[at + 1] ?? []) : (word.split('--log=')[1] ?? []),
  );
  return given.some(words => words.split(',').includes('json'));
}

/** Prints a foreseen error as a sentence, any other with its stack trace, and returns the exit code. */
function report(error: unknown, command: Command | undefined): number {
  if (error instanceof CommanderError) return exitCodes.usage;
  if (error instanceof CodedError) {
    const stop = /[.!?…]$/.test(error.message) ? '' : '.';
    // This exit code means that the user cancelled at a question, so the message is not marked as an error.
    const mark = error.exitCode === exitCodes.interrupted ? '' : `${inRed('Error:')} `;
    const next = command && applyRemedy(lineIn(command), error.remedy);
    print(
      'stderr',
      `${breakLines(`${mark}${error.message}${stop}`)}\n${next === undefined ? '' : `Try: ${next}\n`}`,
    );
    return error.exitCode;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  print('stderr', `${inRed('Internal error:')} ${trace}\n`);
  return exitCodes.internal;
}

/** The command line as Commander read it, without defaults. */
function lineIn(command: Command): CommandLine {
  const given = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) === 'cli',
  );
  return {command: command.name(), inputs: command.args, flags: Object.fromEntries(given)};
}

function inRed(text: string): string {
  return createPainter(process.stderr, process.env)('red', text);
}
