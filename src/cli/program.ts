import {Command, CommanderError} from 'commander';
import {BulkEnrichError, exitCodes, UsageError} from '../errors.ts';
import {closest} from '../job/closest.ts';
import type {Use} from '../job/settings/declare.ts';
import {packageVersion} from '../job/version.ts';
import {examplesOf} from './examples.ts';
import {painter} from './terminal/colour.ts';
import {print} from './terminal/printable.ts';
import {remedied} from './terminal/remedied.ts';

/** A command's work: its result is the exit code. Loaded when it is asked for, so that the others start fast. */
type Action = (...given: never[]) => Promise<number>;

/** Runs the command line and returns its exit code. Errors are rendered here, and nowhere else. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok;
  const run =
    (load: () => Promise<Action>) =>
    async (...given: unknown[]) => {
      const action = await load();
      code = await action(...(given as never[]));
    };
  try {
    await (await createProgram(run, argv)).parseAsync(argv as string[]);
    return code;
  } catch (error) {
    return report(error, argv);
  }
}

type Run = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

async function createProgram(run: Run, argv: readonly string[]): Promise<Command> {
  const program: Command = new Command('bulk-enrich')
    .description('Enriches lists of IPs, phone numbers and e-mail addresses through a paid risk service.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({helpWidth: process.stdout.columns || ONE_LINE_EACH, subcommandTerm: termOf})
    .configureOutput({outputError: (text, write) => write(text.replace(/^error:/, inRed('Error:')))})
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
  const add = (name: string, description: string) => program.command(name).description(description);
  const {withSettings, said} = await settingsOf(argv);

  withSettings(add('run', 'Enrich a list: rows in, enriched rows out, in order.'), 'run')
    .argument('[input...]', 'files; - is stdin')
    .action(run(async () => (await import('./commands/run.ts')).runCommand));
  withSettings(add('plan', 'Say what run would do, and what it would cost; nothing is sent.'), 'run')
    .argument('[input...]', 'files; - is stdin')
    .option('--json', 'The plan as JSON on stdout.')
    .action(run(async () => (await import('./commands/plan.ts')).planCommand));
  withSettings(add('lookup', 'Look one value up.'), 'lookup')
    .argument('<operation>', said.lookups)
    .argument('<value>')
    .action(run(async () => (await import('./commands/lookup.ts')).lookupCommand));
  withSettings(add('verify', 'Fetch the verdict on one session token.'), 'verify')
    .requiredOption('--token <T>', 'The user session token.')
    .option('--id <ID>', 'The user identifier, for multi-accounting.')
    .option('--email <ADDRESS>', "The user's e-mail address.")
    .option('--phone <NUMBER>', "The user's phone number.")
    .action(run(async () => (await import('./commands/verify.ts')).verifyCommand));
  addServe(add('serve', 'Run the embedded service: the whole interface, answered from open data.')).action(
    run(async () => (await import('./commands/serve.ts')).serveCommand),
  );
  withSettings(add('worker', 'Make calls for a fleet, until a signal ends it.'), 'worker')
    .option(
      '--redis <URL>',
      "The fleet's Redis, redis://HOST:PORT or rediss:// (default: BULK_ENRICH_REDIS_URL)",
    )
    .option(
      '--lost-after <TIME>',
      'A worker that is silent for so long is lost: its values are asked again',
      '30s',
    )
    .option('--metrics-address <[HOST:]PORT>', 'Serve Prometheus metrics there, at /metrics')
    .action(run(async () => (await import('./commands/worker.ts')).workerCommand));
  addFleet(program, run);
  addCache(program, run, said);
  withSettings(
    add(
      'doctor',
      'Would a run work from here? Configuration, network, disk; nothing is charged without --call.',
    ),
    'doctor',
  )
    .option('-o, --output <OUT>', 'The output that is meant (default: in this directory)')
    .option('--call', 'Make one real ip lookup as well, after saying what it costs.')
    .option('--json', 'The findings as JSON on stdout.')
    .action(run(async () => (await import('./commands/doctor.ts')).doctorCommand));
  withSettings(
    add('init', "Look at a list and write a job file for it, asking only what can't be seen."),
    'reading',
  )
    .argument('<input>', 'the list; {date} in its path is today, here and in the job')
    .option('-o, --output <FILE>', "The job file (default: the list's name with .yaml)")
    .option('--force', 'Replace an existing file.')
    .action(run(async () => (await import('./commands/init.ts')).initCommand));
  add('explain', "Say what a row's score is made of, from an output of run.")
    .argument('<output>', 'an output of run, CSV or NDJSON')
    .requiredOption(
      '--row <N>',
      "The row's number, as the summary and the log count: from 1, rejected ones too.",
    )
    .action(run(async () => (await import('./commands/explain.ts')).explainCommand));
  add('rejects', 'The rows that could not be read, under their header: to be put right and run again.')
    .argument('<file>', 'rejected rows of a run, OUT.rejects.ndjson')
    .action(run(async () => (await import('./commands/rejects.ts')).rejectsCommand));
  add('completion', 'Print a completion script for a shell.')
    .argument('<shell>', 'bash, zsh or fish')
    .action(
      run(async () => {
        const {completionCommand} = await import('./commands/completion.ts');
        return (shell: string) => completionCommand(program, shell);
      }),
    );
  addExamples(program, '');
  return program;
}

function addExamples(parent: Command, before: string): void {
  for (const command of parent.commands) {
    const words = `${before}${command.name()}`;
    command.addHelpText('after', examplesOf(words));
    addExamples(command, `${words} `);
  }
}

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

type WithSettings = (command: Command, use: Use) => Command;

const NOTHING_SAID = {lookups: '', values: '', ages: ''};
type Said = typeof NOTHING_SAID;

/** The flags of commands, and what helps say of operations. Both are slow to load, so only a command that was named gets them. */
async function settingsOf(argv: readonly string[]): Promise<{withSettings: WithSettings; said: Said}> {
  const all = argv.includes('completion');
  const named = ['run', 'plan', 'lookup', 'verify', 'worker', 'doctor', 'init', 'cache'];
  if (!all && !named.some(name => argv.includes(name)))
    return {withSettings: command => command, said: NOTHING_SAID};
  const {addSettings, said} = await import('./flags.ts');
  const withSettings: WithSettings = (command, use) =>
    all || argv.includes(command.name()) ? addSettings(command, use) : command;
  return {withSettings, said};
}

function addServe(command: Command): Command {
  return command
    .option('--port <N>', 'Port; 0 takes any free one', '8787')
    .option('--host <ADDRESS>', 'Address to listen on', '127.0.0.1')
    .option('--sessions <FILE>', 'User sessions, as NDJSON, for verdicts')
    .option('--rules <FILE>', 'Bot and access rules, for verdicts')
    .option('--state <DIR>', 'Keeps redeemed tokens and the credit ledger over a restart')
    .option('--credits <N>', 'Credits to begin with (default: no limit)')
    .option('--latency <TIME>', 'Wait this long before each answer, such as 50ms')
    .option('--rate-limit <RATE>', 'Throttle beyond this rate, such as 20/s')
    .option('--error-rate <SHARE>', 'Share of calls that fail, such as 5%')
    .option('--seed <N>', 'Seed of the practice faults');
}

function addFleet(program: Command, run: Run): void {
  program
    .command('fleet')
    .description('Look at a fleet of workers.')
    .exitOverride()
    .command('status')
    .description('Workers, runs, chunks and credits of the fleet.')
    .exitOverride()
    .option('--redis <URL>', "The fleet's Redis (default: BULK_ENRICH_REDIS_URL)")
    .option('--json', 'The status as JSON on stdout.')
    .action(run(async () => (await import('./commands/fleet.ts')).fleetStatusCommand));
}

function addCache(program: Command, run: Run, said: Said): void {
  const cache = program
    .command('cache')
    .description('Look into the answer store, or clear it.')
    .exitOverride();
  const sub = (name: string, description: string) =>
    cache
      .command(name)
      .description(description)
      .exitOverride()
      .option('--cache <DIR>', "The store's directory (default: the user's cache directory)");
  sub('stats', 'What is in the store, and how old it is.').action(
    run(async () => (await import('./commands/cache.ts')).cacheStats),
  );
  sub('prune', 'Remove answers older than their maximum age.')
    .option('--max-age <AGE>', `Such as 30d, or ${said.ages}`, said.ages)
    .action(run(async () => (await import('./commands/cache.ts')).cachePrune));
  sub('purge', 'Remove all that is known of one value, so that nothing readable stays in the file.')
    .argument('<value>', said.values)
    .option('--default-country <CC>', 'Country of a phone number in national form')
    .action(run(async () => (await import('./commands/cache.ts')).cachePurge));
}

/** One place renders errors: a sentence, never a stack trace for a user's mistake. */
function report(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    return exitCodes.usage;
  }
  if (error instanceof BulkEnrichError) {
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
