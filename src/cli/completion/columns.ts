import {existsSync} from 'node:fs';
import type {Command} from 'commander';
import {openSource} from '../../input/source.ts';
import {checkSettings, readJobFile} from '../../job/parse.ts';
import {dated, utcDate} from '../../job/paths.ts';
import {describeSettings} from '../../job/settings.ts';
import {fieldPaths} from '../../lookup/field-paths.ts';
import {cleaned, type JobFlags} from '../job-from-flags.ts';

/**
 * Returns the columns of the list that a command line names, each as a value for the flag at the end of that
 * line. Empty if the list is missing or can't be read. `words`: the words after the program's name, perhaps
 * quoted as in a shell.
 */
export async function columnsFor(program: Command, words: readonly string[]): Promise<string[]> {
  const [name, ...given] = words;
  const command = program.commands.find(one => one.name() === name);
  const flag = given.pop();
  if (command === undefined || flag === undefined) return [];
  try {
    const {operands} = command.parseOptions(given.map(unquoted));
    const names = await columnsOf(operands, command.opts());
    const plain = names.filter(column => !/\p{Cc}/u.test(column));
    return flag === '--where' ? plain.map(inExpression) : plain;
  } catch {
    // Completion prints no messages. The command itself reports the error when it runs.
    return [];
  }
}

async function columnsOf(operands: readonly string[], {job, ...flags}: JobFlags): Promise<string[]> {
  const file = job === undefined ? undefined : readJobFile(job);
  const ofReading = describeSettings().filter(({uses}) => uses.includes('reading'));
  const given = ofReading.map(({name}) => [name, flags[name as keyof typeof flags]] as const);
  const settings = checkSettings(file, cleaned(Object.fromEntries(given)));
  const paths = [...operands, ...settings.input].map(path => dated(path, utcDate(Date.now())));
  const path = paths.find(one => existsSync(one));
  if (path === undefined) return [];
  const source = await openSource({...settings, paths: [path]});
  await source.close();
  const {format, sample} = source;
  const rows = sample.filter(record => record.type !== 'reject');
  return format.kind === 'ndjson' ? fieldPaths(format.columns, rows) : [...format.columns];
}

/** Removes quotes and backslashes, which bash leaves in words. The name of an existing file stays as it is. */
function unquoted(word: string): string {
  return existsSync(word) ? word : word.replace(/^(['"])(.*)\1$/s, '$2').replaceAll(/\\(.)/gs, '$1');
}

function inExpression(column: string): string {
  return /^[a-z_]\w*$/i.test(column) ? `row.${column}` : `row[${JSON.stringify(column)}]`;
}
