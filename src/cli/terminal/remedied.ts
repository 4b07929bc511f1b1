import type {Remedy} from '../../errors.ts';
import {shellWord} from './lines.ts';

const OUTPUTS = ['-o', '--output'];

/** The command that was given as it would work, the way a shell takes it; undefined where it can't be told. */
export function remedied(argv: readonly string[], {flags = [], pipe}: Remedy): string | undefined {
  if (flags.length === 0 && pipe === undefined) return undefined;
  const given = argv.slice(2).map(word => (word === pipe?.input ? '-' : word));
  const named = given.findIndex(word => OUTPUTS.includes(word));
  const replaces = named >= 0 && OUTPUTS.includes(flags[0] ?? '');
  // What a pipe's output would be called by default matters only where it has no name.
  const more = replaces && pipe !== undefined ? [] : flags;
  const kept =
    replaces && pipe === undefined ? given.filter((_, at) => at !== named && at !== named + 1) : given;
  const command = ['bulk-enrich', ...kept, ...more].map(shellWord).join(' ');
  return pipe === undefined ? command : `${pipe.command} ${shellWord(pipe.input)} | ${command}`;
}
