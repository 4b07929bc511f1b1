import {readFileSync} from 'node:fs';
import {type Command, Option} from 'commander';
import type {SettingUse} from '../job/setting-types.ts';
import {sourceFile} from '../operations/package-files.ts';
import declared from './commands.json' with {type: 'json'};

/** A command's work, which returns the exit code. It is loaded on demand, so that other commands start fast. */
export type CommandHandler = (...given: never[]) => Promise<number>;

/** Makes the function that Commander calls for a command. `load` imports the command's code. */
export type CreateAction = (load: () => Promise<CommandHandler>) => (...given: unknown[]) => Promise<void>;

/** A command in commands.json, by its name. A name of two words is that of a group, and of a command in it. */
interface Declared {
  readonly about: string;
  /** Further words for the command's own help. */
  readonly more?: string;
  /** The command has the flags of the settings with this use. */
  readonly use?: SettingUse;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, string | DeclaredOption>>;
}

interface DeclaredOption {
  readonly what: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly repeats?: boolean;
}

const actions: Readonly<Record<string, () => Promise<CommandHandler>>> = {
  run: async () => (await import('./commands/run.ts')).runCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  diff: async () => (await import('./commands/outputs.ts')).diffCommand,
  score: async () => (await import('./commands/outputs.ts')).scoreCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  rejects: async () => (await import('./commands/outputs.ts')).rejectsCommand,
  lookup: async () => (await import('./commands/lookup.ts')).lookupCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  'rules test': async () => (await import('./commands/outputs.ts')).rulesTestCommand,
  runs: async () => (await import('./commands/history.ts')).runsCommand,
  spend: async () => (await import('./commands/history.ts')).spendCommand,
  'store stats': async () => (await import('./commands/store.ts')).storeStatsCommand,
  'store prune': async () => (await import('./commands/store.ts')).storePruneCommand,
  'store purge': async () => (await import('./commands/store.ts')).storePurgeCommand,
  worker: async () => (await import('./commands/fleet.ts')).workerCommand,
  'fleet status': async () => (await import('./commands/fleet.ts')).fleetStatusCommand,
  verify: async () => (await import('./commands/lookup.ts')).verifyCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
};

/** Commands with flags of settings, or with help on operations: `flags.ts` has both, and loads slowly. */
const WITH_SETTINGS = ['completion', 'run', 'plan', 'lookup', 'verify', 'worker', 'doctor', 'init', 'store'];

/**
 * Declares all commands, in the order of the help: in groups, the everyday ones first. Only a command that `argv` names
 * gets the flags of settings; `showsAll`: with help of all of them.
 */
export async function addCommands(
  program: Command,
  run: CreateAction,
  argv: readonly string[],
  showsAll: boolean,
): Promise<void> {
  const flags = WITH_SETTINGS.some(name => argv.includes(name)) ? await import('./flags.ts') : undefined;
  const hasSettings = (command: Command) => argv.includes(command.name()) || argv[2] === 'completion';
  const fillIn = (text: string) =>
    text.replace(/\{(lookups|values|ages)\}/, (_, name: 'lookups' | 'values' | 'ages') =>
      flags === undefined ? '' : flags.operationHelpTexts[name],
    );
  for (const [group, commands] of Object.entries(declared)) {
    program.commandsGroup(group);
    for (const [name, {about, more, use, inputs = {}, options = {}}] of Object.entries(
      commands as Readonly<Record<string, Declared>>,
    )) {
      const [first, second = first] = name.split(' ');
      const above = program.commands.find(group => group.name() === first) ?? program;
      const command = above.command(second as string).summary(about);
      command.description(more === undefined ? about : `${about} ${more}`);
      if (use !== undefined && hasSettings(command)) flags?.addSettings(command, use, showsAll);
      for (const [input, what] of Object.entries(inputs)) command.argument(input, fillIn(what));
      for (const [flags, option] of Object.entries(options))
        command.addOption(optionOf(flags, option, fillIn));
      const load = actions[name];
      if (load === undefined) command.helpCommand(...HELP_COMMAND);
      else command.action(run(load));
    }
  }
  program.helpCommand(...HELP_COMMAND);
}

const HELP_COMMAND = ['help [command]', 'Print the help of a command.'] as const;

function optionOf(flags: string, given: string | DeclaredOption, fillIn: (text: string) => string): Option {
  const {
    what,
    choices,
    required = false,
    repeats,
    default: byDefault,
  }: DeclaredOption = typeof given === 'string' ? {what: given} : given;
  const option = new Option(flags, fillIn(what)).makeOptionMandatory(required);
  if (byDefault !== undefined) option.default(fillIn(byDefault));
  if (choices !== undefined) option.choices(choices);
  if (repeats) option.argParser((value: string, before: string[] = []) => [...before, value]);
  return option;
}

/** Examples at the end of a command's help, from `examples.txt`; empty for a command that only groups others. */
export function examplesOf(command: Command): string {
  const name = nameOf(command);
  const text = readFileSync(sourceFile('cli/examples.txt'), 'utf8');
  const examples = text.split(/^(?=\S)/m).find(section => section.startsWith(`${name}\n`));
  return examples === undefined
    ? ''
    : examples.replace(name, '\nExamples:').split('\n').map(fitWidth).join('\n');
}

/** An example with its explanation. In a narrow terminal, the explanation moves to the next line. */
function fitWidth(line: string): string {
  const {isTTY, columns} = process.stdout;
  return isTTY && line.length > columns ? line.replace(/ {3,}(?=\S)/, '\n      ') : line;
}

/** A command's name after that of its group: `lookup`, `store purge`. */
function nameOf(command: Command): string {
  const above = command.parent?.parent ? `${nameOf(command.parent)} ` : '';
  return above + command.name();
}
