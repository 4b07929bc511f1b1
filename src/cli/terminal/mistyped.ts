import type {Command} from 'commander';
import {closest} from '../../job/closest.ts';
import {examplesOf} from '../examples.ts';
import {remedied} from './remedied.ts';

/**
 * Flags that other programs have, with advice (`says`). If `isFixable` is true, a corrected command is suggested,
 * in which `command` replaces `run`, and `flag` replaces the wrong flag. Without `flag`, the wrong flag is removed.
 */
const others: Readonly<
  Record<
    string,
    {readonly says: string; readonly command?: string; readonly flag?: string; readonly isFixable: boolean}
  >
> = {
  '-f': {says: 'To replace an output: --force. Name the list without a flag.', isFixable: false},
  '-i': {says: 'Name the list without a flag.', isFixable: true},
  '--dry-run': {says: 'plan shows what run would do, and sends nothing.', command: 'plan', isFixable: true},
  '--input': {says: 'Name the list without a flag.', isFixable: true},
  '--file': {says: 'Name the list without a flag.', isFixable: true},
  // No corrected command is suggested, since it would show the key that the user typed.
  '--api-key': {
    says: 'The key is never on the command line: set BULK_ENRICH_API_KEY, or BULK_ENRICH_API_KEY_FILE.',
    isFixable: false,
  },
  '--verbose': {says: 'Log lines say more.', flag: '--log=debug', isFixable: true},
  '--resume': {says: 'The same command resumes by itself.', isFixable: true},
};

const UNKNOWN_FLAG = /^error: unknown option '([^'=]+)/;

const LONG = Object.keys(others).filter(flag => flag.startsWith('--'));

/** Adds to Commander's error message: the word that was probably meant and a command that works, or examples. */
export function explained(text: string, argv: readonly string[], program: Command): string {
  const [sentence = ''] = text.split('\n');
  const [, flag] = UNKNOWN_FLAG.exec(sentence) ?? [];
  if (flag !== undefined) return explainedFlag(sentence, flag, argv, program);
  const [, word, choices] = /'([^']*)' is invalid\. Allowed choices are (.*)\.$/.exec(sentence) ?? [];
  if (word !== undefined) return meant(sentence, word, choices?.split(', ') ?? [], argv);
  const command = commandOf(argv, program);
  if (/^error: (missing required argument|required option) /.test(sentence))
    return `${sentence}\n${examplesOf(command)}\n`;
  const [, name] = /^error: unknown command '([^']+)/.exec(sentence) ?? [];
  const names = command.commands.map(one => one.name());
  return name === undefined ? text : meant(sentence, name, names, argv);
}

function explainedFlag(sentence: string, flag: string, argv: readonly string[], program: Command): string {
  const own = commandOf(argv, program).options.flatMap(({long}) => long ?? []);
  // Of other programs' flags, only the long ones are compared: any two single letters are too similar.
  const near = Object.hasOwn(others, flag) ? flag : closest(flag, [...own, ...LONG]);
  const other = near === undefined ? undefined : others[near];
  if (other === undefined) return meant(sentence, flag, own, argv);
  const words = argv.map(word => (word === 'run' ? (other.command ?? word) : word));
  const command = other.isFixable
    ? remedied(words, {instead: {given: flag, meant: other.flag ?? ''}})
    : undefined;
  return `${sentence}\n(${other.says})\n${tried(command)}`;
}

function meant(sentence: string, given: string, known: readonly string[], argv: readonly string[]): string {
  const near = closest(given, known);
  if (near === undefined) return `${sentence}\n`;
  return `${sentence}\n(Did you mean ${near}?)\n${tried(remedied(argv, {instead: {given, meant: near}}))}`;
}

/** The line with a command that works as written; empty without one. */
export function tried(command: string | undefined): string {
  return command === undefined ? '' : `Try: ${command}\n`;
}

/** The command that `argv` names. For an unknown subcommand, its group; for an unknown command, the program. */
function commandOf(argv: readonly string[], program: Command): Command {
  let command = program;
  for (const word of argv.slice(2)) {
    const below = command.commands.find(one => one.name() === word || one.aliases().includes(word));
    if (below === undefined) break;
    command = below;
  }
  return command;
}
