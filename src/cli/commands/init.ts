import {existsSync, writeFileSync} from 'node:fs';
import {basename} from 'node:path';
import {type Headers, headersOf} from '../../columns/recognize/column.ts';
import {isRowOfValues} from '../../columns/values-as-header.ts';
import {OutputError, systemReason, UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {openSource} from '../../input/source.ts';
import {defaultOutput} from '../../job/job.ts';
import {withoutCompression} from '../../job/name-endings.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {dated, utcDate} from '../../job/paths.ts';
import type {SettingsFor} from '../../job/settings.ts';
import {sourceFile} from '../../operations/package-files.ts';
import {makePlan} from '../../run/estimate.ts';
import {endpointName} from '../../run/identity.ts';
import {accountFile} from '../../run/open/account.ts';
import type {Said} from '../../sentence.ts';
import {type Choices, choose} from '../init/choose.ts';
import {columnSettings, type JobFacts, jobFile} from '../init/job-file.ts';
import {cleaned, envOfCounting, jobFrom} from '../job-from-flags.ts';
import {many, shellWord} from '../terminal/lines.ts';
import {print} from '../terminal/printable.ts';

type InitFlags = RawSettings & {readonly output?: string; readonly force?: boolean};

/** `bulk-enrich init LIST`: writes a job file with what the list shows. */
export async function initCommand(input: string, given: InitFlags): Promise<number> {
  const {output, force = false, ...flags} = given;
  let reading = cleaned(flags);
  if (input === '-')
    throw new UsageError(
      'no_input',
      "init needs a file that the job can read every time. It can't use stdin.",
    );
  const name = jobName(input);
  const path = output ?? `${name}.yaml`;
  if (existsSync(path) && !force) {
    throw new UsageError(
      'output_exists',
      `${path} exists. Replace it with --force, or name another file with -o.`,
    );
  }
  const look = () => lookAt(dated(input, utcDate(Date.now())), checkSettings(undefined, reading));
  let seen = await look();
  if (seen.isHeadless) {
    reading = {...reading, header: false};
    seen = await look();
    tell('The first line holds values, so the list has no header. Its columns are column_1, column_2, ….');
  }
  const choices = choose(seen);
  const cost = await costOfList(input, reading, choices);
  const endpoint = (process.env.BULK_ENRICH_BASE_URL ?? '') === '' ? 'embedded' : 'live';
  const facts: JobFacts = {
    name,
    path,
    input,
    reading,
    output: defaultOutput([input]),
    directory: process.cwd(),
    program: programPath(),
    endpoint,
    cost,
    maxCredits: cost === 0 ? ANY_LIST : roundedUp(ROOM * cost),
    account: accountOf(endpoint),
  };
  try {
    writeFileSync(path, jobFile(facts, choices));
  } catch (error) {
    throw new OutputError('output_unwritable', `${path} can't be written (${systemReason(error)}).`, {
      cause: error,
    });
  }
  for (const {column, why} of choices.chosen) tell(`Column "${column}": ${why}.`);
  for (const {column, why} of choices.leftOut) tell(`Left out: "${column}", ${why}.`);
  print(
    'stdout',
    `${path} is written: with the ${endpoint} service, a limit of ${many(facts.maxCredits, 'credit')} a run (max_credits).\n`,
  );
  print('stdout', `To see what it would do: bulk-enrich plan --job ${shellWord(path)}\n`);
  return 0;
}

/** Credit limit for a list whose cost is 0, such as a list without values. */
const ANY_LIST = 1_000;

/** Credit limit, as a multiple of this list's cost. */
const ROOM = 1.5;

/** Rounds up to two significant digits. */
function roundedUp(credits: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, credits))) - 1);
  return Math.ceil(credits / unit) * unit;
}

/** Path and endpoint of the account file that the job file suggests, without secrets of the URL. */
function accountOf(kind: JobFacts['endpoint']): JobFacts['account'] {
  const baseUrl = process.env.BULK_ENRICH_BASE_URL || EXAMPLE.endpoint;
  try {
    const endpoint = kind === 'embedded' ? {kind, byDefault: false} : {kind, baseUrl, apiKey: ''};
    return {path: accountFile('main.yaml', process.env), endpoint: endpointName(endpoint)};
  } catch {
    // There is no home directory, or the base URL is invalid. So the job file shows an example of an account
    // file's path and endpoint.
    return EXAMPLE;
  }
}

const EXAMPLE: JobFacts['account'] = {
  path: '~/.config/bulk-enrich/accounts/main.yaml',
  endpoint: 'https://api.example.com',
};

/** The shell words that start this program: Node and the program, by their full paths. */
function programPath(): string {
  const program = sourceFile('cli/bin.js');
  return [process.execPath, program].map(shellWord).join(' ');
}

/**
 * The minimum credits of a run, as `plan` counts them. Prints the plan's warnings. Counts values with a stored
 * answer too, since these answers may have expired when the job runs.
 *
 * @throws {UsageError} if no run could start with the chosen settings.
 */
async function costOfList(input: string, reading: RawSettings, choices: Choices): Promise<number> {
  const env = envOfCounting(process.env);
  // Counts with the embedded service, which needs no configuration: a live service may not have it yet.
  // Counting makes no calls.
  const flags = {...reading, ...cleaned(columnSettings(choices)), endpoint: 'embedded', store: false};
  const {job} = jobFrom([input], flags, '-', env);
  const {credits} = await makePlan(job, {env, stdin: process.stdin, now: Date.now, warn: tell});
  return credits.at_least;
}

/** A job's name from its list: `my list.csv.gz` → `my-list`, `signups-{date}.csv` → `signups`. */
function jobName(input: string): string {
  const stem = withoutCompression(basename(input))
    .replace(/\.[^.]+$/, '')
    .replace(/[-_.]?\{date\}/g, '');
  return (
    stem
      .replace(/[^\w.-]/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 64) || 'job'
  );
}

async function lookAt(
  path: string,
  reading: SettingsFor<'reading'>,
): Promise<{columns: readonly string[]; rows: Row[]; headers: Headers; isHeadless: boolean}> {
  const source = await openSource({...reading, paths: [path]});
  const rows = source.sample.filter((record): record is Row => record.type !== 'reject');
  const {format} = source;
  await source.close();
  const isHeadless =
    format.kind === 'csv' && format.header !== undefined && isRowOfValues(format.header, rows);
  return {columns: format.columns, rows, headers: headersOf(format), isHeadless};
}

function tell(sentence: Said): void {
  print('stderr', `${sentence}\n`);
}
