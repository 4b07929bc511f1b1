import {exitCodes, type Remedy} from '../../errors.ts';
import {defaultOutput, type Job} from '../../job/job.ts';
import type {RawSettings} from '../../job/parse.ts';
import type {Counted, Stop} from '../../run/exit.ts';
import {type Said, setting, settingsOfFlags, shellWord} from '../../sentence.ts';

/** A command line as the command understood it. */
export interface CommandLine {
  readonly command: string;
  readonly inputs: readonly string[];
  /** The flags by the names of their settings. Those that were not given are undefined or missing. */
  readonly flags: RawSettings;
}

function lineOf({command, inputs, flags}: CommandLine): string {
  const words = Object.entries(flags).flatMap(([name, values]) =>
    [values]
      .flat()
      .flatMap(value => (value === undefined ? [] : String(setting(name, value as string | boolean)))),
  );
  // A name that begins with a dash would be read as a flag.
  const paths = inputs.map(input => shellWord(/^-./.test(input) ? `./${input}` : input));
  return ['bulk-enrich', command, ...paths, ...words].join(' ');
}

/** The command with the settings that fix its fault; undefined if none are known. */
export function applyRemedy(line: CommandLine, {flags = [], pipe, isDoubtful}: Remedy): string | undefined {
  if (flags.length === 0 && pipe === undefined) return undefined;
  const added: Record<string, (string | boolean | undefined)[]> = {};
  for (const {name, value} of settingsOfFlags(flags)) added[name] = [...(added[name] ?? []), value];
  // With a pipe, the remedy names an output only because the run reads stdin: the user's own counts.
  if (pipe !== undefined && line.flags['output'] !== undefined) delete added['output'];
  const all: Record<string, unknown> = {...line.flags};
  for (const [name, values] of Object.entries(added)) {
    const before = all[name];
    all[name] = Array.isArray(before) ? [...(before as unknown[]), ...values] : values;
  }
  const inputs = line.inputs.map(input => (input === pipe?.input ? '-' : input));
  const {yes: _, ...planned} = all;
  const fixed = isDoubtful ? {command: 'plan', inputs, flags: planned} : {...line, inputs, flags: all};
  return `${pipe === undefined ? '' : `${pipe.command} ${shellWord(pipe.input)} | `}${lineOf(fixed)}`;
}

/** By exit code: the condition without which the same command would stop again. */
const CONDITIONS: Readonly<Record<number, string>> = {
  [exitCodes.credentials]: ', with a key that is accepted',
  [exitCodes.credits]: ', with credits in the account',
  [exitCodes.output]: ', once that is fixed',
};

/** Exit codes of faults that no command fixes. */
const FAULTS: readonly number[] = [exitCodes.input, exitCodes.state, exitCodes.limit];

/** The setting whose limit stopped a run, by the reason. */
const LIMITS = {budget: 'maxCredits', max_errors: 'maxErrors', max_rejects: 'maxRejects'} as const;

/**
 * The command that continues where this run stopped, and `first` the condition to meet, in words that follow "To
 * continue". Undefined if no command does: the output is a stream, or a fault of input, settings or state must be fixed
 * first. `need`: the credit limit that all rows need, if known.
 */
export function commandToContinue(
  line: CommandLine,
  {output, date, settings}: Pick<Job, 'output' | 'date' | 'settings'>,
  {exitCode, reason, comeBackMs, counted}: Stop<Said>,
  need?: number,
): {readonly command: string; readonly first: string} | undefined {
  if (!output.lasts || exitCode === exitCodes.usage) return undefined;
  // No flag raises the account's budget of a day or month, after which `comeBackMs` is set.
  const name = comeBackMs === undefined ? LIMITS[reason as keyof typeof LIMITS] : undefined;
  const limit = name && raiseLimit(settings[name], counted, need);
  if (name !== undefined && limit !== undefined)
    return {command: repeatCommand(line, date, {[name]: limit}), first: ''};
  if (FAULTS.includes(exitCode)) return undefined;
  const first = comeBackMs === undefined ? (CONDITIONS[exitCode] ?? '') : '';
  return {command: repeatCommand(line, date), first};
}

/** A higher limit: of credits `need`, if it is known; else twice the old limit, or twice the count that exceeded it. */
function raiseLimit(
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

/** The command once more, without --restart, and for the same `{date}`: the user may run it days later. */
function repeatCommand(line: CommandLine, date: string | undefined, more: RawSettings = {}): string {
  const {restart: _, ...flags} = line.flags;
  return lineOf({...line, flags: {...flags, date: flags['date'] ?? date, ...more}});
}

export function commandToRetry(line: CommandLine, date: Job['date']): string {
  return repeatCommand(line, date, {force: true});
}

/** The command of the run, after its plan; undefined if the list came through a pipe. */
export function commandToRun({inputs, flags}: CommandLine): string | undefined {
  return inputs.includes('-') ? undefined : lineOf({command: 'run', inputs, flags});
}

/** Settings of the first run's files and its list's format, which the command for another list lacks. */
const FILES_AND_FORMAT = [
  ...['output', 'summary', 'rejects', 'state', 'report', 'metrics', 'date', 'force', 'restart'],
  ...['skipLines', 'limit', 'encoding', 'padShortRows'],
];

/** The command for another list (`list`), with the output beside that list. */
export function commandForOtherList(
  {flags}: CommandLine,
  {fromFile}: Pick<Job, 'fromFile'>,
  list: string,
): string {
  const kept = Object.fromEntries(Object.entries(flags).filter(([name]) => !FILES_AND_FORMAT.includes(name)));
  // The output in the job file already holds the rows of the first run, so the command names a new output.
  const output = fromFile ? {output: defaultOutput([list])} : {};
  return lineOf({command: 'run', inputs: [list], flags: {...kept, ...output}});
}
