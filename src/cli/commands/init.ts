import {existsSync, writeFileSync} from 'node:fs';
import {basename, extname} from 'node:path';
import {readHeaderStructure} from '../../columns/recognize/column.ts';
import {OutputError, systemReason, toOneLine, UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {openRecordSource} from '../../input/source.ts';
import {withoutCompression} from '../../job/file-names.ts';
import {defaultOutput} from '../../job/job.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {fillDate, utcDate} from '../../job/paths.ts';
import {loadYaml} from '../../job/yaml.ts';
import {sourceFile} from '../../operations/package-files.ts';
import {intelligenceNames} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import {accountFilePath} from '../../run/open/account.ts';
import {makePlan} from '../../run/plan.ts';
import {endpointName} from '../../run/scope.ts';
import {type Said, shellWord, spellName} from '../../sentence.ts';
import {makeJobFromFlags, withoutMissingFlags} from '../job-from-flags.ts';
import {print} from '../terminal/printable.ts';
import {
  chooseInitColumns,
  type InspectedList,
  type ProposedColumn,
  type ProposedColumns,
} from './init-columns.ts';

type InitFlags = RawSettings & {readonly output?: string; readonly force?: boolean};

/** `bulk-enrich init LIST`: writes a job file with what the list shows. */
export async function initCommand(input: string, given: InitFlags): Promise<number> {
  const {output, force = false, ...flags} = given;
  let reading = withoutMissingFlags(flags);
  if (input === '-')
    throw new UsageError(
      'no_input',
      "init needs a file that the job can read every time. It can't use stdin.",
    );
  const name = jobName(input);
  const path = output ?? `${name}.yaml`;
  if (existsSync(path) && !force)
    throw new UsageError(
      'output_exists',
      `${path} exists. Replace it with --force, or name another file with -o.`,
    );
  const seen = await inspectList(input, reading).catch((error: unknown) => {
    if (!(error instanceof UsageError) || error.code !== 'header_is_value') throw error;
    printNote(
      'The first line holds values, so the list has no header. Its columns are column_1, column_2, ….',
    );
    reading = {...reading, header: false};
    return inspectList(input, reading);
  });
  const choices = chooseInitColumns(seen);
  const cost = await costOfList(input, reading, choices);
  const endpoint = (process.env.BULK_ENRICH_BASE_URL ?? '') === '' ? 'embedded' : 'live';
  const maxCredits = cost === 0 ? ANY_LIST : roundedUp(LIMIT_FACTOR * cost);
  const account = accountOf(endpoint);
  // The list of today shows the format of a list whose name tells none.
  const ending = extname(defaultOutput([todaysList(input)]));
  const text = [
    headOf(shellWord(path)),
    line('name', name, 'in the summary, the report and the history of runs'),
    line('input', input, 'the list'),
    ...Object.entries(reading).map(([setting, value]) => line(setting, value, 'how to read the list')),
    line('output', defaultOutput([input]).replace(/\.\w+$/, ending), 'the same rows, with the answers'),
    line('force', true, 'replaces the last output once the new one is complete'),
    '\n# embedded: answers from open data, free. live: those of the service in BULK_ENRICH_BASE_URL.\n',
    line('endpoint', endpoint, 'live needs BULK_ENRICH_API_KEY, or BULK_ENRICH_API_KEY_FILE'),
    '\n',
    ...columnLines(choices),
    '\n',
    line('maxCredits', maxCredits, `maximum for one run${cost === 0 ? '' : `; this list costs ${cost}`}`),
    `# To limit all runs of the account by day, write these two lines to ${account.path}\n`,
    `#   endpoint: ${account.endpoint}\n`,
    '#   max_credits_per_day: 5000\n',
    hintLine('failIf', ['risk.high > 500'], 'exit code 4 if this is true; the output is written anyway'),
    line('report', `${name}.html`, 'a page about each run'),
  ];
  try {
    writeFileSync(path, text.join(''));
  } catch (error) {
    const message = `${path} can't be written (${systemReason(error)}).`;
    throw new OutputError('output_unwritable', message, {cause: error});
  }
  for (const {column, why} of choices.chosen) printNote(`Column "${column}": ${why}.`);
  for (const {column, why} of choices.leftOut) printNote(`Left out: "${column}", ${why}.`);
  print(
    'stdout',
    `${path} is written: with the ${endpoint} service, a limit of ${pluralize(maxCredits, 'credit')} a run (max_credits).
To see what it would do: bulk-enrich plan --job ${shellWord(path)}\n`,
  );
  return 0;
}

/** Credit limit for a list whose cost is 0, such as a list without values. */
const ANY_LIST = 1_000;

/** Credit limit, as a multiple of this list's cost. */
const LIMIT_FACTOR = 1.5;

function roundedUp(credits: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, credits))) - 1);
  return Math.ceil(credits / unit) * unit;
}

/** Path and endpoint of the account file that the job file suggests, without secrets of the URL. */
function accountOf(kind: 'embedded' | 'live'): {readonly path: string; readonly endpoint: string} {
  const baseUrl = process.env.BULK_ENRICH_BASE_URL || EXAMPLE.endpoint;
  try {
    const endpoint = kind === 'embedded' ? {kind, byDefault: false} : {kind, baseUrl, apiKey: ''};
    return {path: accountFilePath('main.yaml', process.env), endpoint: endpointName(endpoint)};
  } catch {
    // Without a home directory, or with an invalid base URL, the job file shows an example.
    return EXAMPLE;
  }
}

const EXAMPLE = {
  path: '~/.config/bulk-enrich/accounts/main.yaml',
  endpoint: 'https://api.example.com',
};

/** The minimum credits of a run, as `plan` counts them, also of stored answers: they may expire before the job runs. */
async function costOfList(input: string, reading: RawSettings, choices: ProposedColumns): Promise<number> {
  const {chosen, hasSeveral} = choices;
  const columns = chosen.map(({operation}) => [operation, settingOf(operation, chosen)] as const);
  // A live service may not be configured yet.
  const flags = {...reading, ...Object.fromEntries(columns), endpoint: 'embedded', store: false};
  const {job} = makeJobFromFlags([input], hasSeveral ? {...flags, fromList: 'first'} : flags, {
    makesCalls: false,
  });
  const {env, stdin} = process;
  const {credits} = await makePlan(job, {env, stdin, now: Date.now, warn: printNote});
  return credits.at_least;
}

/** A job's name from its list: `my list.csv.gz` → `my-list`, `signups-{date}.csv` → `signups`. */
function jobName(input: string): string {
  const stem = withoutCompression(basename(input)).replace(/\.[^.]+$/, '');
  const plain = stem.replace(/[-_.]?\{date\}/g, '').replace(/[^\w.-]/g, '-');
  return plain.replace(/^[.-]+/, '').slice(0, 64) || 'job';
}

const todaysList = (input: string) => fillDate(input, utcDate(Date.now()));

async function inspectList(input: string, given: RawSettings): Promise<InspectedList> {
  const reading = checkSettings(undefined, given);
  const source = await openRecordSource({...reading, paths: [todaysList(input)]});
  const rows = source.sample.filter((record): record is Row => record.type !== 'reject');
  const {format} = source;
  await source.close();
  return {columns: format.columns, rows, headers: readHeaderStructure(format)};
}

function printNote(sentence: Said): void {
  print('stderr', `${sentence}\n`);
}

/** A setting with its name in a job file, such as `skip_lines`, and a comment. */
function line(name: string, value: unknown, comment: string): string {
  const text = loadYaml()
    .stringify({[spellName(name, '_')]: value}, {lineWidth: 0})
    .trimEnd();
  const said = toOneLine(comment);
  return text.includes('\n') ? `# ${said}\n${text}\n` : `${text.padEnd(40)} # ${said}\n`;
}

/** The line of a setting that the user may want, as a comment. */
function hintLine(name: string, value: unknown, comment: string): string {
  const text = loadYaml().stringify(value, {lineWidth: 0, collectionStyle: 'flow'}).trimEnd();
  return `# ${`${spellName(name, '_')}: ${toOneLine(text)}`.padEnd(38)} # ${toOneLine(comment)}\n`;
}

/** The comment at the top: uses of the job file. cron has a short PATH, so its command has the full paths of Node and the program. */
function headOf(file: string): string {
  const program = [process.execPath, sourceFile('cli/bin.js')].map(shellWord).join(' ');
  const command = `cd ${shellWord(process.cwd())} && ${program} run --job ${file} --quiet`;
  // cron ends a command at a bare %, so each % gets a backslash.
  return `# To see what it would do and cost:  bulk-enrich plan --job ${file}
# To run it:                         bulk-enrich run --job ${file}
# To run it every night, from cron:  15 2 * * *  ${command.replaceAll('%', '\\%')}
# cron has no variables of your shell: put PATH, and those of the service (below), above that line.
# Paths start at the directory where the command runs. All settings: bulk-enrich run --help-all, here with _ for -.
`;
}

function columnLines({chosen, leftOut, hasSeveral, lacksCountries}: ProposedColumns): string[] {
  const named = ([...intelligenceNames, 'country'] as const).flatMap(name => {
    const columns = chosen.filter(({operation}) => operation === name);
    const why = columns.map(column => column.why).join('; ');
    return columns.length === 0 ? [] : [line(name, settingOf(name, columns), why)];
  });
  const several = 'of several values in a cell: first (in X-Forwarded-For the client), last or only';
  const national = 'the country of phone numbers in national form';
  return [
    ...named,
    ...(hasSeveral ? [line('fromList', 'first', several)] : []),
    ...(lacksCountries ? [hintLine('defaultCountry', 'US', national)] : []),
    ...leftOut.map(column =>
      hintLine(column.operation, settingOf(column.operation, [column]), `left out: ${column.why}`),
    ),
  ];
}

function settingOf(wanted: ProposedColumn['operation'], chosen: readonly ProposedColumn[]): unknown {
  // `ip=last` means the column `ip` with the prefix `last`, so a name with `=` is given as `{column}`.
  const named = chosen
    .filter(({operation}) => operation === wanted)
    .map(({column}) => (wanted !== 'country' && column.includes('=') ? {column} : column));
  return named.length > 1 ? named : named[0];
}
