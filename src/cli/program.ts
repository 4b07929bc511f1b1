import {existsSync} from 'node:fs';
import {Command, CommanderError} from 'commander';
import {exitCodes, systemCode, systemReason, UsageError} from '../errors.ts';
import {packageVersion} from '../operations/package-files.ts';
import {didYouMean, shellWord} from '../sentence.ts';
import {addCommands, type CommandHandler, type CreateAction, examplesOf} from './declared-commands.ts';
import {outliveTerminal} from './signals.ts';
import {canRedraw, drawStatusLine, print} from './terminal/printable.ts';

/** Runs the command that this process was started with, and sets its exit code. */
export async function startCommand(): Promise<void> {
  outliveReaders();
  outliveTerminal();
  // `ps` shows a process's arguments to all users: looked-up values must not be in the title.
  process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(
    ' ',
  );
  process.exitCode = await main(process.argv);
  // An interrupted command ends within 1 s, even if a reader never takes the rest of its output.
  if (process.exitCode >= exitCodes.interrupted) setTimeout(() => process.exit(), 1_000).unref();
}

/** Lets the command continue if the reader of stdout closes the pipe. Any other error of stdout fails the command. */
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

/** Runs a command line, and returns its exit code. `heard` receives an error before the user sees it. */
export async function main(
  given: readonly string[],
  heard: (error: unknown) => void = () => {},
): Promise<number> {
  const [node = '', bin = '', first, second = ''] = given;
  const asked = first === 'help' && HELPS.has(second) ? [node, bin, '--help'] : given;
  const argv = asked.map(word => (word === HELP_ALL ? '--help' : word));
  let code: number = exitCodes.ok;
  const run =
    (load: () => Promise<CommandHandler>) =>
    async (...given: unknown[]) => {
      const action = await load();
      code = await action(...(given as never[]));
    };
  if (canRedraw(process.env.CI) && isWatched(argv)) drawStatusLine('Starting …');
  let program: Command | undefined;
  try {
    program = await createProgram(run, argv, given.includes(HELP_ALL));
    await program.parseAsync(argv as string[]);
    drawStatusLine('');
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    heard(error);
    return (await import('./tell-failure.ts')).showFailure(error, argv, program);
  }
}

/** The flag that also shows the settings that `--help` leaves out. */
const HELP_ALL = '--help-all';

/** Words after "help" that ask for the program's own help. */
const HELPS: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Width of the help without a terminal: each flag gets one line, for `grep`. */
const ONE_LINE_EACH = 250;

/** True if the command loads slowly, and no flag asks for other output: then it shows `Starting …`. */
function isWatched([, , command = '', ...flags]: readonly string[]): boolean {
  return /^(run|plan)$/.test(command) && !flags.some(flag => /^(-[qh]|--(quiet|json|log|help)\b)/.test(flag));
}

async function createProgram(
  run: CreateAction,
  argv: readonly string[],
  showsAll: boolean,
): Promise<Command> {
  const program: Command = new Command('bulk-enrich')
    .description('Check the IPs, phone numbers and e-mail addresses of a list against a risk service.')
    .version(packageVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .exitOverride()
    .configureHelp({helpWidth: process.stdout.columns || ONE_LINE_EACH, subcommandTerm: termOf})
    .configureOutput({
      writeOut: text => print('stdout', text),
      writeErr: text => print('stderr', text),
      // Prints nothing: `failed` prints Commander's errors.
      outputError: () => {},
    })
    .showSuggestionAfterError(false)
    .argument('[command]')
    .usage('COMMAND [options]')
    .action(
      run(async () => {
        const {welcomeCommand} = await import('./commands/welcome.ts');
        return (name?: string) =>
          name === undefined ? welcomeCommand() : Promise.reject(unknownCommand(name, program));
      }),
    )
    .allowExcessArguments()
    .allowUnknownOption();
  await addCommands(program, run, argv, showsAll);
  const [, , help, topic] = argv;
  // With an unknown command, Commander's `help` would show the general help instead of an error.
  if (help === 'help' && topic !== undefined && !program.commands.some(command => command.name() === topic))
    throw unknownCommand(topic, program);
  const all = program.commands.flatMap(command => [command, ...command.commands]);
  for (const command of all) command.addHelpText('after', () => examplesOf(command));
  return program;
}

function termOf(command: Command): string {
  const names = command.registeredArguments.map(argument => {
    const term = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${term}>` : `[${term}]`;
  });
  return [command.name(), ...names].join(' ');
}

function unknownCommand(name: string, program: Command): UsageError {
  if (existsSync(name))
    return new UsageError(
      'unknown_command',
      `${name} is a file, not a command. To enrich it: bulk-enrich run ${shellWord(name)}`,
    );
  const names = ['--version', '--help', ...program.commands.map(command => command.name())];
  const what = name.startsWith('-') ? 'option' : 'command';
  const hint = didYouMean(name, name === '-v' ? ['-V'] : names, 'bulk-enrich --help lists them all.');
  return new UsageError('unknown_command', `There is no ${what} "${name}".${hint}`);
}
