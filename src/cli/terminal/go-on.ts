import {exitCodes} from '../../errors.ts';
import {defaultOutput, type Job} from '../../job/job.ts';
import type {RunOutcome} from '../../run/run-outcome.ts';
import type {Counted, Stop} from '../../run/stop.ts';
import {shellWord} from './lines.ts';

/** What has to be done first, where the very same command would end the same way. */
const FIRST: Readonly<Record<number, string>> = {
  [exitCodes.credentials]: ', with a key that is accepted',
  [exitCodes.credits]: ', with credits in the account',
  [exitCodes.output]: ', once that is put right',
};

export interface GoOn {
  readonly command: string;
  /** What has to be done first, to follow "To go on". */
  readonly first: string;
}

/** The command that goes on where this run stopped; undefined where no command does, as the input or the settings are at fault. */
export function goOn(
  {output, date, settings}: Pick<Job, 'output' | 'date' | 'settings'>,
  {exitCode}: Pick<RunOutcome, 'exitCode'>,
  stop: Stop,
  given: readonly string[] = process.argv.slice(2),
): GoOn | undefined {
  if (!output.lasts || exitCode === exitCodes.usage) return undefined;
  const command = (limit?: Limit) => commandLine(given, date, limit);
  const own = {budget: 'maxCredits', max_errors: 'maxErrors', max_rejects: 'maxRejects'} as const;
  // A budget that comes back by itself is another's: the day's, or the account's.
  const name = stop.comeBackMs === undefined ? own[stop.reason as keyof typeof own] : undefined;
  const limit = name && raised(settings[name], stop.counted);
  if (name !== undefined && limit !== undefined)
    return {command: command({flag: flagOf[name], value: limit}), first: ''};
  if (exitCode === exitCodes.input || exitCode === exitCodes.state || exitCode === exitCodes.limit)
    return undefined;
  return {command: command(), first: stop.comeBackMs === undefined ? (FIRST[exitCode] ?? '') : ''};
}

const flagOf = {maxCredits: '--max-credits', maxErrors: '--max-errors', maxRejects: '--max-rejects'} as const;

/** Twice the limit that was reached, or twice what passed it, for somebody to think about. */
function raised(
  limit: number | {count: number} | {share: number} | undefined,
  {count, total}: Counted = {count: 0, total: 1},
): string | undefined {
  if (limit === undefined) return undefined;
  if (typeof limit === 'number') return String(Math.max(1, 2 * limit));
  if ('count' in limit) return String(Math.max(1, 2 * limit.count, 2 * count));
  return `${Math.min(100, Math.max(1, Math.round(200 * limit.share), Math.ceil((200 * count) / total)))}%`;
}

interface Limit {
  readonly flag: string;
  readonly value: string;
}

/** The very command that was given, quoted for a shell; a day that is not today's tomorrow is named. */
function commandLine(given: readonly string[], date: string | undefined, limit: Limit | undefined): string {
  const kept = given.filter(
    (word, at) =>
      !['--restart', '--fresh-budget'].includes(word) &&
      (limit === undefined ||
        !(word === limit.flag || word.startsWith(`${limit.flag}=`) || given[at - 1] === limit.flag)),
  );
  if (date !== undefined && !kept.includes('--date')) kept.push('--date', date);
  if (limit !== undefined) kept.push(limit.flag, limit.value);
  return ['bulk-enrich', ...kept.map(shellWord)].join(' ');
}

/** Flags with a value that say where the first run's files are, or how its list was written: the second has its own. */
const OWN = ['-o', '--output', '--summary', '--rejects', '--state', '--report', '--metrics', '--date'].concat(
  ['--skip-lines', '--limit', '--encoding'],
);
const OWN_SWITCHES = ['--force', '--restart', '--fresh-budget', '--pad-short-rows'];

/** The command that was given, over another list; the output goes beside that. */
export function runAgain(
  {inputs, fromFile}: Pick<Job, 'inputs' | 'fromFile'>,
  list: string,
  given: readonly string[] = process.argv.slice(3),
): string {
  const kept = given.filter(
    (word, at) =>
      ![...inputs, ...OWN, ...OWN_SWITCHES].includes(word) &&
      !OWN.some(flag => word.startsWith(`${flag}=`)) &&
      !OWN.includes(given[at - 1] ?? ''),
  );
  // A job file names an output, which has the other rows.
  const output = fromFile ? ['-o', defaultOutput([list], {})] : [];
  return ['bulk-enrich', 'run', list, ...kept, ...output].map(shellWord).join(' ');
}
