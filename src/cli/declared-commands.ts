import {type Command, Option} from 'commander';
import type {Use} from '../job/settings/declare.ts';
import type {Grouping} from '../report/spend.ts';
import type {RiskCounts} from '../report/summary.ts';

/** A command's work, which returns the exit code. It is loaded on demand, so that other commands start fast. */
export type Action = (...given: never[]) => Promise<number>;

/** Makes the function that Commander calls for a command. `load` imports the command's code. */
export type RunCommand = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

/** Adds the flags of all settings with this use to a command, and returns the command. */
export type WithSettings = (command: Command, use: Use) => Command;

/** Empty help texts, for command lines that need no help about operations (ip, phone, email, verify). */
export const NOTHING_SAID = {lookups: '', values: '', ages: ''};

export interface CommandSettings {
  readonly withSettings: WithSettings;
  /** Help texts about operations. */
  readonly said: typeof NOTHING_SAID;
}

/** Declares all commands, in the order of the help: in groups, the everyday ones first. */
export function addCommands(program: Command, run: RunCommand, {withSettings, said}: CommandSettings): void {
  const add = (name: string, summary: string, more = '') =>
    program.command(name).summary(summary).description(`${summary}${more}`);
  const addWith = (use: Use, ...named: Parameters<Add>) => withSettings(add(...named), use);
  program.commandsGroup('Every day:');
  addRun(addWith, run);
  addInit(addWith, run);
  addReaders(add, run);
  addLookup(addWith, run, said);
  program.commandsGroup('Maintenance:');
  addDoctor(addWith, run);
  addRules(program, run);
  addHistory(add, run);
  addStore(program, run, said);
  addWorker(addWith, run);
  addFleet(program, run);
  program.commandsGroup('More:');
  addVerify(addWith, run);
  addServe(add, run);
  program.helpCommand(...HELP_COMMAND);
}

const HELP_COMMAND = ['help [command]', 'Print the help of a command.'] as const;

/** Adds a command: its name, its line in the list of commands, and further words for its own help. */
type Add = (name: string, summary: string, more?: string) => Command;
type AddWith = (use: Use, ...named: Parameters<Add>) => Command;

function addRun(addWith: AddWith, run: RunCommand): void {
  addWith('run', 'run', 'Enrich a list: the same rows, with answers added.')
    .argument('[input...]', 'files; - is stdin')
    .option(
      '--yes',
      "Don't ask before spending. (The question comes only at a terminal, and only without --max-credits.)",
    )
    .action(run(async () => (await import('./commands/run.ts')).runCommand));
  addWith(
    'run',
    'plan',
    'Show what a run would do and cost. Sends nothing.',
    ' It takes the same options as run, and shows what run would do with them.',
  )
    .argument('[input...]', 'files; - is stdin')
    .option('--json', 'Print the plan as JSON.')
    .action(run(async () => (await import('./commands/plan.ts')).planCommand));
}

function addLookup(addWith: AddWith, run: RunCommand, said: CommandSettings['said']): void {
  addWith('lookup', 'lookup', 'Look up one value.', ' The answer store is neither read nor written.')
    .argument('<operation>', said.lookups)
    .argument('<value>', said.values)
    .option('--json', 'Print the answer as JSON, which is the default.')
    .action(run(async () => (await import('./commands/lookup.ts')).lookupCommand));
}

function addVerify(addWith: AddWith, run: RunCommand): void {
  addWith('verify', 'verify', 'Fetch the verdict on one session token.')
    .requiredOption('--token <T>', 'The session token.')
    .option('--action <ID>', 'The action identifier (default: BULK_ENRICH_ACTION_ID)')
    .option(
      '--id <ID>',
      'The user identifier, by which the service finds users with several accounts (highly recommended).',
    )
    .option('--email <ADDRESS>', "The user's e-mail address.")
    .option('--phone <NUMBER>', "The user's phone number.")
    .action(run(async () => (await import('./commands/verify.ts')).verifyCommand));
}

/** Adds the flags of `diff` and `score`, which can write rows of an output to a new file. */
function withOutput(command: Command, what: string): Command {
  return command
    .option('-o, --output <FILE>', what)
    .option('--force', 'Replace an existing file.')
    .option('--json', 'Print the changes as JSON.');
}

/** Adds the commands that read a run's files. */
function addReaders(add: Add, run: RunCommand): void {
  const diff = add('diff', 'Show the changes between two outputs of run.')
    .argument('<old>', 'an output of run, CSV or NDJSON')
    .argument('<new>', 'a later one')
    .option(
      '--key <COLUMN>',
      'Match rows by this column. Repeat it for several columns. (default: all columns that the input of run had)',
      (given: string, before: string[] = []) => [...before, given],
    );
  withOutput(diff, 'Write the new and changed rows to this file.').action(
    run(async () => (await import('./outputs/diff.ts')).diffCommand),
  );
  const score = add('score', 'Score an output by other rules. Makes no calls.')
    .argument('<output>', 'an output of run, CSV or NDJSON')
    .requiredOption('--rules <FILE>', 'Rules of the risk score: a YAML file, or default.')
    .option('--now <TIME>', `The time that "now" means in rules. (default: the start of the output's run)`)
    .option('--bad <EXPR>', 'Show which rules tell rows that turned out bad, such as row.banned == "1".');
  withOutput(score, 'Write the rows with their new scores to this file.').action(
    run(async () => (await import('./outputs/score.ts')).scoreCommand),
  );
  add('explain', "Explain a row's score, or list rows by risk.", ' It reads an output of run.')
    .argument('<output>', 'an output of run, CSV or NDJSON')
    .option('--row <N>', 'Number of the row, from 1, as in the summary. Rejected rows have numbers, too.')
    .option('--where <EXPR>', 'Explain the rows where this is true, such as row.id == "u17".')
    .option(
      '--json',
      'Print a JSON object for each row: score, reasons and rules, but none of its own values.',
    )
    .addOption(
      new Option('--level <LEVEL>', 'List all rows of this level, with score and reasons.').choices([
        'high',
        'medium',
        'low',
        'unknown',
      ] satisfies (keyof RiskCounts)[]),
    )
    .action(run(async () => (await import('./outputs/explain.ts')).explainCommand));
  add(
    'rejects',
    'Print the rows that could not be read.',
    ' The header comes first, so that the rows can be corrected and run as a list.',
  )
    .argument('<file>', 'rejected rows of a run, OUT.rejects.ndjson')
    .action(run(async () => (await import('./outputs/rejects.ts')).rejectsCommand));
}

function addWorker(addWith: AddWith, run: RunCommand): void {
  addWith('worker', 'worker', 'Make calls for a fleet until you stop this worker.')
    .option(
      '--redis <URL>',
      "The fleet's Redis, redis://HOST:PORT or rediss:// (default: BULK_ENRICH_REDIS_URL)",
    )
    .option(
      '--lost-after <TIME>',
      'Give up a worker that is silent for this long, and look up its values again',
      '30s',
    )
    .option('--metrics-address <[HOST:]PORT>', 'Serve /metrics, /healthz and /readyz at this address')
    .action(run(async () => (await import('./commands/worker.ts')).workerCommand));
}

function addDoctor(addWith: AddWith, run: RunCommand): void {
  addWith(
    'doctor',
    'doctor',
    'Check if a run would work from here.',
    ' It looks at configuration, network and disk, and charges nothing without --call.',
  )
    .option('--job <FILE>', 'Job file of the run. Flags override it.')
    .option('-o, --output <OUT>', 'Output that a run would write (default: a file in this directory)')
    .option('--call', 'Also make one real ip lookup, after showing its price.')
    .option('--json', 'Print the checks as JSON.')
    .action(run(async () => (await import('./commands/doctor.ts')).doctorCommand));
}

function addInit(addWith: AddWith, run: RunCommand): void {
  addWith('reading', 'init', 'Write a job file for a list.', ' Each of its lines has a comment.')
    .argument('<input>', 'the list; {date} in its path is the day of each run (for init: today)')
    .option('-o, --output <FILE>', "The job file (default: the list's name with .yaml)")
    .option('--force', 'Replace an existing file.')
    .action(run(async () => (await import('./commands/init.ts')).initCommand));
}

function addServe(add: Add, run: RunCommand): void {
  add('serve', 'Run the embedded service, which has open data.')
    .option('--port <N>', 'Port; 0 takes any free one', '8787')
    .option('--host <ADDRESS>', 'Address to listen on', '127.0.0.1')
    .option('--sessions <FILE>', 'User sessions, as NDJSON, for verdicts')
    .option('--rules <FILE>', 'Bot and access rules, for verdicts')
    .option('--answers <FILE>', 'Answers of your own for some values, as YAML or JSON')
    .option('--max-connections <N>', 'Maximum of connections at a time; more are closed at once', '4096')
    .option(
      '--no-pages',
      'Leave out the pages that need no key: /openapi.json, /_ledger, /_sources, /_schemas',
    )
    .option('--credits <N>', 'Credits at the start (default: no limit)')
    .option('--latency <TIME>', 'Wait this long before each answer, such as 50ms')
    .option('--rate-limit <RATE>', 'Throttle beyond this rate, such as 20/s')
    .option('--error-rate <SHARE>', 'Share of calls that fail, such as 5%')
    .option('--seed <N>', 'Seed of the faults: the same seed gives the same faults')
    .action(run(async () => (await import('./commands/serve.ts')).serveCommand));
}

function addHistory(add: Add, run: RunCommand): void {
  const listing = (command: Command) =>
    command
      .option('--since <TIME>', 'Only runs that ended within this time, such as 30d or 12h', '30d')
      .option('--json', 'Print it as JSON.')
      .option('--csv', 'Print it as CSV.');
  listing(
    add(
      'runs',
      'List earlier runs with their results and costs.',
      ' With an identifier, print the summary of that run.',
    ),
  )
    .argument('[run]', "the beginning of a run's identifier")
    .option('--job <NAME>', 'Only runs of this job.')
    .action(run(async () => (await import('./history/runs.ts')).runsCommand));
  listing(add('spend', 'Sum up costs by day, job or operation.'))
    .addOption(
      new Option('--by <WHAT>', 'Group by')
        .choices(['day', 'job', 'operation'] satisfies Grouping[])
        .default('day'),
    )
    .action(run(async () => (await import('./history/spend.ts')).spendCommand));
}

function addFleet(program: Command, run: RunCommand): void {
  program
    .command('fleet')
    .description('Show the workers and runs of a fleet.')
    .helpCommand(...HELP_COMMAND)
    .exitOverride()
    .command('status')
    .description('Show workers, runs, chunks and credits of the fleet.')
    .exitOverride()
    .option('--redis <URL>', "The fleet's Redis (default: BULK_ENRICH_REDIS_URL)")
    .option('--json', 'Print the status as JSON.')
    .action(run(async () => (await import('./commands/fleet.ts')).fleetStatusCommand));
}

function addRules(program: Command, run: RunCommand): void {
  program
    .command('rules')
    .description('Test the rules of the risk score.')
    .helpCommand(...HELP_COMMAND)
    .exitOverride()
    .command('test')
    .description('Run the tests in rules files. Exit code 4 if one fails.')
    .exitOverride()
    .argument('<file...>', 'YAML files of rules')
    .action(run(async () => (await import('./outputs/rules.ts')).rulesTest));
}

function addStore(program: Command, run: RunCommand, said: CommandSettings['said']): void {
  const store = program
    .command('store')
    .description('Show the answer store, or remove answers from it.')
    .helpCommand(...HELP_COMMAND)
    .exitOverride();
  const sub = (name: string, description: string) =>
    store
      .command(name)
      .description(description)
      .exitOverride()
      .option('--store <DIR>', "The store's directory (default: the user's cache directory)");
  sub('stats', 'Show how many answers are stored, and how old they are.')
    .option('--json', 'Print it as JSON.')
    .action(run(async () => (await import('./commands/stored-answers.ts')).storeStats));
  sub('prune', 'Remove answers older than their maximum age.')
    .option('--max-age <AGE>', `Such as 30d, or ${said.ages}`, said.ages)
    .action(run(async () => (await import('./commands/stored-answers.ts')).storePrune));
  sub('purge', 'Remove all that is stored about one value. Nothing readable of it stays in the file.')
    .argument('<value>', said.values)
    .option('--default-country <CC>', 'Country of a phone number in national form')
    .action(run(async () => (await import('./commands/stored-answers.ts')).storePurge));
}
