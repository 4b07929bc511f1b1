import {stringify} from 'yaml';
import type {RawSettings} from '../../job/parse.ts';
import {spelled} from '../../job/setting-names.ts';
import {perIntelligence} from '../../operations/table.ts';
import {shellWord} from '../terminal/lines.ts';
import type {Chosen, Interviewed} from './interview.ts';

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
  /** Path and endpoint of an account file, which a comment in the job file suggests. */
  readonly account: {readonly path: string; readonly endpoint: string};
}

/** Settings with their names in a job file, such as `skip_lines`. */
function inSnakeCase(raw: RawSettings): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [spelled(name, '_'), value]));
}

/** Settings for the chosen columns. */
export function columnSettings({columns, defaultCountry, ipFromList}: Chosen): RawSettings {
  // A setting such as `ip=last` means the column `ip` with the prefix `last`. So a name with `=` is
  // given as `{column}`.
  const choice = (column: string) => (column.includes('=') ? {column} : column);
  const one = (names: readonly string[]) => (names.length > 1 ? names.map(choice) : names.map(choice)[0]);
  return {
    ...perIntelligence(name => one(columns[name])),
    country: columns.country.length > 1 ? columns.country : columns.country[0],
    defaultCountry,
    ipFromList,
  };
}

/** The text of the job file: the settings found, and other useful settings as comments. */
export function jobFile(
  {name, path, input, output, directory, program, reading, account}: JobFacts,
  answers: Interviewed,
): string {
  const {leftOut, endpoint, maxCredits} = answers;
  const file = shellWord(path);
  // cron ends a command at a bare %, so each % gets a backslash.
  const command = `cd ${shellWord(directory)} && ${program} run --job ${file} --quiet`.replaceAll('%', '\\%');
  return `# To see what it would do and cost:  bulk-enrich plan --job ${file}
# To run it:                         bulk-enrich run --job ${file}
# To run it every night, from cron:  15 2 * * *  ${command}
# cron has no variables of your shell: put PATH, and those of the service (below), above that line.
# Paths start at the directory where the command runs. All settings: bulk-enrich run --help-all, here with _ for -.
${stringify({name, input, ...inSnakeCase(reading), output})}# The last output is replaced once the new one is complete.
force: true

# embedded: answers from open data. live: the service in BULK_ENRICH_BASE_URL, with BULK_ENRICH_API_KEY (or BULK_ENRICH_API_KEY_FILE).
${stringify({endpoint})}
${stringify(inSnakeCase(columnSettings(answers)))}${leftOut.map(({column, why}) => `# Left out: ${JSON.stringify(column)}, ${why}.\n`).join('')}
${maxCredits > 0 ? stringify({max_credits: maxCredits}) : '# max_credits: 5000            # maximum of credits for one run\n'}# To limit all runs of the account by day, write these two lines to ${account.path}
#   endpoint: ${account.endpoint}
#   max_credits_per_day: 5000
# fail_if: [risk.high > 500]   # exit code 4 if this is true; the output is written anyway
# A report of each run, as a page.
${stringify({report: `${name}.html`})}`;
}
