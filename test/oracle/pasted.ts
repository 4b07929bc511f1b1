import {execFileSync} from 'node:child_process';
import {dirname} from 'node:path';
import {Command} from 'commander';
import {addCommands} from '../../src/cli/declared-commands.ts';
import {applyRemedy} from '../../src/cli/terminal/command-line.ts';
import type {CodedError} from '../../src/errors.ts';

/** A command line as the command reads it: its files, its flags, and what is piped into it. */
export interface Typed {
  readonly inputs: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly stdin?: Buffer | undefined;
}

let read: readonly [readonly string[], Readonly<Record<string, unknown>>] = [[], {}];
const program = new Command('bulk-enrich').exitOverride();
await addCommands(
  program,
  () => async (inputs, flags) => {
    read = [inputs as string[], flags as Record<string, unknown>];
  },
  ['run', 'plan'],
  false,
);

export async function typed(words: readonly string[], stdin?: Buffer): Promise<Typed> {
  await program.parseAsync(['node', 'bulk-enrich', ...words]);
  const [inputs, flags] = read;
  return {inputs, flags, stdin};
}

/** The line that an error prints behind `Try:`. `COUNTRY` is the one word that the user fills in. */
export function adviceOf({inputs, flags}: Typed, {remedy}: CodedError, country: string): string | undefined {
  return applyRemedy({command: 'run', inputs, flags}, remedy)?.replace(/(?<= )COUNTRY\b/, country);
}

/** Runs the line as it stands. A command before a pipe runs in a shell. */
export async function pasted(line: string): Promise<Typed> {
  const at = Math.max(...['run', 'plan'].map(name => line.lastIndexOf(`bulk-enrich ${name} `)));
  const words = shellWords(line.slice(at));
  const before = line.slice(0, at).replace(/ \| $/, '');
  if (before === '') return await typed(words.slice(1));
  const [file = ''] = shellWords(before).slice(-1);
  return await typed(words.slice(1), execFileSync('/bin/sh', ['-c', before], {cwd: dirname(file)}));
}

/** The words of a line, as a shell parts them. */
function shellWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/gs) ?? [];
  return words.map(word =>
    word.replace(/'([^']*)'|\\(.)/gs, (_, quoted?: string, one?: string) => quoted ?? one ?? ''),
  );
}
