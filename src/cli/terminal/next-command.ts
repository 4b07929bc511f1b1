import {type ExitCode, exitCodes} from '../../errors.ts';
import {defaultOutput, type Job} from '../../job/job.ts';
import type {Counted} from '../../run/exit.ts';
import type {Stop} from '../../run/stop.ts';
import {type Said, spelled} from '../../sentence.ts';
import {shellWord} from './lines.ts';

/** By exit code: the condition to meet before the next try. Until then, the same command would stop again. */
const FIRST: Readonly<Record<number, string>> = {
  [exitCodes.credentials]: ', with a key that is accepted',
  [exitCodes.credits]: ', with credits in the account',
  [exitCodes.output]: ', once that is fixed',
};

export interface NextCommand {
  readonly command: string;
  /** The condition to meet first, in words that follow "To continue"; empty without a condition. */
  readonly first: string;
}

/** The words of a command line after the program's name. */
type CommandWords = readonly string[];

const ownWords = (): CommandWords => process.argv.slice(2);

/**
 * The command that continues where this run stopped. Undefined if no command does: the output is a stream, or a
 * fault of input, settings or state must be fixed first. `need`: the credit limit that all rows need, if known.
 */
export function toContinue(
  {output, date, settings}: Job,
  exitCode: ExitCode,
  stop: Stop<Said>,
  need?: number,
  given = ownWords(),
): NextCommand | undefined {
  if (!output.lasts || exitCode === exitCodes.usage) return undefined;
  const own = {budget: 'maxCredits', max_errors: 'maxErrors', max_rejects: 'maxRejects'} as const;
  // `comeBackMs` is set if the account's budget of a day or month is used up. No flag raises it, only
  // the account file.
  const name = stop.comeBackMs === undefined ? own[stop.reason as keyof typeof own] : undefined;
  const limit = name && raised(settings[name], stop.counted, name === 'maxCredits' ? need : undefined);
  if (name !== undefined && limit !== undefined)
    return {command: sameAgain(given, date, [`--${spelled(name, '-')}`, limit]), first: ''};
  if (exitCode === exitCodes.input || exitCode === exitCodes.state || exitCode === exitCodes.limit)
    return undefined;
  return {
    command: sameAgain(given, date),
    first: stop.comeBackMs === undefined ? (FIRST[exitCode] ?? '') : '',
  };
}

/**
 * Returns a higher limit: `need` if it is known. Otherwise twice the old limit, or twice the count that
 * exceeded it, if that is higher.
 */
function raised(
  limit: number | {count: number} | {share: number} | undefined,
  {count, total}: Counted = {count: 0, total: 1},
  need?: number,
): string | undefined {
  if (limit === undefined) return undefined;
  if (typeof limit === 'number')
    return String(need === undefined ? Math.max(1, 2 * limit) : Math.max(Math.ceil(need), limit + 1));
  if ('count' in limit) return String(Math.max(1, 2 * limit.count, 2 * count));
  return `${Math.min(100, Math.max(1, Math.round(200 * limit.share), Math.ceil((200 * count) / total)))}%`;
}

/**
 * The given command once more, without --restart. `limit`: a flag and its new value, which replace the old
 * ones. If a path has `{date}`, adds --date: the user may run the command days later.
 */
function sameAgain(given: CommandWords, date: string | undefined, limit: readonly string[] = []): string {
  const kept = without(given, {valued: limit.slice(0, 1), plain: ['--restart']});
  const day = date === undefined || kept.includes('--date') ? [] : ['--date', date];
  return commandOf([...kept, ...day, ...limit]);
}

/** The command that repeats the lookups that got no answer. */
export function toRetry(date: Job['date'], given = ownWords()): string {
  return sameAgain([...without(given, {valued: [], plain: ['--force']}), '--force'], date);
}

/** The command of the run, after its plan; undefined if the list came through a pipe. */
export function toRun(given = ownWords()): string | undefined {
  if (given.includes('-')) return undefined;
  const kept = without(given, {valued: [], plain: ['--json']});
  return commandOf(kept.map((word, at) => (at === 0 ? 'run' : word)));
}

/** Flags about the first run's own files and its list's format. `runAgain` drops them for its new list. */
const OWN = ['-o', '--output', '--summary', '--rejects', '--state', '--report', '--metrics', '--date'].concat(
  ['--skip-lines', '--limit', '--encoding'],
);
const OWN_SWITCHES = ['--force', '--restart', '--pad-short-rows'];

/** The user's command for another list (`list`), with the output beside that list. */
export function runAgain(
  {inputs, fromFile}: Job,
  list: string,
  given: CommandWords = process.argv.slice(3),
): string {
  const kept = without(given, {valued: OWN, plain: [...inputs, ...OWN_SWITCHES]});
  // The output in the job file already holds the rows of the first run, so the command names a new output.
  const output = fromFile ? ['-o', defaultOutput([list])] : [];
  return commandOf(['run', list, ...kept, ...output]);
}

interface LeftOut {
  /** Flags to leave out with their values. */
  readonly valued: CommandWords;
  /** Other words to leave out: flags without a value, and arguments. */
  readonly plain: CommandWords;
}

function without(given: CommandWords, {valued, plain}: LeftOut): string[] {
  return given.filter(
    (word, at) =>
      ![...valued, ...plain].includes(word.replace(/^(--[\w-]+)=.*/s, '$1')) &&
      !valued.includes(given[at - 1] ?? ''),
  );
}

/** A command line, quoted for a shell. */
function commandOf(words: CommandWords): string {
  return ['bulk-enrich', ...words].map(shellWord).join(' ');
}
