import {type Command, Option} from 'commander';
import type {Use} from '../job/settings/declare.ts';
import type {Grouping} from '../report/spend.ts';

/** A command's work: its result is the exit code. Loaded when it is asked for, so that the others start fast. */
export type Action = (...given: never[]) => Promise<number>;

export type Run = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

export type WithSettings = (command: Command, use: Use) => Command;

/** What helps say of operations, where nobody asked. */
export const NOTHING_SAID = {lookups: '', values: '', ages: ''};

/** The flags of commands, and what their helps say of operations. */
export interface CommandSettings {
  readonly withSettings: WithSettings;
  readonly said: typeof NOTHING_SAID;
}

/** Declares all commands, in the order of the help. */
export function addCommands(program: Command, run: Run, {withSettings, said}: CommandSettings): void {
  const add = (name: string, description: string) => program.command(name).description(description);
  const addWith = (use: Use, name: string, description: string) => withSettings(add(name, description), use);
  addRun(addWith, run);
  addSingle(addWith, run, said);
  addServe(add('serve', 'Run the embedded service: the whole interface, answered from open data.')).action(
    run(async () => (await import('./commands/serve.ts')).serveCommand),
  );
  addWorker(addWith, run);
  addFleet(program, run);
  addStore(program, run, said);
  addDoctor(addWith, run);
  addInit(addWith, run);
  addHistory(add, run);
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
}

type AddWith = (use: Use, name: string, description: string) => Command;

function addRun(addWith: AddWith, run: Run): void {
  addWith('run', 'run', 'Enrich a list: rows in, enriched rows out, in order.')
    .argument('[input...]', 'files; - is stdin')
    .option('--yes', 'Spend without a question, which is asked at a terminal where no --max-credits is set.')
    .action(run(async () => (await import('./commands/run.ts')).runCommand));
  addWith('run', 'plan', 'Say what run would do, and what it would cost; nothing is sent.')
    .argument('[input...]', 'files; - is stdin')
    .option('--json', 'The plan as JSON on stdout.')
    .option('--ahead <TIME>', 'What would fall due by day, so far ahead, such as 30d.')
    .action(run(async () => (await import('./commands/plan.ts')).planCommand));
}

function addSingle(addWith: AddWith, run: Run, said: CommandSettings['said']): void {
  addWith('lookup', 'lookup', 'Look one value up.')
    .argument('<operation>', said.lookups)
    .argument('<value>')
    .option('--json', 'The answer as JSON on stdout, as without it.')
    .action(run(async () => (await import('./commands/lookup.ts')).lookupCommand));
  addWith('verify', 'verify', 'Fetch the verdict on one session token.')
    .requiredOption('--token <T>', 'The user session token.')
    .option('--id <ID>', 'The user identifier, for multi-accounting.')
    .option('--email <ADDRESS>', "The user's e-mail address.")
    .option('--phone <NUMBER>', "The user's phone number.")
    .action(run(async () => (await import('./commands/verify.ts')).verifyCommand));
}

function addWorker(addWith: AddWith, run: Run): void {
  addWith('worker', 'worker', 'Make calls for a fleet, until a signal ends it.')
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
}

function addDoctor(addWith: AddWith, run: Run): void {
  addWith(
    'doctor',
    'doctor',
    'Would a run work from here? Configuration, network, disk; nothing is charged without --call.',
  )
    .option('-o, --output <OUT>', 'The output that is meant (default: in this directory)')
    .option('--call', 'Make one real ip lookup as well, after saying what it costs.')
    .option('--json', 'The findings as JSON on stdout.')
    .action(run(async () => (await import('./commands/doctor.ts')).doctorCommand));
}

function addInit(addWith: AddWith, run: Run): void {
  addWith('reading', 'init', "Look at a list and write a job file for it, asking only what can't be seen.")
    .argument('<input>', 'the list; {date} in its path is today, here and in the job')
    .option('-o, --output <FILE>', "The job file (default: the list's name with .yaml)")
    .option('--force', 'Replace an existing file.')
    .action(run(async () => (await import('./commands/init.ts')).initCommand));
}

function addServe(command: Command): Command {
  return command
    .option('--port <N>', 'Port; 0 takes any free one', '8787')
    .option('--host <ADDRESS>', 'Address to listen on', '127.0.0.1')
    .option('--sessions <FILE>', 'User sessions, as NDJSON, for verdicts')
    .option('--rules <FILE>', 'Bot and access rules, for verdicts')
    .option('--answers <FILE>', 'Answers of your own for some values, as YAML or JSON')
    .option('--state <DIR>', 'Keeps redeemed tokens and the credit ledger over a restart')
    .option('--max-connections <N>', 'Connections at once; more are closed as they come', '4096')
    .option(
      '--no-pages',
      'Leave out the pages that need no key: /openapi.json, /_ledger, /_sources, /_schemas',
    )
    .option('--credits <N>', 'Credits to begin with (default: no limit)')
    .option('--latency <TIME>', 'Wait this long before each answer, such as 50ms')
    .option('--rate-limit <RATE>', 'Throttle beyond this rate, such as 20/s')
    .option('--error-rate <SHARE>', 'Share of calls that fail, such as 5%')
    .option('--seed <N>', 'Seed of the practice faults');
}

function addHistory(add: (name: string, description: string) => Command, run: Run): void {
  const listing = (command: Command) =>
    command
      .option('--since <TIME>', 'Only what ended so long ago at most, such as 30d or 12h', '30d')
      .option('--json', 'The same as JSON on stdout.')
      .option('--csv', 'The same as CSV on stdout.');
  listing(add('runs', 'What runs have come to, a line each: rows, calls, credits, and why they ended.'))
    .argument('[run]', 'the beginning of an identifier: the summary that is kept of it, as JSON')
    .option('--job <NAME>', 'Only runs of this job.')
    .action(run(async () => (await import('./history/runs.ts')).runsCommand));
  listing(add('spend', 'What calls have cost, by day, job or operation.'))
    .addOption(
      new Option('--by <WHAT>', 'What is summed up')
        .choices(['day', 'job', 'operation'] satisfies Grouping[])
        .default('day'),
    )
    .action(run(async () => (await import('./history/spend.ts')).spendCommand));
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

function addStore(program: Command, run: Run, said: CommandSettings['said']): void {
  const store = program
    .command('store')
    .alias('cache')
    .description('Look into the answer store, or clear it.')
    .exitOverride();
  const sub = (name: string, description: string) =>
    store
      .command(name)
      .description(description)
      .exitOverride()
      .option('--store <DIR>', "The store's directory (default: the user's cache directory)")
      .addOption(new Option('--cache <DIR>').hideHelp());
  sub('stats', 'What is in the store, and how old it is.')
    .option('--json', 'The same as JSON on stdout.')
    .action(run(async () => (await import('./commands/stored-answers.ts')).storeStats));
  sub('prune', 'Remove answers older than their maximum age.')
    .option('--max-age <AGE>', `Such as 30d, or ${said.ages}`, said.ages)
    .action(run(async () => (await import('./commands/stored-answers.ts')).storePrune));
  sub(
    'purge',
    'Remove all that the answer store has of one value, so that nothing readable stays in the file.',
  )
    .argument('<value>', said.values)
    .option('--default-country <CC>', 'Country of a phone number in national form')
    .action(run(async () => (await import('./commands/stored-answers.ts')).storePurge));
}
