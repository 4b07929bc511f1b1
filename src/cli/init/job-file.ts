import type {RawSettings} from '../../job/parse.ts';
import {yaml} from '../../job/yaml.ts';
import {intelligenceNames} from '../../operations/table.ts';
import {spelled} from '../../sentence.ts';
import {shellWord} from '../terminal/lines.ts';
import type {Choice, Choices} from './choose.ts';

export interface JobFacts {
  readonly name: string;
  /** The job file's own path, as the user gave it. */
  readonly path: string;
  readonly input: string;
  readonly output: string;
  readonly directory: string;
  /** Command that starts this program, with full paths, since cron has a short PATH. */
  readonly program: string;
  /** The flags that `init` got for reading the list, such as `--encoding`. The job file repeats them. */
  readonly reading: RawSettings;
  readonly endpoint: 'live' | 'embedded';
  /** Credits of a run over the list without stored answers, as `plan` counts them. */
  readonly cost: number;
  readonly maxCredits: number;
  /** Path and endpoint of an account file, which a comment in the job file suggests. */
  readonly account: {readonly path: string; readonly endpoint: string};
}

/** Settings for the chosen columns. */
export function columnSettings({chosen, hasSeveralIps}: Choices): RawSettings {
  const settings = Object.fromEntries(chosen.map(({operation}) => [operation, settingOf(operation, chosen)]));
  return {...settings, ...(hasSeveralIps ? {ipFromList: 'first'} : {})};
}

function settingOf(wanted: Choice['operation'], chosen: readonly Choice[]): unknown {
  // A setting such as `ip=last` means the column `ip` with the prefix `last`. So a name with `=` is given as
  // `{column}`.
  const named = chosen
    .filter(({operation}) => operation === wanted)
    .map(({column}) => (wanted !== 'country' && column.includes('=') ? {column} : column));
  return named.length > 1 ? named : named[0];
}

/** A setting with its name in a job file, such as `skip_lines`, and a comment. */
function line(name: string, value: unknown, comment: string): string {
  const text = yaml()
    .stringify({[spelled(name, '_')]: value}, {lineWidth: 0})
    .trimEnd();
  return text.includes('\n') ? `# ${comment}\n${text}\n` : `${text.padEnd(40)} # ${comment}\n`;
}

/** The line of a setting that the user may want, as a comment. */
function perhaps(name: string, value: unknown, comment: string): string {
  const text = yaml().stringify(value, {lineWidth: 0, collectionStyle: 'flow'}).trimEnd();
  return `# ${`${spelled(name, '_')}: ${text}`.padEnd(38)} # ${comment}\n`;
}

/** The text of the job file: the settings found, and other useful settings as comments. */
export function jobFile(facts: JobFacts, choices: Choices): string {
  const {name, input, output, reading, endpoint, cost, maxCredits, account} = facts;
  const costs = cost === 0 ? '' : `; this list costs ${cost}`;
  return [
    headOf(facts),
    line('name', name, 'in the summary, the report and the history of runs'),
    line('input', input, 'the list'),
    ...Object.entries(reading).map(([setting, value]) => line(setting, value, 'how to read the list')),
    line('output', output, 'the same rows, with the answers'),
    line('force', true, 'replaces the last output once the new one is complete'),
    '\n',
    '# embedded: answers from open data, free. live: those of the service in BULK_ENRICH_BASE_URL.\n',
    line('endpoint', endpoint, 'live needs BULK_ENRICH_API_KEY, or BULK_ENRICH_API_KEY_FILE'),
    '\n',
    ...columnLines(choices),
    '\n',
    line('maxCredits', maxCredits, `maximum for one run${costs}`),
    `# To limit all runs of the account by day, write these two lines to ${account.path}\n`,
    `#   endpoint: ${account.endpoint}\n`,
    '#   max_credits_per_day: 5000\n',
    perhaps('failIf', ['risk.high > 500'], 'exit code 4 if this is true; the output is written anyway'),
    line('report', `${name}.html`, 'a page about each run'),
  ].join('');
}

function headOf({path, directory, program}: JobFacts): string {
  const file = shellWord(path);
  // cron ends a command at a bare %, so each % gets a backslash.
  const command = `cd ${shellWord(directory)} && ${program} run --job ${file} --quiet`.replaceAll('%', '\\%');
  return `# To see what it would do and cost:  bulk-enrich plan --job ${file}
# To run it:                         bulk-enrich run --job ${file}
# To run it every night, from cron:  15 2 * * *  ${command}
# cron has no variables of your shell: put PATH, and those of the service (below), above that line.
# Paths start at the directory where the command runs. All settings: bulk-enrich run --help-all, here with _ for -.
`;
}

function columnLines({chosen, leftOut, hasSeveralIps, lacksCountries}: Choices): string[] {
  const names = ([...intelligenceNames, 'country'] as const).filter(name =>
    chosen.some(({operation}) => operation === name),
  );
  const whyOf = (name: Choice['operation']) =>
    chosen
      .filter(({operation}) => operation === name)
      .map(({why}) => why)
      .join('; ');
  return [
    ...names.map(name => line(name, settingOf(name, chosen), whyOf(name))),
    ...(hasSeveralIps
      ? [line('ipFromList', 'first', 'of several addresses in a cell: first (the client), last or only')]
      : []),
    ...(lacksCountries
      ? [perhaps('defaultCountry', 'US', 'the country of phone numbers in national form')]
      : []),
    ...leftOut.map(one => perhaps(one.operation, settingOf(one.operation, [one]), `left out: ${one.why}`)),
  ];
}
