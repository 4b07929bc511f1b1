import {Command, CommanderError} from 'commander';
import {CodedError, exitCodes, UsageError} from '../errors.ts';
import {closest} from '../job/closest.ts';
import {packageVersion} from '../job/version.ts';
import {
  type Action,
  addCommands,
  type CommandSettings,
  NOTHING_SAID,
  type Run,
  type WithSettings,
} from './declared-commands.ts';
import {examplesOf} from './examples.ts';
import {painter} from './terminal/colour.ts';
import {print} from './terminal/printable.ts';
import {remedied} from './terminal/remedied.ts';

/** Runs the command line and returns its exit code. Errors are rendered here, and nowhere else. */
export async function main(given: readonly string[]): Promise<number> {
  const argv = given.map(word => (word === HELP_ALL ? '--help' : word));
  let code: number = exitCodes.ok;
  const run =
    (load: () => Promise<Action>) =>
    async (...given: unknown[]) => {
      const action = await load();
      code = await action(...(given as never[]));
    };
  try {
    await (await createProgram(run, argv, given.includes(HELP_ALL))).parseAsync(argv as string[]);
    return code;
  } catch (error) {
    if (asksForJson(argv) && !(error instanceof CommanderError))
      return (await import('./console.ts')).logFailure(error);
    return report(error, argv);
  }
}

async function createProgram(run: Run, argv: readonly string[], showsAll: boolean): Promise<Command> {
  const program: Command = new Command('bulk-enrich')
    .description('Enriches lists of IPs, phone numbers and e-mail addresses through a paid risk service.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({helpWidth: process.stdout.columns || ONE_LINE_EACH, subcommandTerm: termOf})
    .configureOutput({
      writeOut: text => print('stdout', text),
      writeErr: text => print('stderr', text),
      outputError: (text, write) => write(explainedFlag(text).replace(/^error:/, inRed('Error:'))),
    })
    .showSuggestionAfterError()
    .helpCommand(true)
    .argument('[command]')
    .usage('COMMAND [options]')
    .action(
      run(async () => {
        const {welcome} = await import('./commands/welcome.ts');
        return (name?: string) =>
          name === undefined ? welcome() : Promise.reject(unknownCommand(name, program));
      }),
    )
    .allowExcessArguments()
    .allowUnknownOption();
  addCommands(program, run, await settingsOf(argv, showsAll));
  addExamples(program, '');
  return program;
}

/** Flags that other programs have, and what does the same here. */
const others: Readonly<Record<string, string>> = {
  '--dry-run': 'bulk-enrich plan says what run would do; nothing is sent.',
  '--input': 'The list is named without a flag: bulk-enrich run list.csv',
  '--file': 'The list is named without a flag: bulk-enrich run list.csv',
  '--api-key': 'The key is never on the command line: set BULK_ENRICH_API_KEY, or BULK_ENRICH_API_KEY_FILE.',
  '--resume': 'The same command goes on by itself.',
};

/** Commander's sentence on an unknown flag, with what was meant where commander does not know it. */
function explainedFlag(text: string): string {
  const [, flag] = /^error: unknown option '([^'=]+)/.exec(text) ?? [];
  const near = flag === undefined ? undefined : closest(flag, Object.keys(others));
  if (near === undefined || (text.includes('Did you mean') && near !== flag)) return text;
  return `${text.split('\n')[0]}\n(${others[near]})\n`;
}

function addExamples(parent: Command, before: string): void {
  for (const command of parent.commands) {
    const words = `${before}${command.name()}`;
    command.addHelpText('after', () => examplesOf(words));
    addExamples(command, `${words} `);
  }
}

/** Shows the settings that `--help` leaves out. */
const HELP_ALL = '--help-all';

/** Where no terminal sets a width, each flag gets one line: for `grep`. */
const ONE_LINE_EACH = 250;

function termOf(command: Command): string {
  const names = command.registeredArguments.map(argument => {
    const term = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${term}>` : `[${term}]`;
  });
  return [command.name(), ...names].join(' ');
}

function unknownCommand(name: string, program: Command): UsageError {
  const near = closest(
    name,
    program.commands.map(command => command.name()),
  );
  const hint = near === undefined ? 'bulk-enrich --help lists them all.' : `Did you mean "${near}"?`;
  const what = name.startsWith('-') ? 'option' : 'command';
  return new UsageError('unknown_command', `There is no ${what} "${name}". ${hint}`);
}

/** The flags of commands, and what helps say of operations. Both are slow to load, so only a command that was named gets them. */
async function settingsOf(argv: readonly string[], showsAll: boolean): Promise<CommandSettings> {
  const all = argv.includes('completion');
  const named = ['run', 'plan', 'lookup', 'verify', 'worker', 'doctor', 'init', 'store', 'cache'];
  if (!all && !named.some(name => argv.includes(name)))
    return {withSettings: command => command, said: NOTHING_SAID};
  const {addSettings, said} = await import('./flags.ts');
  const withSettings: WithSettings = (command, use) =>
    all || argv.includes(command.name()) ? addSettings(command, use, all || showsAll) : command;
  return {withSettings, said};
}

/** A flag alone can say so: what a job file says is that command's to know. */
function asksForJson(argv: readonly string[]): boolean {
  const at = argv.indexOf('--log-format');
  return argv.includes('--log-format=json') || (at >= 0 && argv[at + 1] === 'json');
}

/** One place renders errors: a sentence, never a stack trace for a user's mistake. */
function report(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    return exitCodes.usage;
  }
  if (error instanceof CodedError) {
    print('stderr', `${inRed('Error:')} ${error.message}${/[.!?…]$/.test(error.message) ? '' : '.'}\n`);
    const command = remedied(argv, error.remedy);
    if (command !== undefined) print('stderr', `Try: ${command}\n`);
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
