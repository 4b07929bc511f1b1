import {resolve} from 'node:path';
import type {Remedy} from '../../errors.ts';
import {shellWord} from './lines.ts';

const OUTPUTS = ['-o', '--output'];

/** The given command with its fault fixed, quoted for a shell; undefined if no fix is known. */
export function remedied(argv: readonly string[], {flags = [], pipe, instead}: Remedy): string | undefined {
  const typed = argv.slice(2);
  // If the command also names the right list, replacing the wrong path would make the run read the
  // right list twice.
  if (instead !== undefined && /\W/.test(instead.given) && isNamed(instead.meant, typed)) return undefined;
  const words = instead === undefined ? typed : typed.flatMap(word => replaced(word, instead));
  const isSame = words.join('\0') === typed.join('\0');
  if (flags.length === 0 && pipe === undefined && isSame) return undefined;
  const given = words.map(word => (word === pipe?.input ? '-' : word));
  const named = given.findIndex(word => OUTPUTS.includes(word));
  const replaces = named >= 0 && OUTPUTS.includes(flags[0] ?? '');
  // With a pipe, the run reads stdin, so `flags` name its output. They are left out if the user's
  // command names one.
  const more = replaces && pipe !== undefined ? [] : flags;
  const kept =
    replaces && pipe === undefined ? given.filter((_, at) => at !== named && at !== named + 1) : given;
  const command = ['bulk-enrich', ...kept, ...more].map(shellWord).join(' ');
  return pipe === undefined ? command : `${pipe.command} ${shellWord(pipe.input)} | ${command}`;
}

/** True if a file is among the words, in any spelling. A flag's value does not count. */
function isNamed(file: string, words: readonly string[]): boolean {
  return words.some((word, at) => resolve(word) === resolve(file) && !words[at - 1]?.startsWith('-'));
}

/** Replaces `given` by `meant`: as a whole word, or as the flag or the value of `--flag=value`. */
function replaced(word: string, {given, meant}: NonNullable<Remedy['instead']>): string[] {
  if (word === given) return meant === '' ? [] : [meant];
  if (given.startsWith('--') && word.startsWith(`${given}=`))
    return [`${meant}${word.slice(given.length + (meant === '' ? 1 : 0))}`];
  return [word.startsWith('--') && word.endsWith(`=${given}`) ? word.replace(/=.*$/s, `=${meant}`) : word];
}
