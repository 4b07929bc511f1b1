import {Command, CommanderError, Option} from 'commander';
import {BulkEnrichError, exitCodes} from '../job/errors.ts';
import {describeSettings, spelled} from '../job/settings.ts';
import {packageVersion} from './version.ts';

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
    await createProgram(run).parseAsync(argv as string[]);
    return code;
  } catch (error) {
    return report(error);
  }
}

type Run = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

function createProgram(run: Run): Command {
  const program = new Command('bulk-enrich')
    .description('Enriches lists of IPs, phone numbers and e-mail addresses through a paid risk service.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({helpWidth: Math.min(process.stdout.columns ?? 100, 120)})
    .showSuggestionAfterError()
    .action(run(async () => (await import('./commands/welcome.ts')).welcome));
  const add = (name: string, description: string) =>
    program.command(name).description(description).exitOverride();

  addSettings(
    add('run', 'Enrich a list: rows in, enriched rows out, in order.').argument(
      '[input...]',
      'files; - is stdin',
    ),
  )
    .action(run(async () => (await import('./commands/run.ts')).runCommand))
    .addHelpText('after', RUN_EXAMPLES);
  addSettings(
    add('plan', 'Say what run would do, and what it would cost; nothing is sent.').argument(
      '[input...]',
      'files; - is stdin',
    ),
  )
    .option('--json', 'the plan as JSON on stdout')
    .action(run(async () => (await import('./commands/plan.ts')).planCommand));
  addSettings(
    add('lookup', 'Look one value up.').argument('<operation>', 'ip, phone or email').argument('<value>'),
    CALL_SETTINGS,
  ).action(run(async () => (await import('./commands/lookup.ts')).lookupCommand));
  addSettings(add('verify', 'Fetch the verdict on one session token.'), [...CALL_SETTINGS, 'actionId'])
    .requiredOption('--token <T>', 'the user session token')
    .option('--id <ID>', 'the user identifier, for multi-accounting')
    .option('--email <ADDRESS>', 'the user’s e-mail address')
    .option('--phone <NUMBER>', 'the user’s phone number')
    .action(run(async () => (await import('./commands/verify.ts')).verifyCommand));
  addServe(add('serve', 'Run the embedded service: the whole interface, answered from open data.')).action(
    run(async () => (await import('./commands/serve.ts')).serveCommand),
  );
  addCache(program, run);
  add('init', 'Look at a list and write a job file for it, asking only what can’t be seen.')
    .argument('<input>', 'the list')
    .option('-o, --output <FILE>', 'the job file (default: the list’s name with .yaml)')
    .option('--force', 'replace an existing file')
    .action(run(async () => (await import('./commands/init.ts')).initCommand));
  add('completion', 'Print a completion script for a shell.')
    .argument('<shell>', 'bash, zsh or fish')
    .action(
      run(async () => {
        const {completionCommand} = await import('./commands/completion.ts');
        return (shell: string) => completionCommand(program, shell);
      }),
    );
  return program;
}

const CALL_SETTINGS = ['endpoint', 'defaultCountry', 'timeout', 'logLevel', 'quiet'];

function addSettings(command: Command, only?: readonly string[]): Command {
  if (only === undefined) {
    command.option(
      '-o, --output <OUT>',
      'the output; - is stdout (default: INPUT.enriched.csv beside the input)',
    );
    command.option('--job <FILE>', 'a job file with these settings (flags go first)');
  }
  for (const setting of describeSettings()) {
    if (setting.flagless === true || (only !== undefined && !only.includes(setting.name))) continue;
    const name = spelled(setting.name, '-');
    const text =
      setting.defaultText ??
      (setting.default === undefined || typeof setting.default === 'boolean' ? '' : String(setting.default));
    const description = `${setting.description}${text === '' ? '' : ` (default: ${text})`}`;
    const flags =
      setting.negated === true
        ? `--no-${name}`
        : `--${name}${setting.value === undefined ? '' : ` <${setting.value}>`}`;
    const option = new Option(flags, description).helpGroup(`${setting.group}:`);
    if (setting.repeatable === true)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    command.addOption(option);
    if (setting.name === 'cache')
      command.addOption(
        new Option('--no-cache', 'Keep no answers, and use none.').helpGroup(`${setting.group}:`),
      );
  }
  return command;
}

function addServe(command: Command): Command {
  return command
    .option('--port <N>', 'port; 0 takes any free one', '8787')
    .option('--host <ADDRESS>', 'address to listen on', '127.0.0.1')
    .option('--sessions <FILE>', 'user sessions, as NDJSON, for verdicts')
    .option('--rules <FILE>', 'bot and access rules, for verdicts')
    .option('--state <DIR>', 'keeps redeemed tokens and the credit ledger over a restart')
    .option('--credits <N>', 'credits to begin with (default: no limit)')
    .option('--latency <TIME>', 'wait this long before each answer, such as 50ms')
    .option('--rate-limit <RATE>', 'throttle beyond this rate, such as 20/s')
    .option('--error-rate <SHARE>', 'share of calls that fail, such as 5%')
    .option('--seed <N>', 'seed of the practice faults');
}

function addCache(program: Command, run: Run): void {
  const cache = program
    .command('cache')
    .description('Look into the answer store, or clear it.')
    .exitOverride();
  const sub = (name: string, description: string) =>
    cache
      .command(name)
      .description(description)
      .exitOverride()
      .option('--cache <DIR>', "the store's directory (default: the user's cache directory)");
  sub('stats', 'What is in the store, and how old it is.').action(
    run(async () => (await import('./commands/cache.ts')).cacheStats),
  );
  sub('prune', 'Remove answers older than their maximum age.')
    .option('--max-age <AGE>', 'such as 30d, or ip=1d,phone=90d,email=30d', 'ip=1d,phone=90d,email=30d')
    .action(run(async () => (await import('./commands/cache.ts')).cachePrune));
  sub('purge', 'Remove all that is known of one value, so that nothing readable stays in the file.')
    .argument('<value>', 'an IP address, phone number or e-mail address')
    .option('--default-country <CC>', 'country of a phone number in national form')
    .action(run(async () => (await import('./commands/cache.ts')).cachePurge));
}

/** One place renders errors: a sentence, never a stack trace for a user's mistake. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    return exitCodes.usage;
  }
  if (error instanceof BulkEnrichError) {
    process.stderr.write(`Error: ${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(
    `Internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return exitCodes.internal;
}

const RUN_EXAMPLES = `
Examples:
  bulk-enrich run signups.csv                                 columns found by themselves
  bulk-enrich run signups.csv --ip signup_ip --email email    columns named
  bulk-enrich run a.csv b.csv -o all.csv --max-credits 5000   several inputs, a credit limit
  zcat big.csv.gz | bulk-enrich run - -o big.enriched.csv     stdin
  bulk-enrich run --job jobs/nightly-signups.yaml             a job file
`;
